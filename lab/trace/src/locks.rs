//! The kernel's lock: how long CPUs wait for it and hold it, and who has it after whom (S1-15).

use crate::overheads::table;
use crate::{Entry, Statistics, Trace};
use abi::trace::{Event, NO_CPU};
use std::collections::BTreeMap;

/// How one kind of entry uses the lock.
#[derive(Clone, Debug, PartialEq)]
pub struct LockUse {
    /// The kind of entry; `None`: a fast path that gave up, and the first decision of a CPU.
    pub entry: Option<Entry>,
    /// Times that the CPU had had the lock last.
    pub again: u64,
    /// Times that another CPU had had it.
    pub handed: u64,
    /// Counter steps from asking to having it, of those who waited.
    pub waits: Option<Statistics>,
    /// Counter steps from having to releasing it, without the writing of records.
    pub holds: Statistics,
}

/// Samples of one kind of entry.
#[derive(Default)]
struct Taken {
    again: u64,
    handed: u64,
    waits: Vec<u64>,
    holds: Vec<u64>,
}

/// The uses of the lock by kind of entry, in all traces of a run; none with one CPU.
pub fn locks(each: &[Trace]) -> Vec<LockUse> {
    let mut all: BTreeMap<Option<Entry>, Taken> = BTreeMap::new();
    for trace in each {
        let mut since = None;
        let mut entry = None;
        for (index, moment) in trace.moments.iter().enumerate() {
            match moment.event {
                Event::Lock => (since, entry) = (Some(index), None),
                Event::Enter => entry = Some(Entry::from_code(moment.argument)),
                Event::Unlock => {
                    let Some(first) = since.take() else { continue };
                    let taken = all.entry(entry.take()).or_default();
                    take(taken, trace, (first, index));
                }
                _ => {}
            }
        }
    }
    let uses = all.into_iter().filter_map(|(entry, taken)| {
        let (waits, holds) = (Statistics::of(&taken.waits), Statistics::of(&taken.holds)?);
        Some(LockUse { entry, again: taken.again, handed: taken.handed, waits, holds })
    });
    uses.collect()
}

fn take(taken: &mut Taken, trace: &Trace, (first, last): (usize, usize)) {
    let lock = &trace.moments[first];
    match lock.extra {
        NO_CPU => {}
        before if before == u16::from(trace.cpu) => taken.again += 1,
        _ => taken.handed += 1,
    }
    if lock.argument > 0 {
        taken.waits.push(lock.argument.into());
    }
    taken.holds.push(trace.net(first, last));
}

/// The uses as a table.
pub fn locks_table(uses: &[LockUse]) -> String {
    let header = [
        "lock taken for",
        "n",
        "again",
        "handed over",
        "waited",
        "median wait",
        "max wait",
        "median hold",
        "p99 hold",
        "max hold",
    ];
    let rows = uses.iter().map(|one| {
        let name = one.entry.map_or("nothing done".to_string(), |entry| entry.to_string());
        let waits = one.waits.as_ref();
        let wait = |figure: &dyn Fn(&Statistics) -> String| waits.map_or("-".to_string(), figure);
        vec![
            name,
            one.holds.n.to_string(),
            one.again.to_string(),
            one.handed.to_string(),
            waits.map_or(0, |waits| waits.n).to_string(),
            wait(&|waits| waits.median.to_string()),
            wait(&|waits| waits.max.to_string()),
            one.holds.median.to_string(),
            one.holds.p99.to_string(),
            one.holds.max.to_string(),
        ]
    });
    table(&header, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Maker;

    #[test]
    fn each_kind_of_entry_has_its_own() {
        let mut m = Maker::new();
        let mut section = |wait, last, code: Option<u32>, hold| {
            m.note(Event::Lock, 0, wait, last);
            code.map(|code| m.enter(1, code).pass(0));
            m.pass(hold).note(Event::Unlock, 0, 0, 0);
        };
        section(0, NO_CPU, Some(1), 100);
        section(7, 3, Some(1), 120);
        section(0, 0, Some(1), 140);
        section(0, 0, None, 30);
        let uses = locks(&[m.trace()]);
        let [nothing, calls] = &uses[..] else { panic!("{uses:?}") };
        assert_eq!((nothing.entry, nothing.again, nothing.holds.max), (None, 1, 30));
        assert_eq!(calls.entry, Some(Entry::Call(1)));
        assert_eq!((calls.again, calls.handed, calls.holds.n, calls.holds.max), (1, 1, 3, 140));
        assert_eq!(calls.waits.as_ref().map(|waits| (waits.n, waits.max)), Some((1, 7)));
        let text = locks_table(&uses);
        assert!(text.contains("nothing done") && text.contains("call"), "{text}");
    }
}
