use super::*;
use abi::boot::name_words;
use abi::control::Machine;
use std::path::PathBuf;

fn entry() -> Entry {
    let held = |slot, is_reservation, name: &str, timing| entry::Held {
        slot,
        is_reservation,
        name: name.to_string(),
        timing,
        windows: vec![(9, 1)],
        reactions: [None, Some("restart".to_string())],
    };
    Entry {
        pid: 1,
        system: "made-up".to_string(),
        manifest: PathBuf::new(),
        machine: String::new(),
        ram: PathBuf::new(),
        nonce: 0,
        address_at: 0,
        bytes: 0,
        control: "control".to_string(),
        held: vec![
            held(2, true, "class", None),
            held(3, true, "leaf", Some([5, 6])),
            held(3, false, "task", None),
        ],
        objects: crate::waits::Objects::default(),
        path: PathBuf::new(),
    }
}

fn picture(rows: &[Row]) -> Picture {
    let machine = Row::Machine(Machine { now: 9, counter_hz: 1 << 30, ..Machine::default() });
    let answer = Answer { refused: None, rows: [&[machine], rows].concat(), cut: false };
    Picture::of(&answer, &entry()).unwrap()
}

fn node(node: u64, class: u64) -> Row {
    let (share, share_a) = (1, 300);
    let row =
        control::Reservation { index: node, node, class, share, share_a, ..Default::default() };
    Row::Reservation(row)
}

fn held(slot: u64, node: u64) -> Row {
    Row::Held(control::Held { slot, node, worst: 4, ..Default::default() })
}

fn shown(picture: &Picture) -> Vec<(&str, usize, Option<&str>)> {
    let all = picture.reservations.iter();
    all.map(|one| (one.name.as_str(), one.depth, one.class.as_deref())).collect()
}

#[test]
fn reservations_stand_behind_their_classes_with_the_names_of_the_manifest() {
    let rows = [node(30, 20), node(20, 10), node(10, NONE), node(40, 10), held(3, 30), held(2, 20)];
    let picture = picture(&rows);
    assert_eq!(
        shown(&picture),
        [
            ("cpu0", 0, None),
            ("class", 1, Some("cpu0")),
            ("leaf", 2, Some("class")),
            ("number-40", 1, Some("cpu0")),
        ]
    );
    let leaf = &picture.reservations[2];
    assert_eq!((leaf.slot, leaf.worst), (Some(3), Some(4)));
    assert_eq!(leaf.timing, Some(Timing { deadline: 5, period: 6 }), "as at boot");
    assert_eq!((picture.reservations[0].share, picture.reservations[0].slot), (None, None));
}

#[test]
fn the_class_that_all_cpus_share_is_shown_if_something_is_in_it() {
    let (share, share_a) = Share::Priority(256).encode();
    let policy = Policy::EarliestDeadline as u64;
    let row = control::Reservation {
        node: 11,
        class: NONE,
        policy,
        share,
        share_a: share_a[0],
        ..Default::default()
    };
    let rows = [node(10, NONE), Row::Reservation(row), node(20, 10)];
    assert_eq!(shown(&picture(&rows)), [("cpu0", 0, None), ("number-20", 1, Some("cpu0"))]);
    let rows = [&rows[..], &[node(40, 11)]].concat();
    let picture = picture(&rows);
    assert_eq!(shown(&picture)[2..], [("cpus", 0, None), ("number-40", 1, Some("cpus"))]);
    assert_eq!(picture.reservations[2].share, Some(Share::Priority(256)));
}

#[test]
fn what_jobs_are_like_now_counts() {
    let changed = |deadline, separation| {
        let row = control::Held {
            slot: 3,
            node: 30,
            changed: 1,
            deadline,
            separation,
            worst: 0,
            latest: 0,
        };
        picture(&[node(30, NONE), Row::Held(row)]).reservations[0].timing
    };
    assert_eq!(changed(7, 8), Some(Timing { deadline: 7, period: 8 }));
    assert_eq!(changed(0, 0), None);
}

#[test]
fn circles_and_strangers_are_shown_once_each() {
    let circle = [node(1, 2), node(2, 1), node(3, 3), node(4, 77), node(5, NONE), node(5, 5)];
    let picture = picture(&circle);
    assert_eq!(picture.reservations.len(), circle.len());
    let mut nodes: Vec<u64> = picture.reservations.iter().map(|one| one.node).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, [1, 2, 3, 4, 5, 5]);
}

#[test]
fn threads_stand_with_their_domains_and_names_are_shown_safely() {
    let [name_low, name_high] = name_words("a\x1b[2Jb");
    let domain = control::Domain { index: 3, name_low, name_high, ..Default::default() };
    let thread = |domain, state, ticks| {
        let stack_used = u64::MAX;
        Row::Thread(control::Thread { domain, state, ticks, stack_used, ..Default::default() })
    };
    let idle = Row::Domain(control::Domain::default());
    let rows = [
        Row::Domain(domain),
        idle,
        thread(3, 4, 1 << 30),
        Row::Thread(control::Thread { domain: 3, name_low, name_high, ..Default::default() }),
        thread(0, 99, u64::MAX),
        thread(8, 1, 0),
    ];
    let picture = picture(&rows);
    let made = control::Domain { index: 7, slots: 9, ..Default::default() };
    assert_eq!(super::domain(&Row::Domain(made)).unwrap().1.name, "number-7");
    let [first, second] = &picture.domains[..] else { panic!("two domains") };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("a?[2Jb", "(idle)"));
    let [one, named] = &first.threads[..] else { panic!("two threads") };
    assert_eq!((one.called().as_str(), named.called().as_str()), ("0", "a?[2Jb"));
    assert_eq!((one.state, one.time, one.stack), ("receiving", Some(1_000_000_000), None));
    assert_eq!((second.threads[0].state, second.threads[0].time), ("?", None));
}

#[test]
fn an_answer_without_a_machine_is_refused() {
    let answer = Answer { refused: None, rows: vec![node(1, NONE)], cut: false };
    assert!(Picture::of(&answer, &entry()).is_err());
}
