//! A reader of archives that trusts nothing.

use std::collections::{BTreeMap, BTreeSet};

use abi::boot::{self, ALL_CPUS, HEADER_WORDS, Record};
use abi::object::Resource;
use abi::reservation::{Budget, Policy, Share, WINDOWS};
use abi::{PAGE, Rights, USER_TOP};
use manifest::System;

/// Where a domain's quotas begin in its record.
pub const QUOTAS: usize = 5;

/// An archive taken apart.
pub struct Decoded {
    bytes: Vec<u8>,
    pub header: Vec<u64>,
    /// Each record's code, fields, and byte offset in the archive.
    pub records: Vec<(Record, Vec<u64>, usize)>,
}

impl Decoded {
    /// Takes an archive apart; panics if it is malformed.
    pub fn read(bytes: &[u8]) -> Decoded {
        let word = |index: usize| {
            let bytes = bytes[index * 8..index * 8 + 8].try_into().expect("a word has 8 bytes");
            u64::from_le_bytes(bytes)
        };
        let header: Vec<u64> = (0..HEADER_WORDS).map(word).collect();
        assert_eq!(header[boot::WORD_MAGIC], boot::MAGIC);
        let mut records = Vec::new();
        let mut at = HEADER_WORDS;
        for _ in 0..header[boot::WORD_RECORDS] {
            let head = word(at);
            let record = Record::from_code(head as u32).expect("a known record");
            let words = (head >> 32) as usize;
            assert_eq!(words, record.words(), "length of {record:?}");
            records.push((record, (at + 1..at + words).map(word).collect(), at * 8));
            at += words;
        }
        Decoded { bytes: bytes.to_vec(), header, records }
    }

    /// The fields of all records of one kind.
    pub fn fields(&self, record: Record) -> Vec<&[u64]> {
        self.of(record).map(|(_, fields, _)| fields.as_slice()).collect()
    }

    /// The fields of the record that made a memory, RAM or a device's; their first two are alike.
    fn memory(&self, object: u64) -> &[u64] {
        let mut made = self.records.iter().filter(|(record, ..)| creates(*record));
        let (record, fields, _) = made.nth(object as usize).expect("there is one");
        assert!(matches!(record, Record::Memory | Record::Device), "{record:?}");
        fields
    }

    /// Byte offset of one record.
    pub fn offset(&self, record: Record, index: usize) -> usize {
        self.of(record).nth(index).expect("there is one").2
    }

    fn of(&self, record: Record) -> impl Iterator<Item = &(Record, Vec<u64>, usize)> {
        self.records.iter().filter(move |(other, ..)| *other == record)
    }

    /// Number of the first object of one kind.
    pub fn first(&self, record: Record) -> u64 {
        self.kinds().iter().position(|other| *other == record).expect("there is one") as u64
    }

    /// What a domain reads from the mapping at an address.
    pub fn read_memory(&self, domain: u64, address: u64) -> Vec<u8> {
        let maps = self.fields(Record::Map);
        let map = maps.iter().find(|map| map[0] == domain && map[3] == address).expect("a map");
        let memory = self.memory(map[1]);
        let (offset, length) = (memory[2] as usize, memory[3] as usize);
        let mut contents = self.bytes[offset..offset + length].to_vec();
        contents.resize((memory[1] * PAGE) as usize, 0);
        contents
    }

    /// A byte of the memory that a record makes.
    pub fn byte(&self, memory: &[u64], at: u64) -> u8 {
        let (offset, length) = (memory[2], memory[3]);
        if at < length { self.bytes[(offset + at) as usize] } else { 0 }
    }

    /// A domain's environment text.
    pub fn environment(&self, domain: u64) -> String {
        let bytes = self.read_memory(domain, manifest::ENVIRONMENT);
        let end = bytes.iter().position(|byte| *byte == 0).expect("the text ends");
        String::from_utf8(bytes[..end].to_vec()).expect("it is text")
    }

    /// Goes through the archive as a kernel would and compares it with what it was made of.
    pub fn check(&self, system: &System) {
        self.check_references(system);
        self.check_memory();
        self.check_mappings(system);
        self.check_pools(system);
        self.check_slots(system);
    }

    /// The record that created each object.
    fn kinds(&self) -> Vec<Record> {
        self.records.iter().map(|(record, ..)| *record).filter(|record| creates(*record)).collect()
    }

    /// Every object that a record names was created before it and is of the right kind.
    fn check_references(&self, system: &System) {
        let mut made: Vec<Record> = Vec::new();
        for (record, fields, _) in &self.records {
            let expect = |object: u64, kind| {
                assert_eq!(made.get(object as usize), Some(&kind), "{record:?} {fields:?}");
            };
            let field = |index| (fields[index] != boot::NONE).then_some(fields[index]);
            match record {
                Record::Endpoint => {
                    field(1).into_iter().for_each(|object| expect(object, Record::Notification));
                }
                Record::Interrupt => expect(fields[2], Record::Notification),
                Record::Timer => expect(fields[1], Record::Notification),
                Record::Thread => {
                    expect(fields[0], Record::Domain);
                    field(6).into_iter().for_each(|object| expect(object, Record::Endpoint));
                }
                Record::Map => {
                    expect(fields[0], Record::Domain);
                    self.memory(fields[1]);
                }
                Record::Capability => expect(fields[0], Record::Domain),
                Record::Trace | Record::Accounts => expect(fields[0], Record::Memory),
                Record::Reservation => {
                    let class = made.get(fields[1] as usize);
                    assert!(matches!(class, Some(Record::Root | Record::Reservation)));
                    check_reservation(fields);
                }
                Record::Window => expect(fields[0], Record::Reservation),
                Record::Monitor => {
                    expect(fields[0], Record::Reservation);
                    expect(fields[1], Record::Notification);
                }
                Record::Background => {
                    expect(fields[0], Record::Reservation);
                    assert!(fields[1] <= 1 && fields[2] <= 1 && fields[1] + fields[2] > 0);
                }
                Record::Reserve => {
                    expect(fields[1], Record::Reservation);
                    let threads = made.iter().filter(|kind| **kind == Record::Thread).count();
                    if made.get(fields[0] as usize) == Some(&Record::Domain) {
                        assert_eq!(threads as u64, fields[0], "right before the domain's thread");
                    } else {
                        expect(fields[0], Record::Thread);
                        let is_maker = system.supervisor == Some(threads - 1);
                        assert!(is_maker, "all others run on what their domains run on");
                    }
                }
                Record::Root => assert!(fields[0] < 64 || fields[0] == u64::from(ALL_CPUS)),
                Record::Pools => assert!(made.is_empty(), "the pools come first"),
                Record::Domain | Record::Notification | Record::Memory | Record::Device => {}
                Record::Ports => {}
            }
            if creates(*record) {
                made.push(*record);
            }
        }
        let count = |record| made.iter().filter(|kind| **kind == record).count();
        assert_eq!(count(Record::Domain), system.booted().len());
        assert_eq!(count(Record::Thread), system.booted().len());
        assert_eq!(count(Record::Endpoint), system.endpoints.len());
        assert_eq!(count(Record::Notification), system.notifications.len());
        assert_eq!(count(Record::Interrupt), system.interrupts.len());
        assert_eq!(count(Record::Timer), system.timers.len());
        assert_eq!(count(Record::Root), system.roots().len());
        assert_eq!(count(Record::Reservation), system.reservations.len());
        self.check_windows(system);
    }

    /// The windows of each class of time partitions follow each other to the end of its frame.
    fn check_windows(&self, system: &System) {
        let first = self.kinds().iter().position(|kind| *kind == Record::Reservation);
        for (index, reservation) in system.reservations.iter().enumerate() {
            let class = first.expect("there are reservations") as u64 + index as u64;
            let windows = self.fields(Record::Window);
            let own: Vec<_> = windows.iter().filter(|window| window[0] == class).collect();
            let ends: Vec<u64> = own.iter().map(|window| window[1]).collect();
            assert!(ends.is_sorted_by(|a, b| a < b) && ends.len() <= WINDOWS);
            let is_framed = reservation.policy == Some(Policy::Partitions);
            assert_eq!(is_framed, !own.is_empty(), "{}", reservation.name);
        }
    }

    /// Initial contents begin on pages of the archive, behind the records, apart.
    fn check_memory(&self) {
        let (_, last_fields, last_offset) = self.records.last().expect("there are records");
        let mut free = last_offset + (1 + last_fields.len()) * 8;
        for memory in self.fields(Record::Memory) {
            let [owner, pages, offset, length, address] = memory[..] else { unreachable!() };
            assert_eq!(owner, boot::NO_OWNER);
            assert!(pages > 0 && length <= pages * PAGE);
            assert_eq!(address, 0, "the kernel fills the address in");
            if length > 0 {
                assert!(offset.is_multiple_of(PAGE) && offset as usize >= free);
                free = (offset + length) as usize;
                assert!(free <= self.bytes.len());
            }
        }
    }

    /// Mappings are aligned, in user space, within their memory, apart, never both writable and
    /// executable, with free pages around buffers, stacks and shared memory.
    fn check_mappings(&self, system: &System) {
        for (index, domain) in system.booted().iter().enumerate() {
            let mut ranges = BTreeMap::new();
            for map in self.fields(Record::Map).iter().filter(|map| map[0] == index as u64) {
                let [_, memory, page, address, pages, rights] = map[..] else { unreachable!() };
                assert!(page + pages <= self.memory(memory)[1]);
                assert!(address.is_multiple_of(PAGE) && address + pages * PAGE <= USER_TOP);
                let rights = Rights(rights as u8);
                assert!(rights.contains(Rights::READ));
                assert!(!rights.contains(Rights::WRITE.or(Rights::EXECUTE)));
                assert_eq!(ranges.insert(address, address + pages * PAGE), None);
            }
            for thread in 0..u64::from(domain.threads) {
                let buffer = manifest::BUFFERS + thread * manifest::BUFFER_STRIDE;
                assert_eq!(ranges.insert(buffer, buffer + PAGE), None);
                let top = manifest::STACKS - thread * (domain.stack + PAGE);
                assert_eq!(ranges.get(&(top - domain.stack)), Some(&top), "stack {thread}");
            }
            let mut end = 0;
            for (from, to) in ranges {
                assert!(from >= end, "{from:#x} is mapped twice");
                assert!(from < manifest::BUFFERS || from > end, "a free page below {from:#x}");
                end = to;
            }
        }
    }

    /// What has no owner and all quotas together fit into the pools, and each domain's quota
    /// covers what boot charges to it.
    fn check_pools(&self, system: &System) {
        let pools = self.fields(Record::Pools)[0];
        let mut taken = [0; Resource::COUNT];
        for (resource, record) in [
            (Resource::Domains, Record::Domain),
            (Resource::Endpoints, Record::Endpoint),
            (Resource::Notifications, Record::Notification),
            (Resource::Interrupts, Record::Interrupt),
            (Resource::Timers, Record::Timer),
            (Resource::Memories, Record::Memory),
            (Resource::Mappings, Record::Map),
            (Resource::Reservations, Record::Reservation),
        ] {
            taken[resource as usize] = self.fields(record).len() as u64;
        }
        for memories in [Record::Device, Record::Ports] {
            taken[Resource::Memories as usize] += self.fields(memories).len() as u64;
        }
        for (index, domain) in self.fields(Record::Domain).iter().enumerate() {
            let wanted = system.domains[index].quota;
            let own =
                |resource: Resource| domain[QUOTAS + resource as usize] - wanted[resource as usize];
            assert!(own(Resource::Slots) >= domain[3]);
            assert!(own(Resource::Threads) >= 1);
            assert!(own(Resource::Tables) >= self.tables(index as u64), "tables of {index}");
            for resource in 0..Resource::COUNT {
                taken[resource] += domain[QUOTAS + resource];
            }
        }
        for resource in Resource::ALL {
            let (taken, size) = (taken[resource as usize], pools[resource as usize]);
            assert!(taken <= size, "{}: {taken} of {size}", resource.name());
            let pool = &system.pools[resource as usize];
            if pool.given_at.is_some() {
                assert_eq!(size, pool.size, "{} as the manifest gives it", resource.name());
            }
        }
    }

    /// Page-table frames that a domain's mappings and first buffer take beside the root, counted
    /// page by page.
    fn tables(&self, domain: u64) -> u64 {
        let mut pages = vec![manifest::BUFFERS];
        for map in self.fields(Record::Map).iter().filter(|map| map[0] == domain) {
            pages.extend((0..map[4]).map(|page| map[3] + page * PAGE));
        }
        let levels = |page: u64| [39, 30, 21].map(|shift| (shift, page >> shift));
        pages.into_iter().flat_map(levels).collect::<BTreeSet<_>>().len() as u64
    }

    /// Capabilities lie in their tables, one to a slot, name existing objects and have rights.
    fn check_slots(&self, system: &System) {
        let tables = self.fields(Record::Domain);
        let objects = self.kinds().len() as u64;
        let mut filled = BTreeSet::new();
        for cap in self.fields(Record::Capability) {
            let [domain, slot, object, rights, badge] = cap[..] else { unreachable!() };
            assert!(slot >= 1 && slot < tables[domain as usize][3]);
            assert!(filled.insert((domain, slot)), "slot {slot} is filled twice");
            assert!(object < objects || object == boot::CONSOLE || object == boot::SYSTEM);
            assert!(rights != 0 && rights <= u64::from(Rights::ALL.or(Rights::PHYSICAL).0));
            let expected = &system.domains[domain as usize].caps[slot as usize - 1];
            assert_eq!((rights, badge), (u64::from(expected.rights.0), expected.badge));
        }
        let expected: usize = system.booted().iter().map(|domain| domain.caps.len()).sum();
        assert_eq!(filled.len(), expected);
    }
}

/// Whether a record makes an object.
fn creates(record: Record) -> bool {
    let makes_none = [
        Record::Pools,
        Record::Background,
        Record::Map,
        Record::Capability,
        Record::Trace,
        Record::Window,
        Record::Reserve,
        Record::Monitor,
        Record::Accounts,
    ];
    !makes_none.contains(&record)
}

/// The words of a reservation mean something.
fn check_reservation(fields: &[u64]) {
    assert_eq!(fields[0], boot::NO_OWNER);
    assert!(Policy::from_code(fields[2]).is_some() || fields[2] == 0);
    let words = fields[4..8].try_into().expect("four words");
    assert!(Share::decode(fields[3], words).is_some());
    let limit = Budget::decode([fields[8], fields[9], fields[10], 0]);
    assert!(limit.is_ok_and(|limit| limit.is_none_or(|it| it.budget <= it.period)));
}
