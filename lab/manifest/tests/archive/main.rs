//! Reads archives back, record by record, and holds them against the system they were made of.

mod children;
mod decoder;
#[path = "../support/mod.rs"]
mod support;

use abi::PAGE;
use abi::adaptive::{Adaptive, PREFIX};
use abi::boot::{self, Record};
use abi::env;
use abi::object::Resource;
use abi::reservation::{Budget, Server};
use decoder::Decoded;
use manifest::{System, Target, pack};
use proptest::prelude::*;
use support::Invented;

const NONCE: u64 = 0x1234_5678_9abc_def0;

fn rich() -> System {
    manifest::parse("rich.toml", support::RICH).expect("the rich manifest is right")
}

fn decode(system: &System) -> (manifest::Archive, Decoded) {
    let archive = pack(system, &support::program, NONCE).expect("it packs");
    let decoded = Decoded::read(&archive.bytes);
    (archive, decoded)
}

#[test]
fn the_header_says_what_follows() {
    let (archive, decoded) = decode(&rich());
    assert_eq!(decoded.header[boot::WORD_MAGIC], boot::MAGIC);
    assert_eq!(decoded.header[boot::WORD_BYTES], archive.bytes.len() as u64);
    assert_eq!(decoded.header[boot::WORD_RECORDS], decoded.records.len() as u64);
    assert_eq!(decoded.header[boot::WORD_TICK], 500_000);
    assert_eq!(decoded.header[boot::WORD_SLICE], 10);
    assert_eq!(decoded.header[boot::WORD_NONCE], NONCE);
    assert!(archive.bytes.len().is_multiple_of(PAGE as usize));
    assert_eq!(decoded.records[0].0, Record::Pools);
}

#[test]
fn every_project_system_packs_into_a_sound_archive() {
    for path in support::systems() {
        let system = manifest::load(&path).unwrap_or_else(|problem| panic!("{problem}"));
        let (_, decoded) = decode(&system);
        decoded.check(&system);
    }
}

#[test]
fn the_rich_system_packs_into_a_sound_archive() {
    let system = rich();
    let (_, decoded) = decode(&system);
    decoded.check(&system);
}

#[test]
fn domains_and_threads_are_as_the_manifest_says() {
    let (_, decoded) = decode(&rich());
    let server = decoded.fields(Record::Domain)[0];
    assert_eq!(&boot::name_bytes([server[0], server[1]]), b"server\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(server[2..decoder::QUOTAS], [120, 16, u64::MAX]);
    let quota = |resource: Resource| server[decoder::QUOTAS + resource as usize];
    assert_eq!(quota(Resource::Threads), 2 + 1);
    assert_eq!(quota(Resource::Slots), 32 + 16);
    assert_eq!(quota(Resource::Frames), 16);
    // One table for the low 512 GB, one for each gigabyte in use (0, 1, 4), one for each region of
    // 2 MB of program, environment, buffers, stacks and two maps, which touch three, and four to
    // spare.
    assert_eq!(quota(Resource::Tables), 1 + 3 + (4 + 3) + 4);
    let threads = decoded.fields(Record::Thread);
    let faults = decoded.first(Record::Endpoint) + 1;
    let expected =
        [0, 100, support::ENTRY, manifest::STACKS, manifest::ENVIRONMENT, manifest::BUFFERS];
    assert_eq!(threads[0][..6], expected);
    assert_eq!(threads[0][6..], [faults, 3, 0]);
    assert_eq!(threads[1][6..], [boot::NONE, 0, 0]);
}

#[test]
fn programs_find_their_environment() {
    let system = rich();
    let (_, decoded) = decode(&system);
    let text = decoded.environment(0);
    let get = |key: &str| env::get(&text, key);
    assert_eq!(get("name"), Some("server"));
    assert_eq!(env::get_in(&text, "cap.", "peer"), Some("1"));
    assert_eq!(env::get_in(&text, "cap.", "alarm"), Some("9"));
    assert_eq!(env::get_in(&text, "arg.", "greeting"), Some("good day"));
    assert_eq!(env::get_in(&text, "arg.", "rounds"), Some("1000"));
    assert_eq!(env::get_in(&text, "arg.", "loud"), Some("true"));
    let recording = env::pair(get("mem.recording").unwrap(), 16);
    assert_eq!(recording, Some((manifest::MAPS, 4 << 20)));
    let shared = env::pair(get("mem.shared").unwrap(), 16);
    assert_eq!(shared, Some((manifest::MAPS + (4 << 20) + PAGE, 12 << 10)));
    assert_eq!(get("slots"), Some("12:16"));
    assert_eq!(get("threads"), Some("3"));
    let row = |key: &str| env::pair(get(key).expect("it is laid out"), 16);
    assert_eq!(row("stacks"), Some((manifest::STACKS, (32 << 10) + PAGE)));
    assert_eq!(row("buffers"), Some((manifest::BUFFERS, manifest::BUFFER_STRIDE)));
}

#[test]
fn program_segments_arrive_byte_for_byte() {
    let (_, decoded) = decode(&rich());
    for domain in 0..2 {
        for load in support::segments() {
            let mut memory = decoded.read_memory(domain, load.address);
            assert_eq!(memory.len() as u64, load.memory.next_multiple_of(PAGE));
            let rest = memory.split_off(load.data.len());
            assert_eq!(memory, load.data);
            assert!(rest.iter().all(|byte| *byte == 0), "what follows is zero");
        }
    }
}

#[test]
fn capabilities_name_the_right_objects() {
    let system = rich();
    let (_, decoded) = decode(&system);
    let kinds: Vec<_> = decoded.fields(Record::Capability).iter().map(|cap| cap[2]).collect();
    let first = |record| decoded.first(record);
    let expected = [
        first(Record::Endpoint),
        boot::CONSOLE,
        boot::SYSTEM,
        1,
        first(Record::Thread) + 1,
        first(Record::Memory),
        first(Record::Notification),
        first(Record::Interrupt),
        first(Record::Timer),
        first(Record::Root),
        first(Record::Reservation) + 1,
        first(Record::Endpoint),
        first(Record::Endpoint) + 1,
    ];
    assert_eq!(kinds, expected);
    assert_eq!(system.domains[0].caps[3].target, Target::Domain(1));
}

#[test]
fn reservations_follow_their_classes() {
    let system = rich();
    let (_, decoded) = decode(&system);
    let names: Vec<&str> = system.reservations.iter().map(|one| one.name.as_str()).collect();
    let expected =
        ["flight", "frames", "control", "vision", "rest", "camera", "pictures", "sounds", "guest"];
    assert_eq!(names, expected);
    assert_eq!(decoded.fields(Record::Root), [[0, 256], [1, 256]]);
    let (root, first) = (decoded.first(Record::Root), decoded.first(Record::Reservation));
    let all = decoded.fields(Record::Reservation);
    let owner = boot::NO_OWNER;
    let ms = 1_000_000;
    let curve = |slope: u64, rest: u64| slope << 32 | rest;
    let flight = [owner, root, 2, 1, 300, 0, 0, 0, 1, 3 * ms, 10 * ms, 0, 0];
    let frames = [owner, root + 1, 4, 1, 256, 0, 0, 0, 0, 0, 0, 0, 0];
    let control = [owner, first, 0, 2, 0, 0, 0, 0, 4, ms, 5 * ms, 4 * ms, 5 * ms];
    let vision = [owner, first + 1, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    let rest = [owner, first + 1, 3, 5, 0, 7, 0, 0, 0, 0, 0, 0, 0];
    let camera = [owner, first + 1, 0, 5, 2, 0, 0, 0, 0, 0, 0, 0, 0];
    let bent = [curve(500_000, 205_000), 10 * ms, curve(300_000, 300_000), 0];
    let pictures = [&[owner, first + 4, 0, 3][..], &bent, &[0; 5]].concat();
    let share = [0, 0, curve(100_000, 100_000), 0];
    let sounds = [&[owner, first + 4, 0, 4][..], &share, &[0; 5]].concat();
    let expected: [&[u64]; 8] =
        [&flight, &frames, &control, &vision, &rest, &camera, &pictures, &sounds];
    assert_eq!(all[..8], expected);
    let windows: Vec<_> = decoded.fields(Record::Window).iter().map(|it| it.to_vec()).collect();
    let ends = [(5, 1), (7, 2), (12, 0), (15, 1), (20, 0)];
    assert_eq!(windows, ends.map(|(end, partition)| vec![first + 1, end * ms, partition]));
    let used = decoded.fields(Record::Reserve);
    assert_eq!(used, [[0, first + 2], [2, first + 5]]);
}

#[test]
fn the_host_finds_shared_memory() {
    let system = rich();
    let (archive, decoded) = decode(&system);
    let names: Vec<_> =
        archive.memories.iter().map(|memory| (memory.name.as_str(), memory.host)).collect();
    assert_eq!(names, [("recording", true), ("shared", false), ("shaft", false), ("pins", false)]);
    for (index, memory) in archive.memories.iter().enumerate() {
        let record = decoded.fields(Record::Memory)[index];
        assert_eq!(memory.bytes, record[1] * PAGE);
        assert_eq!(memory.address_offset, decoded.offset(Record::Memory, index) + 5 * 8);
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let [one, two] = [1, 1].map(|nonce| pack(&rich(), &support::program, nonce).unwrap().bytes);
    assert_eq!(one, two);
    let other = pack(&rich(), &support::program, 2).unwrap().bytes;
    let different = one.iter().zip(&other).filter(|(a, b)| a != b).count();
    assert_eq!(different, 1, "only the nonce differs");
}

fn invented() -> impl Strategy<Value = Invented> {
    (1u32..20, 1u64..40, 0u8..200, 0u64..30).prop_map(|(threads, stack_pages, priority, quota)| {
        Invented { threads, stack_pages, priority, quota }
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn any_small_system_packs_into_a_sound_archive(
        domains in prop::collection::vec(invented(), 1..6),
        memories in prop::collection::vec(1u64..2000, 0..5),
        wiring in prop::collection::vec(any::<u8>(), 32),
    ) {
        let text = support::invent(&domains, &memories, &wiring);
        let system = manifest::parse("invented.toml", &text).unwrap_or_else(|problem| {
            panic!("{problem}\n{text}")
        });
        let (_, decoded) = decode(&system);
        decoded.check(&system);
    }
}

#[test]
fn a_controller_is_told_of_its_reservations() {
    let path = support::systems().into_iter().find(|path| path.ends_with("adaptive-budgets.toml"));
    let system = manifest::load(&path.expect("it is a system")).expect("it is right");
    let (_, decoded) = decode(&system);
    let place = |name| {
        let place = system.domains.iter().position(|it| it.name == name);
        place.expect("it is there") as u64
    };
    let text = decoded.environment(place("controller"));
    let told = env::get_in(&text, PREFIX, "s3").and_then(Adaptive::parse).expect("it is told");
    let limit = Budget::new(Server::Periodic, 2_670_000, 20_000_000);
    assert_eq!((told.limit, told.least, told.importance), (limit, 2_670_000, 3));
    assert_eq!((told.every, told.history, told.taken), (5, 16, 0));
    let of = |name| {
        let told = env::get_in(&text, PREFIX, name).and_then(Adaptive::parse);
        told.expect("it is told")
    };
    let class = of("soft");
    // The hard server has 39 % of the CPU, and the controller 1 %.
    assert_eq!((class.supply, class.taken, class.limit.budget), (600_000, 0, 6_000_000));
    // By default it keeps what those in it keep: 13.35, 12.36 and 11.98 %, in whole microseconds.
    assert_eq!((class.least, told.supply), (3_769_000, 376_900));
    assert_eq!(["s3", "s4", "s5"].map(|name| of(name).class), [class.number; 3]);
    assert_ne!(class.class, class.number);
    assert_eq!((of("s5").importance, of("s5").within), (1, 75_000_000));
    let of_task = decoded.environment(place("s3-player"));
    assert_eq!(env::get_in(&of_task, PREFIX, "s3"), None, "it controls nothing");
}
