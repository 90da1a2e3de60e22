use super::target::Target;
use super::*;
use crate::failure::Usage;
use crate::live::Reservation;
use abi::reservation::{Budget, Curve, Policy, Server, Share, Timing, Window, Windows};

const MS: u64 = 1_000_000;

/// A reservation in the class of index `class`, of which slot and node are its place.
fn one(name: &str, class: Option<(&str, Policy)>, place: u32, share: Share) -> Reservation {
    Reservation {
        name: name.to_string(),
        depth: 0,
        class: class.map(|(name, _)| name.to_string()),
        node: place.into(),
        policy: None,
        above: class.map(|(_, policy)| policy),
        share: Some(share),
        limit: None,
        timing: None,
        windows: Vec::new(),
        slot: Some(place),
        throttled: false,
        service: 0,
        overruns: 0,
        jobs: 0,
        missed: 0,
        worst: None,
        reactions: [None, None],
    }
}

/// A root of priorities with a class by deadlines, one by curves, and a leaf.
fn picture() -> Picture {
    let root = Some(("cpu0", Policy::FixedPriority));
    let edf = Some(("critical", Policy::EarliestDeadline));
    let curves = Some(("shares", Policy::ServiceCurves));
    let limited = |one: Reservation, budget, period| Reservation {
        limit: Some(Budget::new(Server::Constant, budget * MS, period * MS)),
        ..one
    };
    let class = |one: Reservation, policy| Reservation { policy: Some(policy), ..one };
    let timing = Some(Timing { deadline: 40 * MS, period: 40 * MS });
    let vision = Reservation { timing, ..one("vision", edf, 5, Share::Deadline) };
    let windows = [(4, 1), (5, 0), (10, 2)]
        .map(|(end, partition)| Window { end: end * MS, partition })
        .to_vec();
    let frames = Some(("frames", Policy::Partitions));
    let part = |number| Share::Partition { number, priority: 3 };
    let linear = |percent: u32| Share::curve(Curve::linear(percent * 10_000));
    Picture {
        system: "made-up".to_string(),
        pid: 1,
        kernel: "tree".to_string(),
        now: 1,
        cpus: 1,
        domains: Vec::new(),
        reservations: vec![
            Reservation { slot: None, share: None, ..one("cpu0", None, 1, Share::Deadline) },
            class(one("critical", root, 2, Share::Priority(300)), Policy::EarliestDeadline),
            limited(one("flight", edf, 4, Share::Deadline), 1, 5),
            limited(vision, 8, 40),
            class(one("shares", root, 6, Share::Priority(200)), Policy::ServiceCurves),
            one("quick", curves, 7, linear(50)),
            one("slow", curves, 8, linear(30)),
            one("log", root, 9, Share::Priority(1)),
            Reservation {
                windows,
                ..class(one("frames", root, 10, Share::Priority(2)), Policy::Partitions)
            },
            one("left", frames, 11, part(1)),
            one("right", frames, 12, part(2)),
            one("below", frames, 13, part(0)),
        ],
        cut: false,
    }
}

/// The steps of these words, of which blanks are between.
fn asked(name: &str, words: &str) -> Result<Vec<Step>> {
    let picture = picture();
    let one = picture.reservations.iter().find(|one| one.name == name).unwrap();
    let words: Vec<String> = words.split_whitespace().map(str::to_string).collect();
    plan::steps(&Target::Reservation(one), &picture, &words)
}

fn changes(name: &str, words: &str) -> Vec<Change> {
    asked(name, words).unwrap().into_iter().map(|step| step.change).collect()
}

fn refused(name: &str, words: &str) -> String {
    let error = asked(name, words).expect_err("it means nothing");
    assert!(error.is::<Usage>());
    error.to_string()
}

fn budget(slot: u32, server: Server, budget: u64, period: u64) -> Change {
    Change::Budget { slot, budget: Some(Budget::new(server, budget * MS, period * MS)) }
}

#[test]
fn words_become_changes_and_what_is_not_said_stays() {
    assert_eq!(changes("flight", "budget=2ms"), [budget(4, Server::Constant, 2, 5)]);
    assert_eq!(changes("flight", "period=10ms"), [budget(4, Server::Constant, 1, 10)]);
    assert_eq!(changes("flight", "budget=1ms"), [], "as it is");
    assert_eq!(changes("flight", "server=sporadic"), [budget(4, Server::Sporadic, 1, 5)]);
    let share = Share::Priority(5);
    assert_eq!(
        changes("log", "budget=3ms period=20ms priority=5"),
        [Change::Share { slot: 9, share }, budget(9, Server::Periodic, 3, 20)]
    );
    let timing = Some(Timing { deadline: 9 * MS, period: 20 * MS });
    assert_eq!(changes("log", "deadline=9ms period=20ms"), [Change::Timing { slot: 9, timing }]);
    let bent = Curve { slope: 600_000, bend: 10 * MS, rest: 200_000 };
    assert_eq!(
        changes("quick", "curve=60%,10ms,20%"),
        [Change::Share { slot: 7, share: Share::curve(bent) }],
        "the share follows the curve where it did"
    );
    let share = Share::Partition { number: 1, priority: 9 };
    assert_eq!(changes("left", "priority=9"), [Change::Join { slot: 11, class: 10, share }]);
    let guaranteed = Some(Curve::linear(500_000));
    let share = Share::Curve { guaranteed, share: Curve::linear(100_000) };
    assert_eq!(changes("quick", "share=10%"), [Change::Share { slot: 7, share }]);
}

#[test]
fn a_period_is_that_of_budget_and_jobs() {
    let timing = Some(Timing { deadline: 50 * MS, period: 50 * MS });
    assert_eq!(
        changes("vision", "period=50ms deadline=50ms"),
        [budget(5, Server::Constant, 8, 50), Change::Timing { slot: 5, timing }]
    );
    let said = refused("vision", "period=50ms");
    assert!(said.ends_with("give deadline=50ms, or server=sporadic"), "{said}");
    assert_eq!(changes("vision", "server=sporadic period=50ms").len(), 2);
}

#[test]
fn each_step_can_be_taken_back() {
    for (name, words) in [("vision", "budget=9ms"), ("log", "priority=5"), ("flight", "budget=2ms")]
    {
        let steps = asked(name, words).unwrap();
        let [step] = &steps[..] else { panic!("{steps:?}") };
        assert_ne!(step.change, step.undo);
    }
    let undo = &asked("log", "budget=1ms period=2ms").unwrap()[0].undo;
    assert_eq!(*undo, Change::Budget { slot: 9, budget: None });
}

#[test]
fn what_means_nothing_is_told_with_its_mend() {
    for (name, words, said) in [
        ("vision", "priority=3", "`priority` means nothing for vision: critical goes by edf"),
        ("log", "curve=3%", "`curve` means nothing for log: cpu0 goes by priorities"),
        ("log", "budget", "`budget` is not KEY=VALUE, such as budget=8ms"),
        ("log", "bugdet=1ms", "there is no key `bugdet`"),
        ("log", "budget=1ms", "`period` is missing: how often log gets its budget"),
        ("log", "period=1ms", "`period` means nothing for log: it has neither"),
        ("log", "server=periodic", "`server` means nothing for log: it has no budget"),
        ("log", "priority=512", "`priority` is a number from 0 to 511, not `512`"),
        ("log", "budget=1 period=1ms", "`budget` is a time of 20us or more"),
        ("log", "priority=1 priority=2", "`priority` is given twice"),
        ("flight", "budget=6ms", "a budget of 6ms exceeds its period of 5ms"),
        ("flight", "budget=none", "without a budget nothing gives flight a deadline"),
        ("flight", "server=periodc", "there is no server `periodc`"),
        ("critical", "deadline=5ms period=5ms", "`deadline` means nothing for critical: a class"),
        ("quick", "curve=120%", "`curve` is a part of the CPU above zero"),
        ("cpu0", "priority=1", "cpu0 cannot be changed: it is the root of a CPU"),
    ] {
        let message = refused(name, words);
        assert!(message.starts_with(said), "{name} {words}: {message}");
    }
}

#[test]
fn refusals_of_admission_say_who_has_what() {
    let picture = picture();
    let why = |name: &str, change: Change| {
        let one = picture.reservations.iter().find(|one| one.name == name).unwrap();
        refusal::why(Error::Overcommitted, &picture, &Target::Reservation(one), &change)
    };
    assert_eq!(
        why("vision", budget(5, Server::Constant, 38, 40)),
        "critical has 100% of the CPU and has promised 20% of it to others, so vision can have \
         80%; this would be 95%"
    );
    assert_eq!(
        why("quick", Change::Share { slot: 7, share: Share::curve(Curve::linear(800_000)) }),
        "shares has 100% of the CPU and has promised 30% of it to others, so quick can have 70%; \
         this would be 80%"
    );
    assert_eq!(
        why("critical", budget(2, Server::Periodic, 3, 10)),
        "critical has promised 40% of the CPU to what is in it, and would have 30%"
    );
    let steep = Curve { slope: 900_000, bend: MS, rest: 100_000 };
    let steep = why("quick", Change::Share { slot: 7, share: Share::curve(steep) });
    assert!(steep.contains("too steep in its beginning"), "{steep}");
}

#[test]
fn settings_can_be_given_back_as_they_are_shown() {
    let picture = picture();
    for one in &picture.reservations {
        let shown =
            plan::settings(one, &picture).into_iter().map(|(key, value)| format!("{key}={value}"));
        let words = shown.collect::<Vec<_>>().join(" ");
        if one.slot.is_some() && !words.is_empty() {
            assert_eq!(changes(&one.name, &words), [], "{}: {words}", one.name);
        }
    }
}

fn windows(list: &[(u64, u16)]) -> Change {
    let list: Vec<_> = list
        .iter()
        .map(|(end, partition)| Window { end: end * MS, partition: *partition })
        .collect();
    Change::Windows { slot: 10, windows: Windows::new(&list).unwrap() }
}

#[test]
fn windows_are_given_all_at_once() {
    let step = |words| {
        let mut steps = asked("frames", words).unwrap();
        let step = steps.pop().unwrap();
        assert_eq!(step.undo, windows(&[(4, 1), (5, 0), (10, 2)]));
        step.change
    };
    assert_eq!(step("windows=left:0ms+8ms,right:8ms+2ms"), windows(&[(8, 1), (10, 2)]));
    assert_eq!(step("windows=right:2ms+2ms"), windows(&[(2, 0), (4, 2), (10, 0)]), "gaps");
    assert_eq!(step("major_frame=20ms"), windows(&[(4, 1), (5, 0), (10, 2), (20, 0)]));
    assert_eq!(step("windows=left:0ms+6ms major_frame=6ms"), windows(&[(6, 1)]));
    assert_eq!(changes("frames", "major_frame=10ms windows=left:0ms+4ms,right:5ms+5ms"), []);
    for (words, said) in [
        ("windows=left", "is not PARTITION:OFFSET+DURATION"),
        ("windows=left:0ms+100us", "too short: 500us at least"),
        ("windows=lefd:0ms+1ms", "did you mean `left`?"),
        ("windows=below:0ms+1ms", "below is the background partition, which has no windows"),
        ("windows=left:0ms+5ms,right:4ms+1ms", "right:4ms+1ms overlaps the one before it"),
        ("windows=left:0ms+12ms", "ends behind the major frame of 10ms"),
        ("windows=left:0ms+4ms,right:4100us+1ms", "from 4ms to 4100us no partition has a window"),
        ("major_frame=8ms", "the window from 5ms ends behind the major frame of 8ms"),
    ] {
        let message = refused("frames", words);
        assert!(message.contains(said), "{words}: {message}");
    }
    let message = refused("critical", "windows=left:0ms+1ms");
    assert!(message.ends_with("it is no class of time partitions"), "{message}");
}
