//! The boot archive of the one system that runs here: a client and a server on each CPU, each in a
//! domain of its own, and an endpoint between them.

use abi::Rights;
use abi::boot::{
    HEADER_WORDS, MAGIC, NOBODY, NONE, Record, WORD_BYTES, WORD_CPUS, WORD_MAGIC, WORD_PURGE,
    WORD_RECORDS, WORD_SLICE, WORD_TICK, name_words,
};
use abi::object::Resource;
use std::sync::atomic::AtomicU64;

/// The slot of the endpoint in every domain.
pub const ENDPOINT: u32 = 1;
/// The badge that a server sees.
pub const BADGE: u64 = 7;
/// Slots of a capability table.
const SLOTS: u64 = 64;
/// The priority of every thread.
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

/// Where a kind of thread begins.
#[derive(Clone, Copy)]
pub struct Entries {
    /// Servers.
    pub server: u64,
    /// Clients.
    pub client: u64,
}

#[derive(Default)]
struct Archive {
    words: Vec<u64>,
    records: u64,
    objects: u64,
}

impl Archive {
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

    /// A domain with one thread that begins at `entry` on `cpu`.
    fn domain(&mut self, name: &str, cpu: u64, entry: u64) -> u64 {
        let [low, high] = name_words(name);
        let mut fields = vec![low, high, PRIORITY, SLOTS];
        let quotas = [(Resource::Threads, 1), (Resource::Slots, SLOTS)];
        fields.extend_from_slice(&amounts(&quotas));
        let domain = self.object(Record::Domain, &fields);
        self.object(Record::Thread, &[domain, PRIORITY, entry, 0, 0, 0, NONE, 0, cpu]);
        domain
    }
}

/// The system for so many CPUs, in memory for ever.
pub fn system(cpus: u32, entries: Entries) -> &'static [AtomicU64] {
    let mut archive = Archive { words: vec![0; HEADER_WORDS], ..Archive::default() };
    let count = u64::from(cpus);
    let pools = [
        (Resource::Domains, 2 * count),
        (Resource::Threads, 2 * count),
        (Resource::Endpoints, count),
        (Resource::Slots, 2 * count * SLOTS),
    ];
    archive.record(Record::Pools, &amounts(&pools));
    for cpu in 0..count {
        let endpoint = archive.object(Record::Endpoint, &[NOBODY, NONE]);
        // Servers first: each waits by the time that its client calls.
        let server = archive.domain("server", cpu, entries.server);
        let client = archive.domain("client", cpu, entries.client);
        let slot = u64::from(ENDPOINT);
        for (domain, rights) in [(server, Rights::RECEIVE), (client, Rights::SEND)] {
            let fields = [domain, slot, endpoint, u64::from(rights.0), BADGE];
            archive.record(Record::Capability, &fields);
        }
    }
    let words = &mut archive.words;
    words[WORD_MAGIC] = MAGIC;
    words[WORD_CPUS] = count;
    words[WORD_BYTES] = words.len() as u64 * 8;
    words[WORD_RECORDS] = archive.records;
    words[WORD_TICK] = TICK;
    words[WORD_SLICE] = 1;
    words[WORD_PURGE] = 16;
    Vec::leak(archive.words.into_iter().map(AtomicU64::new).collect())
}

/// Bytes of memory that such a system needs at most: frames of roots and message buffers, tables
/// of capabilities, deadlines of each CPU, and everything else.
pub fn memory(cpus: u32) -> usize {
    let cpus = cpus as usize + 1;
    (1 << 20) + cpus * (64 << 10) + cpus * cpus * 256
}
