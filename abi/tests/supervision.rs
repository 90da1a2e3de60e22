//! What the laboratory writes for the supervisor is what it reads, and nothing else is read.

mod random;

use abi::Kind;
use abi::supervision::{
    Child, ENTRIES, Entry, Event, Grant, Inventory, JOURNAL_SILENT, MAGIC, MOST_CHILDREN, Map,
    Owned, Reason, Silence,
};
use random::Random;

fn even(random: &mut Random) -> bool {
    random.below(2) == 0
}

fn slot(random: &mut Random) -> u32 {
    1 + random.below(60) as u32
}

type Family = Vec<(Child, Vec<Map>, Vec<Grant>)>;

fn family(random: &mut Random) -> Family {
    let count = random.next() as usize % (MOST_CHILDREN + 1);
    (0..count).map(|nth| member(random, nth)).collect()
}

fn member(random: &mut Random, nth: usize) -> (Child, Vec<Map>, Vec<Grant>) {
    let maps: Vec<Map> = (0..random.next() % 4)
        .map(|_| Map {
            memory: even(random).then(|| slot(random)),
            first: random.next(),
            pages: random.next() % 512,
            address: random.next(),
            rights: random.next() as u8,
            contents: 0,
            bytes: random.next() % 16,
        })
        .collect();
    let grant = |random: &mut Random| Grant { from: slot(random), to: 2, rights: 3 };
    let grants: Vec<Grant> = (0..random.next() % 5).map(|_| grant(random)).collect();
    let child = Child {
        name: [random.next(), random.next()],
        priority: random.next() % 256,
        max_priority: 255,
        slots: 64,
        cpus: random.next(),
        cpu: 3,
        quotas: std::array::from_fn(|_| random.next() as u16),
        entry: random.next(),
        stack: random.next(),
        argument: random.next(),
        buffer: random.next(),
        fresh_pages: random.next() % 513,
        faults: slot(random),
        told: even(random).then(|| slot(random)),
        reservation: even(random).then(|| slot(random)),
        always: even(random),
        at_most: random.next() % 17,
        within: random.next(),
        heartbeat: even(random).then(|| 1 + random.next()),
        depends: random.next() as u32 & ((1u64 << nth) - 1) as u32,
        maps: maps.len(),
        grants: grants.len(),
    };
    (child, maps, grants)
}

/// Some objects of the kinds that can begin anew.
fn owned(random: &mut Random) -> Vec<Owned> {
    let kinds = [Kind::Timer, Kind::Notification, Kind::Interrupt];
    let one = |random: &mut Random| {
        let (slot, holders) = (slot(random), random.next() as u32);
        Owned { kind: kinds[random.next() as usize % 3], slot, holders }
    };
    (0..random.next() % 4).map(|_| one(random)).collect()
}

fn words(owned: &[Owned], family: &Family) -> Vec<u64> {
    let mut words = vec![MAGIC, family.len() as u64, owned.len() as u64];
    owned.iter().for_each(|owned| words.extend(owned.to_words()));
    for (child, maps, grants) in family {
        words.extend(child.to_words());
        maps.iter().for_each(|map| words.extend(map.to_words()));
        grants.iter().for_each(|grant| words.extend(grant.to_words()));
    }
    words
}

#[test]
fn inventories_come_back_and_cut_ones_are_refused() {
    let mut random = Random(1);
    for _ in 0..200 {
        let family = family(&mut random);
        let owned = owned(&mut random);
        let words = words(&owned, &family);
        let inventory = Inventory::open(&words[..]).expect("it is whole");
        let back: Family = inventory
            .children()
            .map(|it| (it.1, inventory.maps(&it).collect(), inventory.grants(&it).collect()))
            .collect();
        assert_eq!(back, family);
        assert_eq!(inventory.owned().collect::<Vec<_>>(), owned);
        for end in 0..words.len() {
            assert!(Inventory::open(&words[..end]).is_none(), "cut at {end}");
        }
    }
}

#[test]
fn what_no_supervisor_can_follow_is_refused() {
    let mut random = Random(7);
    let (child, maps, grants) = member(&mut random, 0);
    let opens = |child: Child, maps: &[Map]| {
        let words = words(&[], &vec![(child, maps.to_vec(), grants.clone())]);
        Inventory::open(&words[..]).is_some()
    };
    assert!(opens(child, &maps));
    assert!(!opens(Child { depends: 1, ..child }, &maps), "on itself");
    assert!(!opens(Child { at_most: 17, ..child }, &maps));
    let far = Map { contents: u64::MAX / 16, bytes: 8, ..random_map(&mut random) };
    assert!(!opens(Child { maps: 1, ..child }, &[far]), "contents behind the end");
    let other = [MAGIC + 1, 0, 0];
    assert!(Inventory::open(&other[..]).is_none());
    let many = [MAGIC, MOST_CHILDREN as u64 + 1, 0];
    assert!(Inventory::open(&many[..]).is_none());
    let thread = [MAGIC, 0, 1, Kind::Thread as u64, 1, 1];
    assert!(Inventory::open(&thread[..]).is_none(), "a thread does not begin anew so");
    assert!(Inventory::open(&[MAGIC, 0, u64::MAX][..]).is_none());
}

fn random_map(random: &mut Random) -> Map {
    let (first, pages, address) = (random.next(), 1, random.next());
    Map { memory: None, first, pages, address, rights: 3, contents: 0, bytes: 0 }
}

#[test]
fn journal_entries_come_back() {
    let events = [Event::Restarted, Event::GivenUp, Event::NotMade];
    let reasons = [
        Reason::Fault,
        Reason::Silent,
        Reason::Ended,
        Reason::Asked,
        Reason::Making,
        Reason::Overran,
        Reason::Missed,
    ];
    for (event, reason) in events.into_iter().flat_map(|event| reasons.map(|why| (event, why))) {
        let (child, kind) = (MOST_CHILDREN as u32 - 1, 5);
        let entry = Entry { child, event, reason, kind, detail: 1 << 63, at: 2, seen: 3, done: 4 };
        assert_eq!(Entry::from_words(entry.to_words()), Some(entry));
    }
    for wrong in [0, 0x100, 0x001, 0x801, 0x104] {
        assert_eq!(Entry::from_words([wrong, 0, 0, 0, 0, 0]), None, "{wrong:#x}");
    }
    let last = Entry::place(ENTRIES as u64 - 1) + Entry::WORDS;
    assert_eq!((last, Entry::place(ENTRIES as u64)), (JOURNAL_SILENT, Entry::place(0)));
    let silence = Silence { seen: 7, by: [1, 2] };
    assert_eq!(Silence::from_words(silence.to_words()), Some(silence));
    assert_eq!(Silence::from_words([0, 1, 2]), None, "it was not noticed");
}
