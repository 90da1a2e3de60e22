//! Who called whom, from the order in which instructions were executed.

use crate::machine::Flow;
use std::collections::BTreeMap;

/// An execution, as far as calls depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The instruction's address.
    pub at: u64,
    /// Where the CPU goes on.
    pub flow: Flow,
    /// Whether it is the kernel's.
    pub kernel: bool,
    /// Whether the CPU waits for the kernel's lock.
    pub waits: bool,
}

/// Where something was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stack {
    /// The addresses of the calls, the outermost first.
    pub calls: Vec<u64>,
    /// Its own.
    pub at: u64,
    /// Whether the CPU waited for the kernel's lock.
    pub waits: bool,
}

/// What a CPU is in, since it last entered the kernel or left it.
#[derive(Debug, Default)]
struct Visit {
    /// The calls that were seen to begin.
    calls: Vec<u64>,
    /// Places behind calls that had begun before: those returned to, the innermost first.
    below: Vec<u64>,
    /// How often what was executed, by how many calls from before had ended, and what of the stack
    /// was seen.
    counts: BTreeMap<(usize, Stack), u64>,
    last: Option<Step>,
}

impl Visit {
    fn executes(&mut self, step: Step, weight: u64) {
        match self.last {
            Some(Step { flow: Flow::Calls, at, .. }) => self.calls.push(at),
            Some(Step { flow: Flow::Returns, .. }) if self.calls.pop().is_none() => {
                self.below.push(step.at);
            }
            _ => {}
        }
        let stack = Stack { calls: self.calls.clone(), at: step.at, waits: step.waits };
        *self.counts.entry((self.below.len(), stack)).or_default() += weight;
        self.last = Some(step);
    }

    /// Whether a step is of another visit: what runs has changed by an entry, an exit or an
    /// interrupt.
    fn is_over(&self, step: Step) -> bool {
        self.last.is_some_and(|last| last.kernel != step.kernel || last.flow == Flow::Halts)
    }

    /// Adds its counts to those of others.
    fn end(self, stacks: &mut BTreeMap<Stack, u64>) {
        for ((ended, mut stack), weight) in self.counts {
            // The call is the instruction before the one that it returns to.
            let before = self.below[ended..].iter().rev().map(|place| place - 1);
            stack.calls.splice(..0, before);
            *stacks.entry(stack).or_default() += weight;
        }
    }
}

/// How much each stack has of what a CPU executed, by the weight of each execution.
pub fn stacks(steps: impl IntoIterator<Item = (Step, u64)>) -> BTreeMap<Stack, u64> {
    let mut visit = Visit::default();
    let mut stacks = BTreeMap::new();
    for (step, weight) in steps {
        if visit.is_over(step) {
            std::mem::take(&mut visit).end(&mut stacks);
        }
        visit.executes(step, weight);
    }
    visit.end(&mut stacks);
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stacks, each as one list of addresses.
    fn counted(steps: &[(u64, Flow)]) -> BTreeMap<Vec<u64>, u64> {
        let step = |&(at, flow)| (Step { at, flow, kernel: at >= 1000, waits: false }, 1);
        let found = stacks(steps.iter().map(step)).into_iter();
        found.map(|(stack, count)| ([stack.calls, vec![stack.at]].concat(), count)).collect()
    }

    #[test]
    fn a_call_is_on_the_stack_until_it_returns() {
        use Flow::*;
        let found = counted(&[(1000, On), (1001, Calls), (1100, On), (1101, Returns), (1002, On)]);
        let expected: [(Vec<u64>, u64); 5] = [
            (vec![1000], 1),
            (vec![1001], 1),
            (vec![1001, 1100], 1),
            (vec![1001, 1101], 1),
            (vec![1002], 1),
        ];
        assert_eq!(found, expected.into());
    }

    #[test]
    fn a_call_from_before_is_known_when_it_returns() {
        use Flow::*;
        let found = counted(&[(1200, Returns), (1105, Returns), (1010, On)]);
        let expected: [(Vec<u64>, u64); 3] =
            [(vec![1009, 1104, 1200], 1), (vec![1009, 1105], 1), (vec![1010], 1)];
        assert_eq!(found, expected.into());
    }

    #[test]
    fn nothing_reaches_over_an_entry_or_an_interrupt() {
        use Flow::*;
        let found = counted(&[(1001, Calls), (1100, Halts), (1300, On), (5, On), (1400, Returns)]);
        let expected: [(Vec<u64>, u64); 5] = [
            (vec![5], 1),
            (vec![1001], 1),
            (vec![1001, 1100], 1),
            (vec![1300], 1),
            (vec![1400], 1),
        ];
        assert_eq!(found, expected.into());
    }

    #[test]
    fn who_waits_has_stacks_of_its_own_and_weights_sum_up() {
        let step = |at, waits| Step { at, flow: Flow::On, kernel: true, waits };
        let found = stacks([(step(1, false), 2), (step(1, true), 3), (step(1, true), 4)]);
        let stack = |waits| Stack { calls: Vec::new(), at: 1, waits };
        assert_eq!(found, [(stack(false), 2), (stack(true), 7)].into());
    }
}
