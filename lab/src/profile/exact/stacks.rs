//! Who called whom, from the order in which instructions were executed.

use crate::machine::Flow;
use std::collections::BTreeMap;

/// An execution, as far as calls depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The CPU.
    pub cpu: u8,
    /// The instruction's address.
    pub at: u64,
    /// Where the CPU goes on.
    pub flow: Flow,
    /// Whether it is the kernel's.
    pub kernel: bool,
}

/// The addresses of an execution's calls, the outermost first, and its own behind them.
pub type Stack = Vec<u64>;

/// What one CPU is in, since it last entered the kernel or left it.
#[derive(Debug, Default)]
struct Visit {
    /// The calls that were seen to begin.
    calls: Vec<u64>,
    /// Places behind calls that had begun before: those returned to, the innermost first.
    below: Vec<u64>,
    /// How often what was executed, by the calls from before that had ended, those that were seen,
    /// and the address.
    counts: BTreeMap<(usize, Vec<u64>, u64), u64>,
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
        let key = (self.below.len(), self.calls.clone(), step.at);
        *self.counts.entry(key).or_default() += weight;
        self.last = Some(step);
    }

    /// Whether a step is of another visit: what runs has changed by an entry, an exit or an
    /// interrupt.
    fn is_over(&self, step: Step) -> bool {
        self.last.is_some_and(|last| last.kernel != step.kernel || last.flow == Flow::Halts)
    }

    /// Adds its counts to those of others.
    fn end(self, stacks: &mut BTreeMap<Stack, u64>) {
        for ((ended, calls, at), weight) in self.counts {
            // The call is the instruction before the one that it returns to.
            let before = self.below[ended..].iter().rev().map(|place| place - 1);
            *stacks.entry(before.chain(calls).chain([at]).collect()).or_default() += weight;
        }
    }
}

/// How much each stack has of what was executed, by the weight of each execution.
pub fn stacks(steps: impl IntoIterator<Item = (Step, u64)>) -> BTreeMap<Stack, u64> {
    let mut visits: BTreeMap<u8, Visit> = BTreeMap::new();
    let mut stacks = BTreeMap::new();
    for (step, weight) in steps {
        let visit = visits.entry(step.cpu).or_default();
        if visit.is_over(step) {
            std::mem::take(visit).end(&mut stacks);
        }
        visit.executes(step, weight);
    }
    visits.into_values().for_each(|visit| visit.end(&mut stacks));
    stacks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(steps: &[(u64, Flow)]) -> BTreeMap<Stack, u64> {
        let step = |&(at, flow)| (Step { cpu: 0, at, flow, kernel: at >= 1000 }, 1);
        stacks(steps.iter().map(step))
    }

    #[test]
    fn a_call_is_on_the_stack_until_it_returns() {
        use Flow::*;
        let found = counted(&[(1000, On), (1001, Calls), (1100, On), (1101, Returns), (1002, On)]);
        let expected: [(Stack, u64); 5] = [
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
        let expected: [(Stack, u64); 3] =
            [(vec![1009, 1104, 1200], 1), (vec![1009, 1105], 1), (vec![1010], 1)];
        assert_eq!(found, expected.into());
    }

    #[test]
    fn nothing_reaches_over_an_entry_or_an_interrupt() {
        use Flow::*;
        let found = counted(&[(1001, Calls), (1100, Halts), (1300, On), (5, On), (1400, Returns)]);
        let expected: [(Stack, u64); 5] = [
            (vec![5], 1),
            (vec![1001], 1),
            (vec![1001, 1100], 1),
            (vec![1300], 1),
            (vec![1400], 1),
        ];
        assert_eq!(found, expected.into());
    }

    #[test]
    fn cpus_are_told_apart_and_weights_sum_up() {
        let step = |cpu, at| Step { cpu, at, flow: Flow::Calls, kernel: true };
        let found = stacks([(step(0, 1), 2), (step(1, 5), 3), (step(0, 7), 4), (step(1, 5), 5)]);
        let expected: [(Stack, u64); 4] =
            [(vec![1], 2), (vec![1, 7], 4), (vec![5], 3), (vec![5, 5], 5)];
        assert_eq!(found, expected.into());
    }
}
