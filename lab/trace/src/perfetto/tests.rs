mod reader;

use super::*;
use crate::testing::{conversation, inversion, made};
use reader::{Value, read};
use std::collections::{BTreeMap, HashMap, HashSet};

/// An event of a file with its names looked up.
#[derive(Debug)]
struct Event {
    ns: u64,
    kind: u64,
    track: u64,
    name: String,
    arguments: BTreeMap<String, String>,
    counter: Option<i64>,
    out: Vec<u64>,
    into: Vec<u64>,
}

/// A file as a reader of the public schema sees it.
#[derive(Default)]
struct Opened {
    /// Track names by number; a process's or a thread's is its own.
    tracks: HashMap<u64, String>,
    parents: HashMap<u64, u64>,
    events: Vec<Event>,
}

impl Opened {
    fn open(bytes: &[u8]) -> Opened {
        let mut opened = Opened::default();
        let (mut names, mut arguments) = (HashMap::new(), HashMap::new());
        let mut cleared = false;
        for packet in read("Trace", bytes).all("packet") {
            let packet = packet.message();
            assert_eq!(packet.number("trusted_packet_sequence_id"), Some(1));
            let flags = packet.number("sequence_flags").unwrap();
            cleared |= flags & 1 == 1;
            assert!(cleared, "names are only valid after the state was cleared");
            if let Some(fresh) = packet.one("interned_data") {
                intern(&mut names, fresh.message().all("event_names"));
                intern(&mut arguments, fresh.message().all("debug_annotation_names"));
            }
            if let Some(track) = packet.one("track_descriptor") {
                opened.track(track.message());
            } else {
                let event = packet.one("track_event").unwrap().message();
                let ns = packet.number("timestamp").unwrap();
                opened.event(ns, event, (&names, &arguments));
            }
        }
        opened
    }

    fn track(&mut self, track: &reader::Message) {
        let uuid = track.number("uuid").unwrap();
        let inner = |field: &str, name| track.one(field).and_then(|of| of.message().text(name));
        let name = track.text("name");
        let name = name.or_else(|| inner("process", "process_name"));
        let name = name.or_else(|| inner("thread", "thread_name")).unwrap();
        assert!(self.tracks.insert(uuid, name).is_none(), "a track is introduced once");
        if let Some(parent) = track.number("parent_uuid") {
            assert!(self.tracks.contains_key(&parent));
            self.parents.insert(uuid, parent);
        }
    }

    fn event(
        &mut self,
        ns: u64,
        event: &reader::Message,
        (names, arguments): (&HashMap<u64, String>, &HashMap<u64, String>),
    ) {
        let track = event.number("track_uuid").unwrap();
        assert!(self.tracks.contains_key(&track));
        let name = event.number("name_iid").map(|iid| names[&iid].clone()).unwrap_or_default();
        let annotations = event.all("debug_annotations").map(|annotation| {
            let annotation = annotation.message();
            let text = annotation.text("string_value");
            let number = || annotation.number("int_value").unwrap().cast_signed().to_string();
            let name = arguments[&annotation.number("name_iid").unwrap()].clone();
            (name, text.unwrap_or_else(number))
        });
        self.events.push(Event {
            ns,
            kind: event.number("type").unwrap(),
            track,
            name,
            arguments: annotations.collect(),
            counter: event.number("counter_value").map(u64::cast_signed),
            out: event.all("flow_ids").map(Value::number).collect(),
            into: event.all("terminating_flow_ids").map(Value::number).collect(),
        });
    }

    fn on(&self, track: &str) -> Vec<&Event> {
        self.events.iter().filter(|event| self.tracks[&event.track] == track).collect()
    }
}

fn intern<'a>(names: &mut HashMap<u64, String>, fresh: impl Iterator<Item = &'a Value>) {
    for name in fresh {
        let name = name.message();
        names.insert(name.number("iid").unwrap(), name.text("name").unwrap());
    }
}

fn opened() -> Opened {
    let names = Names::of(["ping-client", "ping-server"]);
    Opened::open(&perfetto(&conversation().trace(), &names))
}

#[test]
fn threads_belong_to_their_domains() {
    let opened = opened();
    let mut threads: Vec<(&str, &str)> = opened
        .parents
        .iter()
        .map(|(track, parent)| (opened.tracks[parent].as_str(), opened.tracks[track].as_str()))
        .collect();
    threads.sort_unstable();
    let expected = [
        ("kernel", "CPU 0"),
        ("kernel", "CPU 0 lost records"),
        ("kernel", "CPU 0 ready queue"),
        ("kernel", "endpoint 5 senders"),
        ("kernel", "idle"),
        ("ping-client", "ping-client/1"),
        ("ping-server", "ping-server/1"),
        ("ping-server", "ping-server/2"),
    ];
    assert_eq!(threads, expected);
}

#[test]
fn an_idle_thread_that_nothing_introduces_is_the_kernels() {
    let mut m = crate::testing::Maker::new();
    m.thread(1, 1, 100).enter(1, 0).switch(0, 1, u16::MAX).exit(0).enter(7, 0).exit(7);
    let opened = Opened::open(&perfetto(&m.trace(), &Names::of(["client"])));
    let process = |thread: &str| {
        let mut tracks = opened.tracks.iter().filter(|(_, name)| *name == thread);
        opened.tracks[&opened.parents[tracks.next().unwrap().0]].as_str()
    };
    assert_eq!(["idle", "client/1", "thread-7"].map(process), ["kernel", "client", "unknown"]);
}

#[test]
fn endpoints_and_notifications_have_their_names() {
    let all = |kind: &str| (0..6).map(|index| format!("{kind}-{index}")).collect();
    let names =
        Names { endpoints: all("port"), notifications: all("keys"), ..Names::of(["one", "two"]) };
    let opened = Opened::open(&perfetto(&conversation().trace(), &names));
    assert_eq!(opened.on("endpoint port-5 senders").len(), 1);
    let signal = opened.events.iter().find(|event| event.name == "signal").unwrap();
    assert_eq!(signal.arguments["notification"], "keys-3");
}

#[test]
fn slices_nest_and_time_never_runs_backwards() {
    let opened = opened();
    let mut depth: HashMap<u64, i64> = HashMap::new();
    let mut last = 0;
    for event in &opened.events {
        assert!(event.ns >= last);
        last = event.ns;
        let depth = depth.entry(event.track).or_default();
        *depth += match event.kind {
            1 => 1,
            2 => -1,
            _ => 0,
        };
        assert!((0..=1).contains(depth), "{event:?}");
        assert_eq!(event.kind == 4, event.counter.is_some());
        assert_eq!(event.kind == 2 || event.kind == 4, event.name.is_empty());
    }
    assert!(depth.values().all(|&depth| depth == 0));
}

#[test]
fn every_flow_goes_from_a_sender_to_a_receiver() {
    let opened = opened();
    let sources =
        opened.events.iter().flat_map(|event| event.out.iter().map(move |id| (id, event)));
    let targets =
        opened.events.iter().flat_map(|event| event.into.iter().map(move |id| (id, event)));
    let targets: HashMap<&u64, &Event> = targets.collect();
    let mut seen = HashSet::new();
    let (mut messages, mut donations) = (0, 0);
    for (id, source) in sources {
        assert!(seen.insert(id), "a flow begins once");
        let target = targets[id];
        assert!(source.ns <= target.ns && source.track != target.track);
        let to = &opened.tracks[&target.track];
        messages += usize::from(source.name == format!("message to {to}"));
        donations += usize::from(source.name == format!("donates to {to}"));
    }
    assert_eq!((messages, donations, seen.len(), targets.len()), (12, 6, 18, 18));
}

#[test]
fn the_cpu_shows_sections_switches_and_instants() {
    let opened = opened();
    let cpu = opened.on("CPU 0");
    let named = |name: &str| cpu.iter().filter(|event| event.name == name).collect::<Vec<_>>();
    for (name, count) in [("call", 6), ("reply-wait", 6), ("timer", 2), ("IRQ 4", 1), ("fault", 1)]
    {
        assert_eq!(named(name).len(), count, "{name}");
    }
    assert!(named("timer").iter().all(|event| event.kind == 1));
    assert_eq!(named("timer")[0].arguments["thread"], "ping-client/1");
    let switch = &named("switch")[1].arguments;
    let shown = ["cpu", "prio", "from", "to"].map(|name| switch[name].as_str());
    assert_eq!(shown, ["0", "90", "ping-server/2", "ping-server/1"]);
    assert_eq!(named("switch").last().unwrap().arguments["prio"], "-1");
    assert_eq!((named("lazy dequeue").len(), named("tick").len()), (1, 1));
    assert_eq!(named("preemption point: lazy dequeue").len(), 1);
}

#[test]
fn threads_show_states_marks_and_faults() {
    let opened = opened();
    let client = opened.on("ping-client/1");
    let count = |name: &str| client.iter().filter(|event| event.name == name).count();
    assert_eq!((count("blocked: calling"), count("fault")), (6, 1));
    assert_eq!(client.iter().rfind(|event| event.kind == 1).unwrap().name, "blocked: sending");
    let running = client.iter().find(|event| event.name == "running").unwrap();
    assert_eq!(
        (running.arguments["cpu"].as_str(), running.arguments["prio"].as_str()),
        ("0", "100")
    );
    let mark =
        opened.on("ping-server/2").into_iter().find(|event| event.name == "mark 42").unwrap();
    assert_eq!((mark.kind, mark.arguments["value"].as_str()), (3, "42"));
}

#[test]
fn counters_follow_the_queues_and_the_losses() {
    let values = |opened: &Opened, track: &str| -> Vec<i64> {
        opened.on(track).iter().filter_map(|event| event.counter).collect()
    };
    let whole = opened();
    assert_eq!(values(&whole, "CPU 0 ready queue"), [2, 0]);
    assert_eq!(values(&whole, "endpoint 5 senders"), [1]);
    assert_eq!(values(&whole, "CPU 0 lost records"), [0, 0]);
    let maker = conversation();
    let lost = maker.records.len() as i64 - 30;
    for (keep, expected) in [(Keep::First, [0, lost]), (Keep::Last, [lost, lost])] {
        let trace = Trace::decode(&maker.bytes(keep, 30)).unwrap();
        let opened = Opened::open(&perfetto(&trace, &Names::default()));
        assert_eq!(values(&opened, "CPU 0 lost records"), expected);
        let name = format!("{lost} records lost");
        let said = opened.on("CPU 0").into_iter().filter(|event| event.name == name).count();
        assert_eq!(said, 1);
    }
}

#[test]
fn domains_that_programs_make_are_processes_with_their_names() {
    let trace = made().trace();
    let opened = Opened::open(&perfetto(&trace, &Names::of(["ping-client", "ping-server"])));
    for (thread, domain) in
        [("ping-client/pump/tick", "ping-client/pump"), ("ping-client/fan/1", "ping-client/fan")]
    {
        let track = opened.tracks.iter().find(|(_, name)| *name == thread).unwrap().0;
        assert_eq!(opened.tracks[&opened.parents[track]], domain);
        let failed: Vec<_> = opened.on(thread).into_iter().filter(|e| e.name == "failed").collect();
        assert_eq!((failed.len(), failed[0].arguments["error"].as_str()), (1, "Stale"));
    }
}

#[test]
fn arrows_lead_to_the_holder_of_a_mutex_and_back() {
    let opened = Opened::open(&perfetto(&inversion().trace(), &Names::of(["robot"])));
    let named = |name: &str| {
        let mut found = opened.events.iter().filter(|event| event.name == name);
        found.next().unwrap_or_else(|| panic!("no {name}"))
    };
    let of = |event: &Event| opened.tracks[&event.track].clone();
    let end = |event: &Event| {
        let [flow] = event.out[..] else { panic!("one arrow from {}", event.name) };
        let mut ends = opened.events.iter().filter(|other| other.into.contains(&flow));
        let end = ends.next().expect("it ends");
        (of(end), end.name.clone(), end.ns > event.ns)
    };
    let mutex = "mutex 0x80000040";
    let wait = named(&format!("waits for {mutex}"));
    assert_eq!((of(wait).as_str(), wait.arguments["of"].as_str()), ("robot/1", "robot/3"));
    assert_eq!(end(wait), ("robot/3".to_string(), "running".to_string(), true));
    let hands = named("ends the wait of robot/1");
    assert_eq!(of(hands), "robot/3");
    assert_eq!(end(hands), ("robot/1".to_string(), "running".to_string(), true));
    assert_eq!(of(named(&format!("blocked: {mutex}"))), "robot/1");
    assert_eq!(named("priority").arguments["of"], "robot/1");
}
