//! A robot's three threads and a mutex: who waits for whom, in all that shows it.

use super::*;
use crate::testing::{CONTROL, LOGGER, Maker, PLANNER, WAIT, bus, inversion};
use crate::{Sample, View, blame, timeline};
use expect_test::expect;

const WAKE: u32 = 65;

fn names() -> Names {
    Names::of(["robot"])
}

fn place(trace: &Trace, event: Event, thread: u16) -> usize {
    let is_it = |moment: &Moment| (moment.event, moment.thread) == (event, thread);
    trace.moments.iter().rposition(is_it).expect("it is there")
}

#[test]
fn a_wait_knows_its_holder_its_lender_and_its_end() {
    let trace = inversion().trace();
    let lives = Lives::of(&trace, &names());
    let waits = Waits::of(&trace, &lives);
    let begun = place(&trace, Event::Wait, CONTROL);
    let wait = waits.at(CONTROL, begun).expect("it waits");
    assert_eq!((&wait.on[..], wait.ended_by), (&[LOGGER][..], Some(LOGGER)));
    assert_eq!(wait.last, Some(place(&trace, Event::Wake, CONTROL)));
    let raised = trace.moments.iter().position(|moment| moment.event == Event::Priority);
    let raised = raised.expect("it is there");
    let lender = |moment| waits.lender(&lives, LOGGER, moment).map(|wait| wait.thread);
    assert_eq!(lender(begun), None);
    assert_eq!(lender(raised), Some(CONTROL));
    assert_eq!(lender(place(&trace, Event::Priority, LOGGER)), None, "its own again");
    assert!(waits.at(CONTROL, wait.last.unwrap()).is_none());
    assert!(waits.at(PLANNER, raised).is_none());
}

#[test]
fn a_hand_over_lets_others_wait_for_the_heir() {
    let mut m = Maker::new();
    m.thread(CONTROL, 1, 100).thread(PLANNER, 1, 80).thread(LOGGER, 1, 60).thread(4, 2, 70);
    m.note(Event::Switch, LOGGER, 0, 60).exit(LOGGER);
    for (thread, on) in [(CONTROL, LOGGER), (PLANNER, LOGGER), (4, 7)] {
        m.enter(thread, WAIT).note(Event::Wait, thread, bus(), on);
        m.note(Event::Block, thread, 0, 6).switch(LOGGER, thread, 60).exit(LOGGER);
    }
    m.enter(LOGGER, WAKE).note(Event::Wake, CONTROL, 0, 0).exit(LOGGER);
    let trace = m.trace();
    let lives = Lives::of(&trace, &names());
    let waits = Waits::of(&trace, &lives);
    let end = trace.moments.len() - 1;
    let on = |thread| waits.at(thread, end).map(|wait| (wait.on.clone(), wait.goes_on));
    assert_eq!(on(PLANNER), Some((vec![CONTROL], true)));
    assert_eq!(on(4), Some((vec![7], false)), "the mutex of another domain");
    assert_eq!(on(CONTROL), None);
}

#[test]
fn a_deadline_that_passes_hands_nothing_over() {
    let mut m = inversion();
    let before = m.records.len();
    m.enter(PLANNER, WAIT).note(Event::Wait, PLANNER, bus(), CONTROL);
    m.note(Event::Block, PLANNER, 0, 6).switch(LOGGER, PLANNER, 60).exit(LOGGER);
    m.timer_wakes(LOGGER, PLANNER, 80);
    let trace = m.trace();
    let waits = Waits::of(&trace, &Lives::of(&trace, &names()));
    let woken = place(&trace, Event::Wake, PLANNER);
    let ended = waits.ends(PLANNER, woken).expect("it ends");
    assert!(woken > before && ended.ended_by.is_none());
}

#[test]
fn chains_and_calls_are_told_in_words() {
    let mut m = Maker::new();
    m.thread(CONTROL, 1, 100).thread(PLANNER, 1, 80).thread(LOGGER, 1, 60);
    m.note(Event::Switch, PLANNER, 0, 80).exit(PLANNER);
    m.call(PLANNER, LOGGER, 60).enter(CONTROL, WAIT);
    m.note(Event::Wait, CONTROL, bus(), PLANNER).note(Event::Block, CONTROL, 0, 6).exit(LOGGER);
    let trace = m.trace();
    let lives = Lives::of(&trace, &names());
    let waits = Waits::of(&trace, &lives);
    let end = trace.moments.len() - 1;
    let words = waits.words(&lives, &names(), CONTROL, end).expect("it waits");
    expect!["mutex 0x80000040 held by robot/2, which waits for an answer of robot/3"]
        .assert_eq(&words);
}

#[test]
fn the_timeline_says_who_waits_and_whose_priority_runs() {
    let view = View { width: 90, ..View::default() };
    let text = timeline(&inversion().trace(), &names(), &view);
    expect![[r#"
        fastpath on CPU 0, 0 ns to 2850 ns since boot; a column is 37.0 ns
                     |+0 ns              |+740 ns            |+1480 ns           |+2220 ns
        CPU 0        -----kKK-KKK----------kKKKKKKKKK--kKKk-------kKK------------------kKKk----kKK
        robot/1 100  ===+##......................==#####+wwwwwwwwwwwwwwwwwwwwwwwwwwwwwww+#######+.
        robot/2 80   ======####.....................................============================##
        robot/3 60   ==========####################=====+################################=========
        CPU: K kernel, at least half of the column, k less; - a thread runs; . idle
        threads: # running, at least half of the column, + less; = ready;
                 . receiving, c calling, s sending, w waiting for a mutex or condition,
                 z suspended, b blocked otherwise
                950 ns  a deadline of robot/1 passes
               1290 ns  robot/1 waits for mutex 0x80000040 held by robot/3
               1300 ns  robot/3 runs with the priority of robot/1, 100
               1740 ns  a deadline of robot/2 passes
               2480 ns  robot/3 has priority 60
               2490 ns  robot/3 ends the wait of robot/1 for mutex 0x80000040
    "#]]
    .assert_eq(&text);
}

#[test]
fn blame_names_the_one_with_another_ones_priority() {
    let trace = inversion().trace();
    let ran = trace.moments.last().unwrap().ns;
    let expired = &trace.moments[place(&trace, Event::Expire, PLANNER)];
    let sample = Sample { programmed: expired.ns - 30, ran, thread: PLANNER };
    expect![[r#"
        robot/2 ran 1140 ns after the instant of its timer:
        robot/3 ran with the priority of robot/1, 100, which waits for its mutex 0x80000040 (800 ns)
               +0 to      50 ns   4.4 %  kernel: timer interrupt and switch
              +50 to     850 ns  70.2 %  robot/3 ran with the priority of robot/1, 100,
                                         which waits for its mutex 0x80000040
             +850 to    1140 ns  25.4 %  higher thread robot/1 ran, of priority 100
    "#]]
    .assert_eq(&blame(&trace, &names(), &sample).to_string());
}

#[test]
fn blame_names_the_lock_and_its_holder() {
    let trace = inversion().trace();
    let expired = &trace.moments[place(&trace, Event::Expire, CONTROL)];
    let woken = &trace.moments[place(&trace, Event::Wake, CONTROL)];
    let sample = Sample { programmed: expired.ns - 30, ran: woken.ns + 70, thread: CONTROL };
    expect![[r#"
        robot/1 ran 1640 ns after the instant of its timer:
        waited for mutex 0x80000040 held by robot/3 (1110 ns)
               +0 to     460 ns  28.0 %  kernel: timer interrupt and switch
             +460 to     770 ns  18.9 %  waited for mutex 0x80000040 held by robot/3
             +770 to     840 ns   4.3 %  interrupts off in timer of robot/3
             +840 to    1640 ns  48.8 %  waited for mutex 0x80000040 held by robot/3
    "#]]
    .assert_eq(&blame(&trace, &names(), &sample).to_string());
}

#[test]
fn the_longest_waits_are_told_with_their_holders() {
    let told = longest_waits(&inversion().trace(), &names());
    let text: String = told.iter().map(|wait| format!("{wait}\n")).collect();
    expect![[r#"
        robot/1 waited 1200 ns for mutex 0x80000040 held by robot/3 (once, this from 1290 ns on)
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_wait_that_is_handed_on_is_one() {
    let mut m = Maker::new();
    m.thread(CONTROL, 1, 100).thread(PLANNER, 1, 80).thread(LOGGER, 1, 60);
    m.note(Event::Switch, LOGGER, 0, 60).exit(LOGGER);
    for thread in [CONTROL, PLANNER] {
        m.enter(thread, WAIT).note(Event::Wait, thread, bus(), LOGGER);
        m.note(Event::Block, thread, 0, 6).switch(LOGGER, thread, 60).exit(LOGGER);
    }
    m.enter(LOGGER, WAKE).note(Event::Wake, CONTROL, 0, 0).exit(LOGGER).pass(500);
    m.enter(CONTROL, WAKE).note(Event::Wake, PLANNER, 0, 0).exit(CONTROL);
    let trace = m.trace();
    let told = longest_waits(&trace, &names());
    let [longest, other] = &told[..] else { panic!("two threads waited") };
    assert_eq!((longest.thread.as_str(), longest.times), ("robot/2", 1));
    let woken = trace.moments[place(&trace, Event::Wake, PLANNER)].ns;
    assert_eq!(longest.from + longest.longest, woken);
    assert_eq!((other.thread.as_str(), other.times), ("robot/1", 1));
}

/// A server takes messages that have waited at its endpoint, one after the other: of a caller and
/// of a thread that only sends.
#[test]
fn a_queued_sender_waits_for_the_thread_that_takes_its_message() {
    let (sending, endpoint) = (ThreadState::Sending as u16, 9);
    let mut m = Maker::new();
    m.thread(CONTROL, 1, 100).thread(PLANNER, 1, 80).thread(LOGGER, 1, 60);
    m.note(Event::Switch, CONTROL, 0, 80).exit(CONTROL);
    for (thread, call) in [(CONTROL, Call::Call), (PLANNER, Call::Ipc)] {
        m.enter(thread, call as u32).note(Event::Queue, thread, endpoint, 1);
        m.note(Event::Block, thread, 0, sending).switch(LOGGER, thread, 60).exit(LOGGER);
    }
    for thread in [CONTROL, PLANNER] {
        m.enter(LOGGER, Call::Ipc as u32).note(Event::Message, thread, LOGGER.into(), 1);
        if thread == PLANNER {
            m.note(Event::Wake, thread, 0, 0);
        }
        m.exit(LOGGER);
    }
    let trace = m.trace();
    let lives = Lives::of(&trace, &names());
    let waits = Waits::of(&trace, &lives);
    let words = |thread, event| waits.words(&lives, &names(), thread, place(&trace, event, thread));
    let turn = "its turn at endpoint 9 of robot/3";
    assert_eq!(words(CONTROL, Event::Block).as_deref(), Some(turn));
    assert_eq!(words(PLANNER, Event::Block).as_deref(), Some(turn));
    let answer = "an answer of robot/3";
    assert_eq!(words(CONTROL, Event::Message).as_deref(), Some(answer));
    assert_eq!(words(PLANNER, Event::Message), None, "it wants no answer");
}

/// The one stack of a train goes from thread to thread.
#[test]
fn a_stack_is_held_by_the_thread_that_has_given_it() {
    let (enters, leaves) = (Call::TrainCall as u32, Call::TrainReturn as u32);
    let mut m = Maker::new();
    m.thread(CONTROL, 1, 100).thread(PLANNER, 1, 80).thread(LOGGER, 1, 60);
    m.note(Event::Switch, CONTROL, 0, 100).exit(CONTROL);
    m.enter(CONTROL, enters)
        .note(Event::Block, CONTROL, 0, ThreadState::Sending as u16)
        .switch(LOGGER, CONTROL, 60);
    m.exit(LOGGER).enter(LOGGER, leaves).note(Event::Wake, CONTROL, 0, 0).exit(LOGGER);
    let trace = m.trace();
    let lives = Lives::of(&trace, &names());
    let waits = Waits::of(&trace, &lives);
    let begun = place(&trace, Event::Block, CONTROL);
    let said = waits.words(&lives, &names(), CONTROL, begun);
    assert_eq!(said.as_deref(), Some("a stack of a train held by robot/3"));
    let woken = place(&trace, Event::Wake, CONTROL);
    assert_eq!(waits.ends(CONTROL, woken).map(|wait| wait.ended_by), Some(Some(LOGGER)));
}

#[test]
fn mutexes_are_called_after_the_memory_that_they_are_in() {
    let trace = inversion().trace();
    let lives = Lives::of(&trace, &names());
    let waits = Waits::of(&trace, &lives);
    let begun = place(&trace, Event::Wait, CONTROL);
    let of = |name: &str, domain, address| crate::Place {
        domain,
        address,
        bytes: 0x1000,
        name: name.to_string(),
    };
    let words = |places: Vec<crate::Place>| {
        let names = Names { places, ..names() };
        waits.words(&lives, &names, CONTROL, begun).expect("it waits")
    };
    let shared = || of("shared", 0, 0x1_8000_0000);
    assert_eq!(words(vec![shared()]), "mutex shared+0x40 held by robot/3");
    let exact = of("robot::BUS", 0, 0x8000_0040);
    assert_eq!(words(vec![exact.clone()]), "mutex robot::BUS held by robot/3");
    let [elsewhere, below] = [of("a", 1, 0x8000_0000), of("b", 0, 0x7fff_f000)];
    assert_eq!(words(vec![elsewhere, below]), "mutex 0x80000040 held by robot/3");
    assert_eq!(words(vec![shared(), exact]), "mutex 0x80000040 held by robot/3", "it may be both");
}
