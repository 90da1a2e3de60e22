//! Boot archives of the systems that run here.

use abi::Rights;
use abi::boot::{
    HEADER_WORDS, MAGIC, NO_OWNER, NONE, Record, WORD_BYTES, WORD_CPUS, WORD_MAGIC, WORD_RECORDS,
    WORD_SLICE, WORD_TICK, name_words,
};
use abi::object::Resource;
use std::sync::atomic::AtomicU64;

/// The slot of the endpoint in every domain of a pair.
pub const ENDPOINT: u32 = 1;
/// The badge that a server sees.
pub const BADGE: u64 = 7;
/// Slots of the least capability table.
pub const SLOTS: u64 = 64;
/// The priority of every thread of a pair.
const PRIORITY: u64 = 100;
/// The tick: later than any run lasts.
const TICK: u64 = 1 << 62;

/// Quotas or pool sizes, by resource.
type Amounts = [u64; Resource::COUNT];

fn amounts(pairs: &[(Resource, u64)]) -> Amounts {
    let mut amounts = [0; Resource::COUNT];
    pairs.iter().for_each(|(resource, amount)| amounts[*resource as usize] = *amount);
    amounts
}

/// An archive while it is written. Lazy dequeues and chains have no preemption points, as in the
/// papers: nothing interrupts here.
pub struct Archive {
    words: Vec<u64>,
    records: u64,
    objects: u64,
    threads: u64,
}

impl Archive {
    /// For so many domains, threads, endpoints, and slots of all domains together.
    pub fn new(domains: u64, threads: u64, endpoints: u64, slots: u64) -> Archive {
        let words = vec![0; HEADER_WORDS];
        let mut archive = Archive { words, records: 0, objects: 0, threads };
        let pools = [
            (Resource::Domains, domains),
            (Resource::Threads, threads),
            (Resource::Endpoints, endpoints),
            (Resource::Slots, slots),
        ];
        archive.record(Record::Pools, &amounts(&pools));
        archive
    }

    fn record(&mut self, record: Record, fields: &[u64]) {
        assert_eq!(fields.len() + 1, record.words(), "fields of {record:?}");
        self.words.push(record.head());
        self.words.extend_from_slice(fields);
        self.records += 1;
    }

    /// Appends a record that makes an object; returns its number.
    fn object(&mut self, record: Record, fields: &[u64]) -> u64 {
        self.record(record, fields);
        self.objects += 1;
        self.objects - 1
    }

    /// An endpoint without an owner.
    pub fn endpoint(&mut self) -> u64 {
        self.object(Record::Endpoint, &[NO_OWNER, NONE])
    }

    /// A domain for so many threads on any CPU, with so many slots.
    pub fn domain(&mut self, name: &str, threads: u64, slots: u64) -> u64 {
        let [low, high] = name_words(name);
        let mut fields = vec![low, high, 255, slots, u64::MAX];
        fields.extend(amounts(&[(Resource::Threads, threads), (Resource::Slots, slots)]));
        self.object(Record::Domain, &fields)
    }

    /// A thread that begins at `entry` on `cpu`.
    pub fn thread(&mut self, domain: u64, priority: u64, entry: u64, cpu: u64) {
        self.object(Record::Thread, &[domain, priority, entry, 0, 0, 0, NONE, 0, cpu]);
    }

    /// Puts a capability for an endpoint into a slot.
    pub fn capability(&mut self, domain: u64, slot: u32, endpoint: u64, rights: Rights) {
        let fields = [domain, u64::from(slot), endpoint, u64::from(rights.0), BADGE];
        self.record(Record::Capability, &fields);
    }

    /// Ends it for so many CPUs.
    pub fn finish(mut self, cpus: u32) -> System {
        let (bytes, records) = (self.words.len() as u64 * 8, self.records);
        let words = &mut self.words;
        words[WORD_MAGIC] = MAGIC;
        words[WORD_CPUS] = cpus.into();
        words[WORD_BYTES] = bytes;
        words[WORD_RECORDS] = records;
        words[WORD_TICK] = TICK;
        words[WORD_SLICE] = 1;
        let words = Vec::leak(self.words.into_iter().map(AtomicU64::new).collect());
        System { words, cpus, threads: self.threads as usize }
    }
}

/// A system, in memory for ever.
pub struct System {
    /// Its archive.
    pub words: &'static [AtomicU64],
    /// Its CPUs.
    pub cpus: u32,
    threads: usize,
}

impl System {
    /// Bytes of memory that it needs at most: frames of roots and message buffers, tables of
    /// capabilities, deadlines of each CPU, and everything else.
    pub fn memory(&self) -> usize {
        let cpus = self.cpus as usize + 1;
        (1 << 20) + cpus * (64 << 10) + cpus * cpus * 256 + self.threads * (16 << 10)
    }
}

/// Where a kind of thread begins.
#[derive(Clone, Copy)]
pub struct Entries {
    /// Servers.
    pub server: u64,
    /// Clients.
    pub client: u64,
}

/// A client and a server on each CPU, each in a domain of its own, and an endpoint between them.
pub fn pairs(cpus: u32, entries: Entries) -> System {
    let count = u64::from(cpus);
    let mut archive = Archive::new(2 * count, 2 * count, count, 2 * count * SLOTS);
    for cpu in 0..count {
        let endpoint = archive.endpoint();
        // Servers first: each waits by the time that its client calls.
        let roles =
            [("server", Rights::RECEIVE, entries.server), ("client", Rights::SEND, entries.client)];
        for (name, rights, entry) in roles {
            let domain = archive.domain(name, 1, SLOTS);
            archive.thread(domain, PRIORITY, entry, cpu);
            archive.capability(domain, ENDPOINT, endpoint, rights);
        }
    }
    archive.finish(cpus)
}
