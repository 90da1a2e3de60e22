use super::*;
use crate::Entry;
use crate::testing::{Maker, START, conversation};
use abi::trace::Event;
use abi::trace::{Keep, PAGE_RECORDS, entry};
use expect_test::expect;

fn samples(trace: &Trace, kind: Kind) -> (Vec<u64>, u64) {
    let found = overheads(trace);
    let overhead = found.of(kind).unwrap();
    (overhead.samples.clone(), overhead.dropped)
}

#[test]
fn a_conversation_in_tables() {
    let trace = conversation().trace();
    expect![[r#"
        counter steps at 1000000000 Hz, less 10 for a record in between, 24 more if it
        fills a page
        overhead                  n dropped min  q1 median  mean  q3 p99 max
        scheduling                4       0   0   0      0 198.0 395 790 790
        context switch           17       0  50  50     50  50.0  50  50  50
        release                   1       0 180 180    180 180.0 180 180 180
        tick                      1       0  60  60     60  60.0  60  60  60
        system call in       absent       0
        system call out      absent       0
        cross-CPU interrupt  absent       0
    "#]]
    .assert_eq(&overheads(&trace).table(80));
    expect![[r#"
        entry       n min  q1 median  mean  q3 p99 max max at (ns)
        ipc         3 130 135    140 353.0 465 790 790       10410
        timer       2 100 100    190 190.0 280 280 280        9340
        call        6 110 110    110 110.0 110 110 110        1490
        reply-wait  6 110 110    110 110.0 110 110 110        2270
        IRQ 4       1  90  90     90  90.0  90  90  90       12210
        fault       1  50  50     50  50.0  50  50  50       13230
        observe     1   0   0      0   0.0   0   0   0       10180
    "#]]
    .assert_eq(&kernel_times_table(&kernel_times(&trace), 80));
}

/// A trace that so many records begin.
fn after(records: usize) -> Maker {
    let mut m = Maker::new();
    (0..records).for_each(|_| {
        m.note(Event::Mark, 1, 0, 0);
    });
    m
}

/// A tick that wakes a thread: its records, and the overheads in it.
fn tick(m: &mut Maker) {
    m.pass(100).enter(1, entry::TIMER).pass(40).note(Event::Tick, 1, 0, 0).pass(30);
    m.note(Event::Wake, 2, 0, 0).pass(25).note(Event::Insert, 2, 0, 1).pass(15);
    m.note(Event::LookUp, 2, 0, 0).pass(7).switch(2, 1, 9).exit(2);
}

fn has_the_overheads_of_a_tick(trace: &Trace) {
    assert_eq!(samples(trace, Kind::Release), (vec![70], 0));
    assert_eq!(samples(trace, Kind::Scheduling), (vec![47], 0));
    assert_eq!(samples(trace, Kind::ContextSwitch), (vec![50], 0));
    assert_eq!(samples(trace, Kind::Tick), (vec![127], 0));
    assert_eq!(samples(trace, Kind::CrossCpu), (vec![], 0));
    let times = kernel_times(trace);
    assert_eq!((times[0].entry, times[0].statistics.max), (Entry::Timer, 167));
}

#[test]
fn pairs_inside_a_section_are_free_of_records() {
    let mut m = Maker::new();
    tick(&mut m);
    has_the_overheads_of_a_tick(&m.trace());
}

#[test]
fn where_a_page_ends_is_in_no_overhead() {
    for before in PAGE_RECORDS - 8..PAGE_RECORDS {
        let mut m = after(before);
        tick(&mut m);
        has_the_overheads_of_a_tick(&m.trace());
        let last = m.bytes(Keep::Last, PAGE_RECORDS);
        has_the_overheads_of_a_tick(&Trace::decode(&last).unwrap());
        let trace = reads_after(before, false);
        assert_eq!(samples(&trace, Kind::CallOut), (vec![15], 0), "{before}");
    }
}

#[test]
fn a_preemption_point_ends_a_non_preemptible_section() {
    let mut m = Maker::new();
    m.enter(1, 7).pass(70).note(Event::Preempt, 1, 2, 0).pass(40).note(Event::Mark, 1, 0, 0);
    m.pass(90).note(Event::Preempt, 1, 2, 1).pass(30).exit(1);
    m.enter(1, 7).pass(200).exit(1).enter(1, entry::TIMER).pass(5).exit(1);
    let trace = m.trace();
    let parts = unpolled(&trace).into_iter().map(|(section, part)| (section.entry, part.steps));
    let parts: Vec<_> = parts.collect();
    assert_eq!(parts, [(Entry::Call(7), 130), (Entry::Call(7), 200), (Entry::Timer, 5)]);
    let times = kernel_times(&trace);
    let calls = times.iter().find(|time| time.entry == Entry::Call(7)).unwrap();
    assert_eq!((calls.statistics.min, calls.statistics.max), (130, 200));
}

/// A program reads the counter, is perhaps interrupted, and calls the kernel with the reading.
fn reads_before(interrupted: bool) -> Trace {
    let mut m = Maker::new();
    m.enter(1, 5).exit(1).pass(200);
    let reading = (START + m.now) as u32;
    m.pass(20);
    if interrupted {
        m.enter(1, entry::TIMER).pass(100).exit(1).pass(3);
    }
    m.enter(1, 60).pass(30).note(Event::UserBefore, 1, reading, 0).exit(1);
    m.trace()
}

#[test]
fn an_interrupt_taints_the_way_in() {
    assert_eq!(samples(&reads_before(false), Kind::CallIn), (vec![20], 0));
    assert_eq!(samples(&reads_before(true), Kind::CallIn), (vec![], 1));
}

/// A program reads the counter after a call, perhaps after an interrupt, and hands it in; so many
/// records are before that.
fn reads_after(records: usize, interrupted: bool) -> Trace {
    let mut m = after(records);
    m.enter(1, 5).pass(60).exit(1).pass(15);
    if interrupted {
        m.enter(1, entry::IRQ_0 + 1).pass(100).exit(1).pass(3);
    }
    let reading = (START + m.now) as u32;
    m.pass(44).enter(1, 60).pass(30).note(Event::UserAfter, 1, reading, 0).exit(1);
    m.trace()
}

#[test]
fn an_interrupt_taints_the_way_out() {
    assert_eq!(samples(&reads_after(0, false), Kind::CallOut), (vec![15], 0));
    assert_eq!(samples(&reads_after(0, true), Kind::CallOut), (vec![], 1));
}

#[test]
fn lost_records_taint_what_they_touch() {
    let m = conversation();
    for capacity in 0..m.records.len() {
        for keep in [Keep::First, Keep::Last] {
            let trace = Trace::decode(&m.bytes(keep, capacity)).unwrap();
            let whole = overheads(&m.trace());
            for overhead in overheads(&trace).all {
                let all = &whole.of(overhead.kind).unwrap().samples;
                let (n, found) = (all.len(), overhead.samples.len());
                let expected = match keep {
                    Keep::First => &all[..found],
                    Keep::Last => &all[n - found..],
                };
                assert_eq!(overhead.samples, expected, "{} {capacity} {keep:?}", overhead.kind);
            }
        }
    }
}

#[test]
fn a_stop_of_the_trace_is_no_long_section() {
    let mut m = Maker::new();
    m.enter(1, 60).pass(100_000).exit(1).pass(10).enter(1, 5).pass(20).exit(1);
    let times = kernel_times(&m.trace());
    assert_eq!(times.iter().map(|time| time.statistics.max).collect::<Vec<_>>(), [20]);
    assert_eq!(Sections::of(&m.trace()).stopped, 1);
}
