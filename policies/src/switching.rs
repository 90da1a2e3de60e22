//! Who runs after a message, as decisions on priorities (S0-08, S0-24).
//!
//! The *candidate* is the thread that runs next unless the decision changes that. The *bound* is
//! never below the priority of a ready thread, the one that the decision is about included.

/// What becomes of a thread that is ready to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It waits in the ready queue.
    Queue,
    /// It runs at once, without a look at the ready queue.
    Run,
    /// The ready queue decides.
    Search,
}

/// A rule of switching: three decisions, each O(1) and without state.
pub trait Switching: 'static {
    /// Whether its decisions depend on the bound.
    const BOUNDED: bool;
    /// A thread of priority `ready` became ready; the candidate stays ready.
    fn wake(ready: i16, candidate: i16, bound: i16) -> Decision;
    /// As [`Switching::wake`], and the message says that the thread takes precedence.
    fn hand_over(ready: i16, candidate: i16, bound: i16) -> Decision;
    /// A thread of priority `ready` became ready, and the candidate has blocked.
    fn replace(ready: i16, bound: i16) -> Decision;
}

/// Direct process switch (S0-08): the message decides. A tie goes to the candidate.
pub struct Direct;

impl Switching for Direct {
    const BOUNDED: bool = false;

    #[inline(always)]
    fn wake(ready: i16, candidate: i16, _bound: i16) -> Decision {
        if ready > candidate { Decision::Run } else { Decision::Queue }
    }

    #[inline(always)]
    fn hand_over(_ready: i16, _candidate: i16, _bound: i16) -> Decision {
        Decision::Run
    }

    #[inline(always)]
    fn replace(_ready: i16, _bound: i16) -> Decision {
        Decision::Run
    }
}

/// Strict priorities (S0-24): no thread runs while a higher one is ready, whatever the message
/// says. The bound saves most searches.
pub struct Strict;

impl Switching for Strict {
    const BOUNDED: bool = true;

    #[inline(always)]
    fn wake(ready: i16, candidate: i16, bound: i16) -> Decision {
        if candidate >= bound { Decision::Queue } else { Self::replace(ready, bound) }
    }

    #[inline(always)]
    fn hand_over(ready: i16, candidate: i16, bound: i16) -> Decision {
        Self::wake(ready, candidate, bound)
    }

    #[inline(always)]
    fn replace(ready: i16, bound: i16) -> Decision {
        if ready >= bound { Decision::Run } else { Decision::Search }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A bound as the kernel keeps it, `above` what is needed.
    fn bound(ready: i16, others: i16, above: i16) -> i16 {
        ready.max(others) + above
    }

    proptest! {
        /// The plain model of strict priorities: the highest of all ready threads runs.
        #[test]
        fn a_strict_decision_never_passes_a_higher_thread(
            (ready, candidate, queued, above) in (0i16..256, -1i16..256, -1i16..256, 0i16..3)
        ) {
            let known = bound(ready, candidate.max(queued), above);
            for rule in [Strict::wake, Strict::hand_over] {
                match rule(ready, candidate, known) {
                    Decision::Queue => prop_assert!(candidate >= ready.max(queued)),
                    Decision::Run => prop_assert!(ready > candidate && ready >= queued),
                    Decision::Search => prop_assert!(known > candidate.max(ready)),
                }
            }
            match Strict::replace(ready, bound(ready, queued, above)) {
                Decision::Run => prop_assert!(ready >= queued),
                decision => prop_assert_eq!(decision, Decision::Search),
            }
        }

        /// The table of S0-08: who of two runs, and the candidate on a tie.
        #[test]
        fn a_direct_decision_looks_at_the_two_alone(
            (ready, candidate, known) in (0i16..256, -1i16..256, 0i16..256)
        ) {
            let wake = if ready > candidate { Decision::Run } else { Decision::Queue };
            prop_assert_eq!(Direct::wake(ready, candidate, known), wake);
            prop_assert_eq!(Direct::hand_over(ready, candidate, known), Decision::Run);
            prop_assert_eq!(Direct::replace(ready, known), Decision::Run);
        }
    }
}
