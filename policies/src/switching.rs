//! Who runs after a message, as decisions on priorities (S0-08, S0-24).
//!
//! The *candidate* is the thread that runs next unless the decision changes that. The *bound* is
//! never below the priority of a ready thread, the one that the decision is about included, for a
//! rule that depends on it.

/// A rule of switching: decisions in O(1), without state. A thread that does not run at once is
/// queued, and so is a candidate that does not go on; if neither goes on, the ready queue decides.
pub trait Switching: 'static {
    /// Whether its decisions depend on the bound.
    const BOUNDED: bool;
    /// Whether the candidate goes on when a thread of priority `ready` becomes ready.
    fn goes_on(candidate: i16, ready: i16, bound: i16) -> bool;
    /// The same, when the message says that the thread takes precedence.
    fn goes_on_at_hand_over(candidate: i16, bound: i16) -> bool;
    /// Whether a thread of priority `ready` runs at once in the place of the candidate, which does
    /// not go on.
    fn runs_at_once(ready: i16, bound: i16) -> bool;
}

/// Direct process switch (S0-08): the message decides. A tie goes to the candidate.
pub struct Direct;

impl Switching for Direct {
    const BOUNDED: bool = false;

    #[inline(always)]
    fn goes_on(candidate: i16, ready: i16, _bound: i16) -> bool {
        candidate >= ready
    }

    #[inline(always)]
    fn goes_on_at_hand_over(_candidate: i16, _bound: i16) -> bool {
        false
    }

    #[inline(always)]
    fn runs_at_once(_ready: i16, _bound: i16) -> bool {
        true
    }
}

/// Strict priorities (S0-24): no thread runs while a higher one is ready, whatever the message
/// says. The bound saves most searches.
pub struct Strict;

impl Switching for Strict {
    const BOUNDED: bool = true;

    #[inline(always)]
    fn goes_on(candidate: i16, _ready: i16, bound: i16) -> bool {
        candidate >= bound
    }

    #[inline(always)]
    fn goes_on_at_hand_over(candidate: i16, bound: i16) -> bool {
        candidate >= bound
    }

    #[inline(always)]
    fn runs_at_once(ready: i16, bound: i16) -> bool {
        ready >= bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The plain model of strict priorities: the highest of all ready threads runs.
        #[test]
        fn a_strict_decision_never_passes_a_higher_thread(
            (ready, candidate, queued, above) in (0i16..256, -1i16..256, -1i16..256, 0i16..3)
        ) {
            let bound = ready.max(candidate).max(queued) + above;
            let goes_on = Strict::goes_on(candidate, ready, bound);
            prop_assert_eq!(goes_on, Strict::goes_on_at_hand_over(candidate, bound));
            prop_assert!(!goes_on || candidate >= ready.max(queued));
            let runs = !goes_on && Strict::runs_at_once(ready, bound);
            prop_assert!(!runs || (ready > candidate && ready >= queued));
            // A tight bound leaves a search to other threads alone.
            prop_assert!(goes_on || runs || above > 0 || queued > ready.max(candidate));
        }

        /// The table of S0-08: which of two runs, and the candidate on a tie.
        #[test]
        fn a_direct_decision_looks_at_the_two_alone(
            (ready, candidate, bound) in (0i16..256, -1i16..256, 0i16..256)
        ) {
            prop_assert_eq!(Direct::goes_on(candidate, ready, bound), candidate >= ready);
            prop_assert!(!Direct::goes_on_at_hand_over(candidate, bound));
            prop_assert!(Direct::runs_at_once(ready, bound));
        }
    }
}
