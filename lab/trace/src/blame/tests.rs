use super::*;
use crate::testing::Maker;
use crate::{Entry, Moment};
use abi::trace::{Event, entry, point};
use analysis::Random;
use expect_test::expect;
use proptest::prelude::*;

/// The thread that is late.
const LATE: u16 = 3;

/// What is planted.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Plant {
    Nothing,
    InterruptsOff,
    LazyDequeue,
    Chain,
    LongWork,
    Higher,
    LateInLazyDequeueOfTimer,
}

const PLANTS: [Plant; 7] = [
    Plant::Nothing,
    Plant::InterruptsOff,
    Plant::LazyDequeue,
    Plant::Chain,
    Plant::LongWork,
    Plant::Higher,
    Plant::LateInLazyDequeueOfTimer,
];

/// A number of a range.
fn roll(dice: &mut Random, from: u64, to: u64) -> u64 {
    from + dice.below(to - from)
}

fn names() -> Names {
    Names::of(["load", "late", "high"])
}

/// Threads 1 and 2 talk, thread 3 of priority 200 waits for a timer, thread 4 is higher.
fn begin(dice: &mut Random) -> Maker {
    let mut m = Maker::new();
    m.thread(0, 0, u16::MAX)
        .thread(1, 1, 100)
        .thread(2, 1, 100)
        .thread(LATE, 2, 200)
        .thread(4, 3, 250);
    m.pass(500).note(Event::Switch, LATE, 0, 200).exit(LATE).pass(300).enter(LATE, 0).pass(90);
    m.note(Event::Block, LATE, 0, 4).note(Event::LookUp, 1, 0, 0).switch(1, LATE, 100).exit(1);
    m.pass(300);
    for _ in 0..roll(dice, 0, 5) {
        m.call(1, 2, 100).pass(roll(dice, 100, 900)).reply(2, 1, 100).pass(roll(dice, 100, 900));
    }
    m
}

/// The timer interrupt that serves the thread, and the way to its first instruction.
fn serve(m: &mut Maker, dropped: u64, step: u64) {
    m.enter(1, entry::TIMER).pass(100).note(Event::Expire, LATE, 0, 0).pass(60);
    m.note(Event::Wake, LATE, 0, 0).pass(30);
    if dropped > 0 {
        m.note(Event::LazyDequeue, 2, 0, 0).pass(dropped * step);
    }
    m.note(Event::LookUp, LATE, dropped as u32, 0).switch(LATE, 1, 200).exit(LATE).pass(60);
}

/// Thread 1 is in a system call when the timer's instant comes.
fn busy_call(m: &mut Maker, plant: Plant, dice: &mut Random) -> u64 {
    let (count, step) = (roll(dice, 20, 200), roll(dice, 30, 90));
    m.enter(1, if plant == Plant::LazyDequeue { 2 } else { 21 }).pass(roll(dice, 20, 60));
    let programmed;
    match plant {
        Plant::LazyDequeue => {
            m.note(Event::LazyDequeue, 2, 0, 0);
            programmed = m.now + 5;
            m.pass(count * step).note(Event::LookUp, 1, count as u32, 0).pass(20);
        }
        Plant::Chain => {
            programmed = m.now + step;
            for _ in 0..count {
                m.note(Event::Chain, 2, 0, 0).note(Event::Preempt, 2, point::CHAIN, 0).pass(step);
            }
            m.note(Event::LookUp, 1, 0, 0);
        }
        Plant::LongWork => {
            programmed = m.now + roll(dice, 0, 50);
            for _ in 0..count {
                m.pass(step).note(Event::Preempt, 1, point::CALL, 0);
            }
        }
        _ => {
            programmed = m.now + roll(dice, 0, 20);
            m.pass(count * step);
        }
    }
    m.exit(1).pass(3);
    programmed
}

/// The trace of a seed, what is planted in it, and the sample.
fn planted(plant: Plant, seed: u64) -> (Trace, Sample) {
    let mut dice = Random::of(seed);
    let mut m = begin(&mut dice);
    let mut programmed = m.now;
    match plant {
        Plant::Nothing | Plant::Higher => {
            m.pass(roll(&mut dice, 2, 30));
            serve(&mut m, 0, 0);
        }
        Plant::LateInLazyDequeueOfTimer => {
            m.pass(roll(&mut dice, 2, 30));
            serve(&mut m, roll(&mut dice, 20, 200), roll(&mut dice, 30, 90));
        }
        _ => {
            programmed = busy_call(&mut m, plant, &mut dice);
            serve(&mut m, 0, 0);
        }
    }
    if plant == Plant::Higher {
        // The interrupt of a device wakes the higher thread before the other has seen its time.
        m.enter(LATE, entry::IRQ_0 + 1).pass(40).note(Event::Wake, 4, 0, 0);
        m.switch(4, LATE, 250).exit(4).pass(roll(&mut dice, 900, 9000)).enter(4, 0).pass(70);
        m.note(Event::Block, 4, 0, 4).note(Event::LookUp, LATE, 0, 0).switch(LATE, 4, 200);
        m.exit(LATE).pass(30);
    }
    let sample = Sample { programmed, ran: m.now, thread: LATE };
    m.pass(100).enter(LATE, 0).pass(50).note(Event::Block, LATE, 0, 4).switch(1, LATE, 100).exit(1);
    (m.trace(), sample)
}

/// Whether a cause is the planted one.
fn is_planted(plant: Plant, cause: Option<&Cause>) -> bool {
    match (plant, cause) {
        (Plant::Nothing, None) => true,
        (Plant::InterruptsOff, Some(Cause::InterruptsOff { entry, thread })) => {
            *entry == Entry::Call(21) && thread.name == "load/1"
        }
        (Plant::LazyDequeue, Some(Cause::LazyDequeue { threads, entry, .. })) => {
            *threads >= 20 && *entry == Entry::Call(2)
        }
        (Plant::LateInLazyDequeueOfTimer, Some(Cause::LazyDequeue { threads, entry, .. })) => {
            *threads >= 20 && *entry == Entry::Timer
        }
        (Plant::Chain, Some(Cause::Chain { transfers, .. })) => *transfers >= 20,
        (Plant::LongWork, Some(Cause::LongWork { entry, .. })) => *entry == Entry::Call(21),
        (Plant::Higher, Some(Cause::HigherThread { thread, priority })) => {
            thread.name == "high/1" && *priority == 250
        }
        _ => false,
    }
}

#[test]
fn the_planted_cause_is_named_and_none_invented() {
    let mut seen = [0; PLANTS.len()];
    for seed in 0..100 {
        let number = Random::of(seed).below(PLANTS.len() as u64) as usize;
        let (trace, sample) = planted(PLANTS[number], seed);
        let found = blame(&trace, &names(), &sample);
        let headline = found.headline().map(|(cause, _)| cause);
        assert!(is_planted(PLANTS[number], headline), "seed {seed}: {:?}\n{found}", PLANTS[number]);
        seen[number] += 1;
    }
    assert!(seen.iter().all(|&count| count >= 5), "{seen:?}");
}

#[test]
fn a_lazy_dequeue_as_text() {
    let (trace, sample) = planted(Plant::LazyDequeue, 7);
    expect![[r#"
        late/1 ran 10905 ns after the instant of its timer:
        lazy dequeue of 133 threads in reply-wait of load/1 (10502 ns)
               +0 to   10502 ns  96.3 %  lazy dequeue of 133 threads in reply-wait of
                                         load/1
           +10502 to   10532 ns   0.3 %  interrupts off in reply-wait of load/1
           +10532 to   10545 ns   0.1 %  load/1 ran until the timer interrupt arrived
           +10545 to   10905 ns   3.3 %  kernel: timer interrupt and switch
    "#]]
    .assert_eq(&blame(&trace, &names(), &sample).to_string());
    let (trace, sample) = planted(Plant::Nothing, 7);
    expect![[r#"
        late/1 ran 379 ns after the instant of its timer:
        the unavoidable path alone
               +0 to      19 ns   5.0 %  load/1 ran until the timer interrupt arrived
              +19 to     379 ns  95.0 %  kernel: timer interrupt and switch
    "#]]
    .assert_eq(&blame(&trace, &names(), &sample).to_string());
    let (trace, sample) = planted(Plant::Higher, 7);
    expect![[r#"
        late/1 ran 8336 ns after the instant of its timer:
        higher thread high/1 ran, of priority 250 (7797 ns)
               +0 to      19 ns   0.2 %  load/1 ran until the timer interrupt arrived
              +19 to     499 ns   5.8 %  kernel: timer interrupt and switch
             +499 to    8296 ns  93.5 %  higher thread high/1 ran, of priority 250
            +8296 to    8336 ns   0.5 %  kernel: timer interrupt and switch
    "#]]
    .assert_eq(&blame(&trace, &names(), &sample).to_string());
}

/// Threads 1 and 2 of `load` on no reservation, `late` and `high` on leaves of one class of EDF.
fn reserved() -> Names {
    use abi::reservation::{Policy, Share};
    let node = |name: &str, class, policy, share| crate::Reservation {
        name: name.to_string(),
        class,
        policy,
        share,
        limit: None,
    };
    let reservations = vec![
        node("urgent", None, Some(Policy::EarliestDeadline), Share::Priority(300)),
        node("slow", Some(0), None, Share::Deadline),
        node("fast", Some(0), None, Share::Deadline),
    ];
    Names { reservations, leaves: vec![None, Some(1), Some(2)], ..names() }
}

#[test]
fn where_reservations_decide_the_leaf_its_class_and_the_reason_are_named() {
    let (trace, sample) = planted(Plant::Higher, 7);
    let found = blame(&trace, &reserved(), &sample);
    assert_eq!(found.on.as_deref(), Some("urgent/slow (EDF)"));
    let (cause, ns) = found.headline().unwrap();
    assert_eq!(
        (cause.to_string(), ns),
        ("high/1 ran on urgent/fast (EDF), due before slow".into(), 7797)
    );
    // A thread on its priority is below a class that is above it, whatever the priorities are.
    let ran = trace.moments.iter().find(|moment| moment.event == Event::Message).unwrap().ns;
    let sample = Sample { programmed: ran - 200, ran, thread: 1 };
    let late = Names { leaves: vec![None, Some(1), None], ..reserved() };
    let found = blame(&trace, &late, &sample);
    assert_eq!(found.on, None);
    assert!(found.to_string().lines().all(|line| !line.contains("not known")), "{found}");
}

#[test]
fn a_server_without_a_reservation_runs_on_that_of_its_caller() {
    let mut m = Maker::new();
    m.thread(1, 1, 100).thread(2, 2, 100).thread(3, 3, 100);
    m.note(Event::Switch, 2, 0, 0).exit(2).pass(100).call(2, 1, 100).pass(500);
    m.timer_wakes(1, 3, 0).pass(10).enter(3, 0).exit(3);
    let trace = m.trace();
    let (lives, names) = (crate::Lives::of(&trace, &reserved()), reserved());
    let waits = crate::Waits::of(&trace, &lives);
    let times =
        crate::reservations::Times { trace: &trace, names: &names, lives: &lives, waits: &waits };
    let place = |moment| times.place(1, moment);
    assert_eq!(place(3), None, "nobody has called it");
    assert_eq!(place(trace.moments.len() - 1).as_deref(), Some("urgent/slow (EDF)"));
}

#[test]
fn an_owner_runs_on_what_its_waiter_lends_it() {
    let (owner, late, waiter) = (1, 2, 3);
    let mut m = Maker::new();
    m.thread(owner, 1, 60).thread(late, 2, 80).thread(waiter, 3, 100);
    m.note(Event::Switch, waiter, 0, 100).exit(waiter).pass(100);
    m.enter(waiter, 64).note(Event::Wait, waiter, crate::testing::bus(), owner);
    m.note(Event::Block, waiter, 0, 6).switch(owner, waiter, 60).exit(owner).pass(300);
    m.enter(owner, entry::TIMER).note(Event::Expire, late, 0, 0).note(Event::Wake, late, 0, 0);
    m.pass(10).exit(owner).pass(700).enter(owner, 65).note(Event::Wake, waiter, 0, 0);
    m.switch(late, owner, 80).exit(late).pass(10);
    let trace = m.trace();
    let expired = trace.moments.iter().find(|moment| moment.event == Event::Expire).unwrap().ns;
    let sample = Sample { programmed: expired - 5, ran: expired + 715, thread: late };
    let found = blame(&trace, &reserved(), &sample);
    let lent = "load/1 ran on its priority, or urgent/fast (EDF), which high/1 lends it, waiting \
                for its mutex 0x80000040";
    assert_eq!(found.headline().map(|(cause, _)| cause.to_string()).as_deref(), Some(lent));
}

#[test]
fn an_idle_cpu_beside_a_thread_that_is_ready_has_a_reason() {
    let idle_until = |ran: u64| {
        let mut m = Maker::new();
        m.thread(0, 0, u16::MAX).thread(LATE, 2, 50).note(Event::Switch, LATE, 0, 50).exit(LATE);
        m.pass(ran).enter(LATE, 0).note(Event::Block, LATE, 0, 4).switch(0, LATE, 0).exit(0);
        m.pass(100).enter(0, entry::TIMER).note(Event::Expire, LATE, 0, 0);
        m.note(Event::Wake, LATE, 0, 0).exit(0).pass(5_000).enter(0, entry::TIMER);
        m.switch(LATE, 0, 50).exit(LATE).pass(10);
        let trace = m.trace();
        let expired = trace.moments.iter().find(|one| one.event == Event::Expire).unwrap().ns;
        let sample = Sample { programmed: expired, ran: expired + 5_000, thread: LATE };
        let mut names = reserved();
        let [budget, period] = [2_000, 10_000];
        let server = abi::reservation::Server::Periodic;
        names.reservations[1].limit = Some(abi::reservation::Budget { server, budget, period });
        let found = blame(&trace, &names, &sample);
        found.headline().map(|(cause, _)| cause.to_string()).expect("something else than the path")
    };
    assert_eq!(idle_until(2_500), "the CPU was idle, since urgent/slow is out of budget");
    assert_eq!(idle_until(1_800), "the CPU was idle, as urgent/slow may be out of budget");
    assert_eq!(idle_until(300), "the CPU was idle, which the trace does not explain");
}

#[test]
fn a_thread_runs_on_the_reservation_that_it_was_given_last() {
    let mut m = Maker::new();
    m.thread(1, 1, 100).thread(2, 2, 100);
    // Behind the roots of one CPU and of all CPUs the manifest's begin.
    m.note(Event::Reserve, 2, 2 + 2, 0).note(Event::Reserve, 1, 2 + 1, 0).pass(10);
    m.note(Event::Reserve, 2, 2 + 3, 0).pass(10).note(Event::Reserve, 2, 0, 0).pass(10);
    // A domain that a program makes, and gives a reservation before it has threads.
    m.note(Event::Domain, 2, 4, 2).note(Event::Reserve, 4, 2 + 2, 1).thread(5, 4, 1);
    let trace = m.trace();
    let (lives, names) = (crate::Lives::of(&trace, &reserved()), reserved());
    let waits = crate::Waits::of(&trace, &lives);
    let times =
        crate::reservations::Times { trace: &trace, names: &names, lives: &lives, waits: &waits };
    let given = |thread, which: usize| {
        let of_it = |moment: &&crate::Moment| {
            (moment.event, moment.thread, moment.extra) == (Event::Reserve, thread, 0)
        };
        let moment = trace.moments.iter().filter(of_it).nth(which).expect("it was given one");
        let at = trace.moments.iter().position(|one| std::ptr::eq(one, moment)).unwrap();
        times.place(thread, at)
    };
    assert_eq!(given(2, 0).as_deref(), Some("urgent/fast (EDF)"));
    assert_eq!(given(1, 0).as_deref(), Some("urgent/slow (EDF)"));
    assert_eq!(given(2, 1).as_deref(), Some("a reservation that a program has made"));
    assert_eq!(given(2, 2).as_deref(), Some("urgent/slow (EDF)"), "that of its domain again");
    let last = times.place(5, trace.moments.len() - 1);
    assert_eq!(last.as_deref(), Some("urgent/fast (EDF)"));
}

#[test]
fn a_thread_that_did_not_wait_is_late_by_itself() {
    let mut m = Maker::new();
    m.thread(1, 1, 100).note(Event::Switch, 1, 0, 100).exit(1).pass(1000).enter(1, 5).exit(1);
    let sample = Sample { programmed: 200, ran: 900, thread: 1 };
    let found = blame(&m.trace(), &names(), &sample);
    assert_eq!(found.headline(), Some((&Cause::Itself, 700)));
}

#[test]
fn a_thread_that_a_higher_one_kept_from_waiting_is_late_by_that_one() {
    let mut m = Maker::new();
    m.thread(1, 1, 100).thread(2, 1, 250);
    m.note(Event::Switch, 1, 0, 100).exit(1).pass(100);
    m.enter(1, 5).note(Event::Switch, 2, 1, 250).exit(2).pass(1000);
    m.enter(2, 5).note(Event::Block, 2, 0, 3).note(Event::Switch, 1, 2, 100).exit(1).pass(50);
    m.enter(1, 5).exit(1);
    let trace = m.trace();
    let sample = Sample { programmed: 300, ran: trace.moments.last().unwrap().ns, thread: 1 };
    let found = blame(&trace, &names(), &sample);
    let (cause, ns) = found.headline().unwrap();
    assert!(matches!(cause, Cause::HigherThread { priority: 250, .. }), "{found}");
    assert!(ns > 700, "{found}");
}

#[test]
fn what_the_trace_does_not_hold_has_no_cause() {
    let (trace, sample) = planted(Plant::InterruptsOff, 1);
    let records = trace.moments.len();
    let empty = Trace { moments: Vec::new(), ..trace.clone() };
    let full = Trace {
        moments: trace.moments[..6].to_vec(),
        events: records as u64,
        capacity: 6,
        ..trace
    };
    for trace in [empty, full] {
        let found = blame(&trace, &names(), &sample);
        assert_eq!(found.headline(), None);
        assert_eq!(found.causes(), [(&Cause::Unseen, found.latency())]);
        assert!(found.to_string().contains("does not hold all"));
    }
}

#[test]
fn an_equal_thread_is_not_called_higher() {
    let mut m = begin(&mut Random::of(3));
    let programmed = m.now;
    m.pass(5).enter(1, entry::TIMER).pass(50).note(Event::Wake, LATE, 0, 0).exit(1);
    m.note(Event::Priority, LATE, 0, 100).pass(5000);
    for _ in 0..30 {
        m.enter(1, 5).pass(10).exit(1).pass(9).enter(1, entry::TIMER).pass(20).exit(1).pass(9);
    }
    m.enter(1, 4).switch(LATE, 1, 100).exit(LATE);
    let sample = Sample { programmed, ran: m.now, thread: LATE };
    let found = blame(&m.trace(), &names(), &sample);
    let (cause, length) = found.headline().unwrap();
    assert_eq!(cause.to_string(), "load/1 ran, of priority 100, which is not known to be higher");
    assert!(length > 5000);
    assert!(found.to_string().lines().last().unwrap().ends_with("more pieces"));
}

#[test]
fn priorities_are_those_of_the_time() {
    let cases = [(100, "load/1 ran, of priority 100, which"), (99, "higher thread load/1")];
    for (own, expected) in cases {
        let mut m = begin(&mut Random::of(3));
        let programmed = m.now;
        m.pass(5).enter(1, entry::TIMER).pass(50).note(Event::Wake, LATE, 0, 0);
        m.note(Event::Priority, LATE, 0, own).exit(1).pass(5000);
        m.enter(1, 4).switch(LATE, 1, own).exit(LATE);
        let ran = m.now;
        m.note(Event::Priority, LATE, 0, 240);
        let found = blame(&m.trace(), &names(), &Sample { programmed, ran, thread: LATE });
        let (cause, _) = found.headline().unwrap();
        assert!(cause.to_string().starts_with(expected), "{cause}");
    }
}

#[test]
fn a_freeze_right_after_the_sample_hides_nothing() {
    for plant in PLANTS {
        let (trace, sample) = planted(plant, 5);
        let ran = trace.moments.iter().position(|moment| moment.ns > sample.ran).unwrap();
        let mut frozen = trace.clone();
        // The call that freezes is entered and not left, or left when the trace goes on.
        frozen.moments.truncate(ran + 1);
        frozen.moments[ran].argument = 60;
        assert_eq!(blame(&frozen, &names(), &sample), blame(&trace, &names(), &sample));
        let Moment { steps, ns, .. } = frozen.moments[ran];
        let exit = Moment {
            steps: steps + 9000,
            ns: ns + 9000,
            event: Event::Exit,
            ..frozen.moments[ran]
        };
        frozen.moments.push(exit);
        assert_eq!(blame(&frozen, &names(), &sample), blame(&trace, &names(), &sample));
    }
}

proptest! {
    #[test]
    fn any_seed_and_any_plant(seed in any::<u64>(), number in 0..PLANTS.len()) {
        let (trace, sample) = planted(PLANTS[number], seed);
        let found = blame(&trace, &names(), &sample);
        let headline = found.headline().map(|(cause, _)| cause);
        prop_assert!(is_planted(PLANTS[number], headline), "{}", found);
    }

    #[test]
    fn pieces_cover_the_time(seed in any::<u64>(), from in 0..20_000u64, length in 0..20_000u64) {
        let (trace, _) = planted(PLANTS[(seed % 7) as usize], seed);
        for thread in 0..6 {
            let sample = Sample { programmed: from, ran: from + length, thread };
            let found = blame(&trace, &names(), &sample);
            let mut at = from;
            for piece in &found.pieces {
                prop_assert!(piece.from == at && piece.to > at);
                at = piece.to;
            }
            prop_assert_eq!(at, from + length);
        }
    }
}
