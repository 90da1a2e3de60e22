//! Writes boot archives.

use abi::Rights;
use abi::boot::{
    Cache, HEADER_WORDS, MAGIC, NO_OWNER, NONE, Record, WORD_BYTES, WORD_CHAINS, WORD_CPUS,
    WORD_LAZY_DEQUEUES, WORD_MAGIC, WORD_RECORDS, WORD_SLICE, WORD_TICK, name_words,
};
use abi::object::Resource;
use abi::reservation::Share;
use std::sync::atomic::AtomicU64;

/// The tick of all test systems.
pub const TICK: u64 = 1_000_000;
/// Ticks in a time slice of all test systems.
pub const SLICE: u64 = 4;

/// Quotas or pool sizes, by resource.
pub type Amounts = [u64; Resource::COUNT];

/// Amounts from pairs; the rest is zero.
pub fn amounts(pairs: &[(Resource, u64)]) -> Amounts {
    let mut amounts = [0; Resource::COUNT];
    for (resource, amount) in pairs {
        amounts[*resource as usize] += amount;
    }
    amounts
}

/// An archive under construction. The methods return the number of the object made.
pub struct Archive {
    words: Vec<u64>,
    records: u64,
    objects: u64,
}

impl Archive {
    /// An archive with these pools.
    pub fn new(pools: &Amounts) -> Archive {
        let mut archive = Archive { words: vec![0; HEADER_WORDS], records: 0, objects: 0 };
        archive.record(Record::Pools, pools);
        archive
    }

    /// Appends a record as it is.
    pub fn record(&mut self, record: Record, fields: &[u64]) {
        assert_eq!(fields.len() + 1, record.words(), "fields of {record:?}");
        self.words.push(record.head());
        self.words.extend_from_slice(fields);
        self.records += 1;
    }

    fn object(&mut self, record: Record, fields: &[u64]) -> u64 {
        self.record(record, fields);
        self.objects += 1;
        self.objects - 1
    }

    /// A domain.
    pub fn domain(&mut self, name: &str, priority: u8, slots: u64, quotas: &Amounts) -> u64 {
        let [low, high] = name_words(name);
        let mut fields = vec![low, high, u64::from(priority), slots, u64::MAX];
        fields.extend_from_slice(quotas);
        self.object(Record::Domain, &fields)
    }

    /// A thread with its message buffer at this address.
    pub fn thread(&mut self, domain: u64, priority: u8, buffer: u64) -> u64 {
        self.handled_thread(domain, priority, buffer, NONE, 0)
    }

    /// A thread whose faults go to an endpoint.
    pub fn handled_thread(
        &mut self,
        domain: u64,
        priority: u8,
        buffer: u64,
        handler: u64,
        badge: u64,
    ) -> u64 {
        let (entry, stack, argument) = (0x40_0000, 0x7000_0000, 0x5000_0000);
        let priority = u64::from(priority);
        let fields = [domain, priority, entry, stack, argument, buffer, handler, badge, 0];
        self.object(Record::Thread, &fields)
    }

    /// An endpoint, with a notification attached or [`NONE`].
    pub fn endpoint(&mut self, notification: u64) -> u64 {
        self.object(Record::Endpoint, &[NO_OWNER, notification])
    }

    /// A notification.
    pub fn notification(&mut self) -> u64 {
        self.object(Record::Notification, &[NO_OWNER])
    }

    /// An interrupt.
    pub fn interrupt(&mut self, irq: u64, notification: u64, badge: u64) -> u64 {
        self.object(Record::Interrupt, &[NO_OWNER, irq, notification, badge, 0])
    }

    /// A timer.
    pub fn timer(&mut self, notification: u64, badge: u64) -> u64 {
        self.object(Record::Timer, &[NO_OWNER, notification, badge])
    }

    /// A memory object of zeroes.
    pub fn memory(&mut self, pages: u64) -> u64 {
        self.object(Record::Memory, &[NO_OWNER, pages, 0, 0, 0])
    }

    /// Device memory.
    pub fn device(&mut self, at: u64, pages: u64, cache: Cache) -> u64 {
        self.object(Record::Device, &[NO_OWNER, pages, cache as u64, at])
    }

    /// I/O ports.
    pub fn ports(&mut self, first: u64, number: u64) -> u64 {
        self.object(Record::Ports, &[NO_OWNER, number, first])
    }

    /// The root class of the CPU.
    pub fn root(&mut self) -> u64 {
        self.object(Record::Root, &[0, 0])
    }

    /// A leaf, or with a policy a class, in a class.
    pub fn reservation(&mut self, class: u64, policy: u64, share: Share) -> u64 {
        let (code, [a, b, c, d]) = share.encode();
        let fields = [NO_OWNER, class, policy, code, a, b, c, d, 0, 0, 0, 0, 0];
        self.object(Record::Reservation, &fields)
    }

    /// A capability.
    pub fn capability(&mut self, domain: u64, slot: u64, object: u64, rights: Rights, badge: u64) {
        self.record(Record::Capability, &[domain, slot, object, u64::from(rights.0), badge]);
    }

    /// The archive in memory.
    pub fn finish(&self) -> &'static [AtomicU64] {
        let mut words = self.words.clone();
        words[WORD_MAGIC] = MAGIC;
        words[WORD_CPUS] = 1;
        words[WORD_BYTES] = words.len() as u64 * 8;
        words[WORD_RECORDS] = self.records;
        words[WORD_TICK] = TICK;
        words[WORD_LAZY_DEQUEUES] = 16;
        words[WORD_CHAINS] = 1;
        words[WORD_SLICE] = SLICE;
        Vec::leak(words.into_iter().map(AtomicU64::new).collect())
    }
}
