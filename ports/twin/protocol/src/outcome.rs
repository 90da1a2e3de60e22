//! What is left of a run.

use abi::Status;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// A program shut the machine down with this status.
    Done(u32),
    /// The kernel panicked: what it said.
    Panic(String),
    /// Every thread waits, and no interrupt will come.
    Stuck,
    /// These CPUs wait in the kernel for each other, or for CPUs that idle.
    Deadlock(Vec<u32>),
    /// The limit on entries was reached.
    Limit,
}

/// How often each system call ended in which way: by number word's low byte and status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls(BTreeMap<(u8, u64), u64>);

impl Calls {
    /// A call with this number word has ended.
    pub fn note(&mut self, number: u64, status: Status) {
        *self.0.entry((number as u8, status.0)).or_default() += 1;
    }

    /// Adds those of another run.
    pub fn add(&mut self, other: &Calls) {
        for (key, count) in &other.0 {
            *self.0.entry(*key).or_default() += count;
        }
    }

    /// Call number, status, how often.
    pub fn iter(&self) -> impl Iterator<Item = (u8, Status, u64)> {
        self.0.iter().map(|((number, status), count)| (*number, Status(*status), *count))
    }
}

/// Sections of a run, on all CPUs. One that is undone counts where it succeeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sections {
    /// How many have ended.
    pub count: u64,
    /// Time from behind taking the lock until in front of giving it back.
    pub time: u64,
    /// Those whose lock the same CPU had before, where the lock knows.
    pub same: u64,
}

/// What a thread is doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doing {
    /// The name of the manifest's domain that it is in, and of the inner one, if it is in one.
    pub domain: ([u64; 2], Option<[u64; 2]>),
    /// Its name; zeros: it has none.
    pub name: [u64; 2],
    /// Its place in the kernel's table.
    pub index: u32,
    /// Its state and what it waits for, as a row of [`Table::Thread`](abi::call::Table) has them.
    pub word: u64,
    /// Whether its wait ends at a deadline.
    pub timed: bool,
}

/// What is left of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Everything that was printed on the console.
    pub console: String,
    /// Contents of the memory objects that were asked for, in their order; one that was not made
    /// is empty.
    pub memories: Vec<ByteBuf>,
    /// Virtual time at the end.
    pub time: u64,
    /// Entries into the kernel, and stretches of work.
    pub entries: u64,
    /// Places where something could have been injected; 0 if there was nothing to inject.
    pub places: u64,
    /// Names of domains whose threads have called `rt::system::work`, in the order of that.
    pub worked: Vec<[u64; 2]>,
    /// Kernel events: entries, switches, queue operations, comparisons, messages, results.
    pub events: u64,
    /// How often each kind of entry, then each kind of step occurred.
    pub counts: Vec<u64>,
    /// The statistics at the end, CPU by CPU, by [`Counter`](abi::statistics::Counter); those that
    /// a lock keeps are 0.
    pub statistics: Vec<Vec<u64>>,
    /// The most threads that were blocked at once, if invariants were checked.
    pub most_blocked: u32,
    /// System calls, if they were counted.
    pub calls: Calls,
    /// The words of the kernel's steps, if they were logged.
    pub log: Vec<u64>,
    /// The last of them, spelled out, as many as were asked for.
    pub spelled: Vec<String>,
    /// Sections of all CPUs.
    pub sections: Sections,
    /// How often each CPU was interrupted by a CPU.
    pub ipis: Vec<u64>,
    /// Memory barriers that the kernel has executed under a lock, where they are priced.
    pub barriers: u64,
    /// Lines of kernel memory that one CPU has written and another one touched, while that was
    /// observed: their addresses from the beginning of RAM.
    pub shared: Vec<usize>,
    /// What each thread was doing, if the run did not come to an end of its own, or a message was
    /// given up.
    pub threads: Vec<Doing>,
    /// By the index of an endpoint, how many messages were given up there before they were
    /// received; none that has no such.
    pub given_up: Vec<(u32, u32)>,
    /// What the wires of a plant had, as CSV with a heading, if that was recorded.
    pub wires: String,
}
