//! What a supervisor is given leads to the same children as a boot of their domains would.

use super::decoder::Decoded;
use super::{decode, support};
use abi::boot::{self, Record};
use abi::object::Resource;
use abi::supervision::{Child, Grant, Inventory, Map};
use abi::{PAGE, Rights};
use manifest::{System, Target};

const PLANT: &str = r#"
[system]
name = "plant"

[[endpoint]]
name = "readings"

[[notification]]
name = "news"

[[memory]]
name = "large"
size = "3M"

[[domain]]
name = "pump"
program = "pump"
priority = 30
max_priority = 70
restart = "always"
at_most = 5
within = "2s"
depends = ["valve", "meter"]
told = { notification = "news", badge = 6 }
quota = { threads = 1, frames = 9 }
threads = 2
maps = [{ memory = "large", rights = "r" }]
caps = [{ name = "readings", endpoint = "readings", badge = 3 }]

[[domain]]
name = "panel"
program = "panel"
priority = 10
caps = [{ name = "supervisor", supervisor = true }]

[[domain]]
name = "meter"
program = "meter"
priority = 40
restart = "on-failure"
heartbeat = "20ms"
depends = ["valve"]
caps = [{ name = "panel", domain = "panel", rights = ["control"] }]

[[domain]]
name = "valve"
program = "valve"
priority = 20
restart = "on-failure"
"#;

type Family = Vec<((usize, Child), Vec<Map>, Vec<Grant>)>;

fn plant() -> System {
    manifest::parse("plant.toml", PLANT).unwrap_or_else(|problem| panic!("{problem}"))
}

/// The supervisor's inventory in an archive: its words, and what it says.
fn inventory(system: &System, decoded: &Decoded) -> (Vec<u64>, Family) {
    let supervisor = system.supervisor.expect("there is one") as u64;
    let text = decoded.environment(supervisor);
    let place = abi::env::get(&text, "mem.supervisor-inventory").expect("it is mapped");
    let (address, bytes) = abi::env::pair(place, 16).expect("two numbers");
    let memory = decoded.read_memory(supervisor, address);
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    let words: Vec<u64> = memory[..bytes as usize].chunks(8).map(word).collect();
    let inventory = Inventory::open(&words[..]).expect("it is whole");
    let all = |child| (child, inventory.maps(&child).collect(), inventory.grants(&child).collect());
    let family = inventory.children().map(all).collect();
    (words, family)
}

#[test]
fn children_come_behind_what_they_depend_on() {
    let system = plant();
    let names: Vec<&str> = system.domains.iter().map(|domain| domain.name.as_str()).collect();
    assert_eq!(names, ["panel", "supervisor", "valve", "meter", "pump"]);
    let (_, decoded) = decode(&system);
    decoded.check(&system);
    let (_, family) = inventory(&system, &decoded);
    let [(_, valve), (_, meter), (_, pump)] = [0, 1, 2].map(|nth: usize| family[nth].0);
    assert_eq!([valve.depends, meter.depends, pump.depends], [0, 0b1, 0b11]);
    assert_eq!((pump.at_most, pump.within, pump.always), (5, 2_000_000_000, true));
    assert_eq!((valve.at_most, valve.within, valve.always), (3, 1_000_000_000, false));
    assert_eq!([valve.heartbeat, meter.heartbeat], [None, Some(20_000_000)]);
    assert_eq!([pump.priority, pump.max_priority, pump.slots], [30, 70, 64]);
    assert_eq!(pump.name, boot::name_words("pump"));
    let quota = |resource: Resource| pump.quotas[resource as usize];
    assert_eq!((quota(Resource::Threads), quota(Resource::Frames)), (1, 9));
    assert!(quota(Resource::Tables) > 5);
    // Two stacks of four pages, and three pages of data.
    assert_eq!(pump.fresh_pages, 2 * 4 + 3);
    assert_eq!(system.domains[1].priority, 71, "above all that it makes");
}

#[test]
fn capabilities_are_handed_on_without_what_could_end_their_objects() {
    let system = plant();
    let (_, decoded) = decode(&system);
    let (_, family) = inventory(&system, &decoded);
    let supervisor = &system.domains[1];
    for ((_, _, grants), domain) in family.iter().zip(system.children()) {
        assert_eq!(grants.len(), domain.caps.len());
        for (grant, cap) in grants.iter().zip(&domain.caps) {
            let held = &supervisor.caps[grant.from as usize - 1];
            assert_eq!((held.target, held.badge), (cap.target, cap.badge));
            assert!(held.rights.contains(cap.rights.or(Rights::COPY)));
            assert_eq!(Rights(grant.rights), cap.rights);
            assert_eq!(cap.rights.and(Rights::REVOKE.or(Rights::DESTROY)), Rights::NONE);
        }
    }
    let told = family[2].0.1.told.expect("it is told") as usize;
    assert_eq!(supervisor.caps[told - 1].target, Target::Notification(0));
    assert_eq!(supervisor.caps[told - 1].badge, 6);
}

#[test]
fn maps_show_the_program_byte_for_byte() {
    let system = plant();
    let (_, decoded) = decode(&system);
    let (words, family) = inventory(&system, &decoded);
    let supervisor = system.supervisor.expect("there is one") as u64;
    let memories = decoded.fields(Record::Memory);
    let first = decoded.first(Record::Memory);
    for ((_, child), maps, _) in &family {
        let in_child = |address: u64| {
            let map = maps
                .iter()
                .find(|map| (map.address..map.address + map.pages * PAGE).contains(&address));
            let map = map.unwrap_or_else(|| panic!("{address:#x} is not mapped"));
            let offset = address - map.address;
            match map.memory {
                None if offset >= map.bytes => 0,
                None => words[map.contents as usize + offset as usize / 8].to_le_bytes()
                    [offset as usize % 8],
                Some(slot) => {
                    let caps = decoded.fields(Record::Capability);
                    let mut own = caps.iter().filter(|cap| cap[0] == supervisor);
                    let cap = own.find(|cap| cap[1] == u64::from(slot)).expect("a capability");
                    let memory = memories[(cap[2] - first) as usize];
                    assert!(map.first + map.pages <= memory[1]);
                    decoded.byte(memory, map.first * PAGE + offset)
                }
            }
        };
        for load in support::segments() {
            for at in 0..load.memory {
                let expected = load.data.get(at as usize).copied().unwrap_or(0);
                assert_eq!(in_child(load.address + at), expected, "{:#x}", load.address + at);
            }
        }
        assert_eq!(child.entry, support::ENTRY);
        let text: Vec<u8> =
            (manifest::ENVIRONMENT..).map(in_child).take_while(|byte| *byte != 0).collect();
        assert!(String::from_utf8(text).expect("text").contains("cap.supervisor-faults="));
        assert_eq!(in_child(manifest::STACKS - 1), 0);
        let fresh = maps.iter().filter(|map| map.memory.is_none());
        assert_eq!(fresh.map(|map| map.pages).sum::<u64>(), child.fresh_pages);
        assert!(maps.iter().all(|map| (1..=512).contains(&map.pages)));
    }
    let large = family[2].1.iter().filter(|map| map.address >= manifest::MAPS);
    let parts: Vec<(u64, u64)> = large.map(|map| (map.first, map.pages)).collect();
    assert_eq!(parts, [(0, 512), (512, 256)], "a mapping has 512 pages at most");
}

/// Objects by who holds them and makes them signal; children are `a`, `b` and `c`.
const HELD: &str = r#"
[system]
name = "held"

[[notification]]
name = "own"

[[notification]]
name = "both"

[[notification]]
name = "others"

[[notification]]
name = "served"

[[notification]]
name = "rung"

[[notification]]
name = "news"

[[endpoint]]
name = "door"
notification = "served"

[[timer]]
name = "alarm"
notification = "own"

[[timer]]
name = "bell"
notification = "rung"

[[interrupt]]
name = "line"
irq = 5
notification = "own"

[[domain]]
name = "rest"
program = "rest"
priority = 10
caps = [
    { name = "others", notification = "others" },
    { name = "door", endpoint = "door", rights = ["send"] },
    { name = "bell", timer = "bell" },
]

[[domain]]
name = "a"
program = "a"
priority = 20
restart = "on-failure"
caps = [
    { name = "own", notification = "own", rights = ["receive"] },
    { name = "both", notification = "both" },
    { name = "others", notification = "others" },
    { name = "rung", notification = "rung" },
    { name = "line", interrupt = "line" },
    { name = "alarm", timer = "alarm" },
    { name = "news", notification = "news" },
]

[[domain]]
name = "b"
program = "b"
priority = 20
restart = "on-failure"
caps = [
    { name = "both", notification = "both", rights = ["signal"] },
    { name = "door", endpoint = "door", rights = ["receive"] },
]

[[domain]]
name = "c"
program = "c"
priority = 20
restart = "on-failure"
told = { notification = "news" }
"#;

#[test]
fn what_children_alone_hold_begins_anew_and_nothing_else() {
    let system = manifest::parse("held.toml", HELD).unwrap_or_else(|problem| panic!("{problem}"));
    let supervisor = &system.domains[system.supervisor.expect("there is one")];
    let (_, decoded) = decode(&system);
    let (words, _) = inventory(&system, &decoded);
    let inventory = Inventory::open(&words[..]).expect("it is whole");
    let held = inventory.owned().map(|owned| {
        let cap = &supervisor.caps[owned.slot as usize - 1];
        assert_eq!(cap.target.kind(), owned.kind);
        (cap.name.clone(), cap.rights, owned.holders)
    });
    let expected = [
        ("timer.own.alarm", Rights::CONTROL, 0b001),
        ("notification.own.own", Rights::RECEIVE, 0b001),
        ("notification.own.both", Rights::RECEIVE, 0b011),
        // Through the endpoint; who has the right to send there does not signal it.
        ("notification.own.served", Rights::RECEIVE, 0b010),
        ("notification.own.news", Rights::RECEIVE, 0b101),
        ("interrupt.own.line", Rights::CONTROL, 0b001),
    ];
    let expected = expected.map(|(name, rights, holders)| (name.to_string(), rights, holders));
    assert_eq!(held.collect::<Vec<_>>(), expected);
}

#[test]
fn the_thread_that_watches_is_above_all_domains() {
    let above = |more: &str| {
        let text = format!("{PLANT}{more}");
        let system = manifest::parse("plant.toml", &text);
        let system = system.unwrap_or_else(|problem| panic!("{problem}"));
        let supervisor = &system.domains[system.supervisor.expect("there is one")];
        let given = supervisor.args.iter().find(|(name, _)| name == "watch_priority");
        assert_eq!(given.map(|it| it.1.clone()), Some(supervisor.max_priority.to_string()));
        assert_eq!((supervisor.priority, supervisor.threads), (71, 3));
        supervisor.max_priority
    };
    assert_eq!(above(""), 71, "also above the supervised ones");
    let hog = |priority| {
        format!("\n[[domain]]\nname = \"hog\"\nprogram = \"hog\"\npriority = {priority}\n")
    };
    assert_eq!([above(&hog(100)), above(&hog(255))], [101, 255]);
}
