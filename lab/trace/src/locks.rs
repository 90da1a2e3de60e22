//! The kernel's lock: how long CPUs wait for it and hold it, which CPU has it after which (S1-15),
//! and which transactions in its place are undone (S1-10).

use crate::overheads::table;
use crate::{Entry, Statistics, Trace};
use abi::trace::{Event, Undone, Way};
use std::collections::BTreeMap;

/// How one kind of entry uses the lock in one way.
#[derive(Clone, Debug, PartialEq)]
pub struct LockUse {
    /// The kind of entry; `None`: a fast path that gave up, and the first decision of a CPU.
    pub entry: Option<Entry>,
    /// How its sections have the lock.
    pub way: Way,
    /// Times that the CPU had had the lock last; not known of readers and transactions.
    pub again: u64,
    /// Times that another CPU had had it.
    pub handed: u64,
    /// Counter steps from asking to having it, of those that waited.
    pub waits: Option<Statistics>,
    /// Counter steps from having to releasing it, without the writing of records.
    pub holds: Statistics,
    /// Attempts of these sections that were undone, by cause.
    pub undone: [u64; Undone::ALL.len()],
}

/// Samples of one kind of entry.
#[derive(Default)]
struct Taken {
    again: u64,
    handed: u64,
    waits: Vec<u64>,
    holds: Vec<u64>,
    undone: [u64; Undone::ALL.len()],
}

/// The uses of the lock by kind of entry and way, in all traces of a run; none with one CPU.
pub fn locks(each: &[Trace]) -> Vec<LockUse> {
    let mut all: BTreeMap<(Option<Entry>, Way), Taken> = BTreeMap::new();
    for trace in each {
        let mut since = None;
        let mut entry = None;
        let mut last = None;
        for (index, moment) in trace.moments.iter().enumerate() {
            match moment.event {
                Event::Lock => since = Some(index),
                Event::Enter => entry = Some(Entry::from_code(moment.argument).kind()),
                // Until then it may let go of the lock and have it in another way.
                Event::Exit => entry = None,
                Event::Unlock => {
                    let Some(first) = since.take() else { continue };
                    let (way, before) = Way::of(trace.moments[first].extra);
                    let kind = (entry, way);
                    take(all.entry(kind).or_default(), trace, (first, index), before);
                    last = Some(kind);
                }
                Event::Undone => {
                    let cause = Undone::ALL.iter().position(|one| *one as u16 == moment.extra);
                    let section = last.and_then(|last| all.get_mut(&last));
                    if let Some((taken, cause)) = section.zip(cause) {
                        taken.undone[cause] += u64::from(moment.argument);
                    }
                }
                _ => {}
            }
        }
    }
    let uses = all.into_iter().filter_map(|((entry, way), taken)| {
        let Taken { again, handed, undone, .. } = taken;
        let (waits, holds) = (Statistics::of(&taken.waits), Statistics::of(&taken.holds)?);
        Some(LockUse { entry, way, again, handed, waits, holds, undone })
    });
    uses.collect()
}

fn take(taken: &mut Taken, trace: &Trace, (first, last): (usize, usize), before: Option<u8>) {
    match before {
        None => {}
        Some(before) if before == trace.cpu => taken.again += 1,
        Some(_) => taken.handed += 1,
    }
    let waited = trace.moments[first].argument;
    if waited > 0 {
        taken.waits.push(waited.into());
    }
    taken.holds.push(trace.net(first, last));
}

/// The uses as two tables for a terminal of this width: how often, and how long.
pub fn locks_table(uses: &[LockUse], width: usize) -> String {
    let often = ["lock taken for", "as", "n", "again", "handed over", "waited", "undone before"];
    let long =
        ["lock held for", "as", "median wait", "max wait", "median hold", "p99 hold", "max hold"];
    let name =
        |one: &LockUse| one.entry.map_or("nothing done".to_string(), |entry| entry.to_string());
    let counts = uses.iter().map(|one| {
        vec![
            name(one),
            one.way.name().to_string(),
            one.holds.n.to_string(),
            one.again.to_string(),
            one.handed.to_string(),
            one.waits.as_ref().map_or(0, |waits| waits.n).to_string(),
            undone(&one.undone),
        ]
    });
    let times = uses.iter().map(|one| {
        let wait = |figure: &dyn Fn(&Statistics) -> String| {
            one.waits.as_ref().map_or("-".to_string(), figure)
        };
        vec![
            name(one),
            one.way.name().to_string(),
            wait(&|waits| waits.median.to_string()),
            wait(&|waits| waits.max.to_string()),
            one.holds.median.to_string(),
            one.holds.p99.to_string(),
            one.holds.max.to_string(),
        ]
    });
    table(&often, counts, width) + "\n" + &table(&long, times, width)
}

/// The causes that occurred, such as `conflict 3, capacity 1`.
fn undone(counts: &[u64; Undone::ALL.len()]) -> String {
    let causes = Undone::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
    let text: Vec<String> = causes.map(|(cause, n)| format!("{} {n}", cause.name())).collect();
    if text.is_empty() { "-".to_string() } else { text.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Maker;
    use abi::trace::entry;

    #[test]
    fn each_kind_of_entry_has_its_own() {
        let mut m = Maker::new();
        let mut section = |wait, (way, last): (Way, Option<u8>), code: Option<u32>, hold| {
            m.note(Event::Lock, 0, wait, way.extra(last));
            code.map(|code| m.enter(1, code).pass(0));
            m.pass(hold).note(Event::Unlock, 0, 0, 0).exit(1);
        };
        section(0, (Way::Alone, None), Some(1), 100);
        section(7, (Way::Alone, Some(3)), Some(1), 120);
        section(0, (Way::Alone, Some(0)), Some(1), 140);
        section(0, (Way::Alone, Some(0)), None, 30);
        section(0, (Way::Reader, None), Some(1), 80);
        let uses = locks(&[m.trace()]);
        let [nothing, calls, readers] = &uses[..] else { panic!("{uses:?}") };
        assert_eq!((nothing.entry, nothing.again, nothing.holds.max), (None, 1, 30));
        assert_eq!((calls.entry, calls.way), (Some(Entry::Call(1)), Way::Alone));
        assert_eq!((calls.again, calls.handed, calls.holds.n, calls.holds.max), (1, 1, 3, 140));
        assert_eq!(calls.waits.as_ref().map(|waits| (waits.n, waits.max)), Some((1, 7)));
        assert_eq!((readers.way, readers.again + readers.handed), (Way::Reader, 0));
        let text = locks_table(&uses, 80);
        assert!(text.contains("nothing done") && text.contains("reader"), "{text}");
    }

    #[test]
    fn an_entry_may_have_the_lock_twice() {
        let mut m = Maker::new();
        m.note(Event::Lock, 0, 0, Way::Reader.extra(None)).enter(1, entry::TIMER);
        m.note(Event::Unlock, 0, 0, 0).note(Event::Lock, 0, 0, Way::Alone.extra(None));
        m.pass(70).note(Event::Unlock, 0, 0, 0).exit(1);
        m.note(Event::Lock, 0, 0, Way::Reader.extra(None)).note(Event::Unlock, 0, 0, 0);
        let uses = locks(&[m.trace()]);
        let what: Vec<_> = uses.iter().map(|one| (one.entry, one.way, one.holds.n)).collect();
        let timer = Some(Entry::Timer);
        let wanted = [(None, Way::Reader), (timer, Way::Alone), (timer, Way::Reader)];
        assert_eq!(what, wanted.map(|(entry, way)| (entry, way, 1)));
    }

    #[test]
    fn attempts_count_for_the_section_before_them() {
        let mut m = Maker::new();
        let mut section = |way: Way, undone: &[(Undone, u32)]| {
            m.note(Event::Lock, 0, 0, way.extra(None)).enter(1, 1).pass(50);
            m.note(Event::Unlock, 0, 0, 0);
            undone.iter().for_each(|(cause, times)| {
                m.note(Event::Undone, 0, *times, *cause as u16);
            });
        };
        section(Way::Transaction, &[]);
        section(Way::FallBack, &[(Undone::Conflict, 5), (Undone::Capacity, 3)]);
        section(Way::Transaction, &[(Undone::LockHeld, 1)]);
        let uses = locks(&[m.trace()]);
        let [transactions, fall_backs] = &uses[..] else { panic!("{uses:?}") };
        assert_eq!((transactions.way, transactions.undone), (Way::Transaction, [0, 0, 1, 0, 0]));
        assert_eq!((fall_backs.way, fall_backs.undone), (Way::FallBack, [5, 3, 0, 0, 0]));
        let text = locks_table(&uses, 80);
        assert!(text.contains("conflict 5, capacity 3"), "{text}");
    }
}
