//! Wake-ups of made-up traces. A step is a nanosecond, and a record takes 10.

use super::*;
use crate::testing::Maker;
use abi::trace::{Keep, entry};

fn found(m: &Maker) -> Vec<Undisturbed> {
    highest(&Traces::decode(&m.bytes(Keep::First, 64)).unwrap(), &|_, priority| priority)
}

/// Thread 2, above thread 1, waits for its instant; the interrupt comes, and `late` steps behind
/// the instant the kernel serves it.
fn woken(late: u32) -> Maker {
    let mut m = Maker::new();
    m.thread(1, 1, 100).thread(2, 2, 200).note(Event::Switch, 2, 0, 200).exit(2).pass(50);
    m.enter(2, 0).note(Event::Block, 2, 0, 4).switch(1, 2, 100).exit(1).pass(100);
    m.enter(1, entry::TIMER).pass(40).note(Event::Expire, 2, late, 0);
    m
}

/// It goes to the thread.
fn goes(m: &mut Maker) -> &mut Maker {
    m.note(Event::Wake, 2, 0, 0).switch(2, 1, 200).exit(2).pass(90)
}

#[test]
fn what_records_took_is_no_part_of_a_wake_up() {
    let mut m = woken(30);
    goes(&mut m);
    let [woken] = found(&m)[..] else { panic!("one") };
    // From the instant 30 to the record, then 10 each of three records and 50 of the switch.
    assert_eq!(woken.wake_up.latency(), 30 + 3 * 10 + 50);
    assert_eq!(woken.steps, 30 + 50);
    // The interrupt's own record came before, then 40 steps.
    assert_eq!(woken.path, Some(40 + 50));
}

#[test]
fn a_record_under_way_at_the_instant_counts_in_part() {
    // The instant is 45 steps before, 5 steps into the record of the entry.
    let mut m = woken(45);
    goes(&mut m);
    let [woken] = found(&m)[..] else { panic!("one") };
    assert_eq!(woken.steps, 45 - 5 + 50);
}

#[test]
fn the_path_begins_behind_a_preemption_point() {
    let mut m = Maker::new();
    m.thread(1, 1, 100).thread(2, 2, 200).note(Event::Switch, 2, 0, 200).exit(2).pass(50);
    m.enter(2, 0).note(Event::Block, 2, 0, 4).switch(1, 2, 100).exit(1).pass(100);
    m.enter(1, entry::TIMER).pass(400).note(Event::Preempt, 1, 0, 0).pass(20);
    m.note(Event::Expire, 2, 7, 0);
    goes(&mut m);
    assert_eq!(found(&m)[0].path, Some(20 + 50));
    // Where a further deadline is served, what comes behind is not the thread's own.
    let mut more = woken(30);
    more.pass(500).note(Event::Expire, 3, 0, 0);
    goes(&mut more);
    assert_eq!(found(&more)[0].path, None);
}

#[test]
fn lower_threads_and_those_beside_equals_are_left_out() {
    // Thread 3 is above thread 2 elsewhere in the run.
    let mut lower = woken(30);
    goes(&mut lower).enter(2, 4).switch(3, 2, 201).exit(3);
    assert_eq!(found(&lower), []);
    // Thread 1 runs at the instant, as urgent as thread 2.
    let mut equal = woken(30);
    goes(&mut equal);
    let as_urgent = highest(&Traces::decode(&equal.bytes(Keep::First, 64)).unwrap(), &|_, _| 7);
    assert_eq!(as_urgent, []);
}
