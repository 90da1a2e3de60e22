//! A checked and resolved system. Objects refer to each other by index.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::target::Target;
use abi::account;
use abi::call::NO_SLICE;
use abi::object::Resource;
use abi::reservation::{Budget, Inheritance, Policy, Share, Timing, Window};
use abi::trace::{Event, Keep};
use abi::{Kind, Rights};

use crate::attached::Attached;
use crate::budget::Pool;
use crate::control::{self, Choices};
use crate::devices::Devices;
use crate::memory::Memory;
use crate::problem::{Source, Span};

/// A system that [`parse`](crate::parse) found right.
#[derive(Clone, Debug)]
pub struct System {
    /// The folder of the manifest, where paths in it begin; empty if it was read from no file.
    pub folder: PathBuf,
    /// The system's name.
    pub name: String,
    /// What the system is about, in a sentence.
    pub about: String,
    /// The kernel it runs under, one of [`ALL_KERNELS`](crate::ALL_KERNELS).
    pub kernel: String,
    /// Bytes of RAM of the machine.
    pub memory: u64,
    /// The scheduling tick in nanoseconds.
    pub tick: u64,
    /// A thread's time slice in nanoseconds, a multiple of the tick; [`System::no_slice`].
    pub timeslice: u64,
    /// How many CPUs the machine has.
    pub cpus: u32,
    /// Priority on each CPU of the class that all of them share.
    pub shared_priority: u16,
    /// What guards the kernel, one of [`LOCKINGS`](crate::LOCKINGS), if the manifest says.
    pub locking: Option<String>,
    /// Blocked threads that a look-up drops before it makes room for a waiting interrupt; 0: all.
    pub lazy_dequeues: u32,
    /// Whether a chain of transfers is left when an interrupt waits.
    pub preempt_chains: bool,
    /// What becomes of a leaf while its thread runs on a lent one.
    pub inheritance: Inheritance,
    /// How late the highest threads may wake, in nanoseconds, and where that is said.
    pub max_latency: Option<(u64, Span)>,
    /// The kernel's pools, in the order of [`Resource`]. Programs are not read yet: their
    /// segments are reckoned with a typical program's, until [`pack`](crate::pack) knows better.
    pub pools: [Pool; Resource::COUNT],
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
    /// Its notifications.
    pub notifications: Vec<Notification>,
    /// Its interrupts.
    pub interrupts: Vec<Interrupt>,
    /// Its timers.
    pub timers: Vec<Timer>,
    /// Its shared memory objects.
    pub memories: Vec<Memory>,
    /// What it has to control, if anything.
    pub devices: Option<Devices>,
    /// The devices that the emulator is given.
    pub attached: Vec<Attached>,
    /// The mutexes that its tasks share, for the analysis.
    pub mutexes: Vec<Mutex>,
    /// Its domains: first those that boot, then the supervised ones behind those they depend on.
    pub domains: Vec<Domain>,
    /// Index of the supervisor's domain, the last one that boots, if any are supervised.
    pub supervisor: Option<usize>,
    /// The timers, notifications and interrupts that only supervised domains hold, in this order,
    /// each with the children that do, a bit each. They are as at boot when these restart.
    pub owned: Vec<(Target, u32)>,
    /// Its reservations, each behind the class that it is in.
    pub reservations: Vec<Reservation>,
    /// How the program runs that [`add_control`](System::add_control) adds.
    pub control: Choices,
    /// What the kernel costs, for the analysis.
    pub overheads: Overheads,
    /// Whether each deadline must be met for sure.
    pub bounds_required: bool,
    /// The trace that the kernel keeps.
    pub trace: Option<Trace>,
    /// Index of the memory in which the kernel leaves what reservations have had.
    pub accounts: Option<usize>,
    /// Indices of the memories in which programs without a log and a console leave why they
    /// panicked.
    pub panics: Vec<usize>,
    /// The manifest, for problems that show up later.
    pub source: Source,
    /// Where the manifest gives the machine's memory.
    pub memory_at: Span,
    /// Where it gives the kernel.
    pub kernel_at: Span,
    /// Where it gives the CPUs.
    pub cpus_at: Span,
}

impl System {
    /// The time slice, with such a tick, of systems whose threads do not take turns.
    pub fn no_slice(tick: u64) -> u64 {
        tick * u64::from(NO_SLICE)
    }

    /// What guards the kernel: by default nothing on one CPU, and one lock on several.
    pub fn locking(&self) -> &str {
        let usual = if self.cpus == 1 { crate::NO_LOCKING } else { crate::LOCKINGS[1] };
        self.locking.as_deref().unwrap_or(usual)
    }

    /// The domains that boot.
    pub fn booted(&self) -> &[Domain] {
        &self.domains[..self.supervisor.map_or(self.domains.len(), |index| index + 1)]
    }

    /// The domains that the supervisor makes, in its order.
    pub fn children(&self) -> &[Domain] {
        &self.domains[self.booted().len()..]
    }

    /// Indices of the domains that may receive from an endpoint.
    pub fn servers(&self, endpoint: usize) -> Vec<usize> {
        let domains = self.domains.iter().enumerate();
        domains
            .filter(|(_, domain)| domain.may(endpoint, Rights::RECEIVE))
            .map(|(index, _)| index)
            .collect()
    }

    /// Whether only the kernel with the scheduling tree can run it.
    pub fn needs_tree(&self) -> bool {
        let reservations = Resource::Reservations as usize;
        let names_one = |domain: &Domain| {
            let mut targets = domain.caps.iter().map(|cap| cap.target.kind());
            targets.any(|kind| kind == Kind::Reservation) || domain.quota[reservations] > 0
        };
        !self.reservations.is_empty() || self.domains.iter().any(names_one)
    }

    /// Whether a kernel can run it.
    pub fn runs_under(&self, kernel: &str) -> bool {
        kernel == crate::TREE || !self.needs_tree()
    }

    /// The CPUs whose root class a record has to name, in order; [`ALL_CPUS`](abi::boot::ALL_CPUS)
    /// is that of the class that all share.
    pub fn roots(&self) -> Vec<u32> {
        let tops = self.reservations.iter().filter(|one| one.class.is_none()).map(|one| one.cpu);
        let caps = self.booted().iter().flat_map(|domain| &domain.caps);
        let named = caps.filter_map(|cap| match cap.target {
            Target::Root(cpu) => Some(cpu),
            _ => None,
        });
        tops.chain(named).collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// Has the kernel keep a trace of this many bytes in a memory of its own, for which the
    /// machine gets more RAM. Returns the memory's name.
    pub fn add_trace(&mut self, bytes: u64, keep: Keep) -> String {
        self.memory += bytes;
        self.trace = Some(Trace { memory: self.memories.len(), keep, events: Event::EVERY });
        self.add_memory("trace", bytes)
    }

    /// Has the kernel leave what the reservations have had, if there are any, in a memory of its
    /// own, for which the machine gets more RAM. Returns the memory's name.
    pub fn add_accounts(&mut self) -> Option<String> {
        if self.reservations.is_empty() {
            return None;
        }
        let records = self.cpus as usize + 1 + self.reservations.len();
        let words = account::HEADER_WORDS + records * account::RECORD_WORDS;
        let bytes = (8 * words as u64).next_multiple_of(abi::PAGE);
        self.memory += bytes.next_multiple_of(1 << 20);
        self.accounts = Some(self.memories.len());
        Some(self.add_memory("accounts", bytes))
    }

    /// Adds a memory that the host reads after the run, and returns its name: the one that is
    /// wished, or with a number behind it if that is taken.
    pub(crate) fn add_memory(&mut self, wish: &str, bytes: u64) -> String {
        let taken = |name: &str| self.memories.iter().any(|memory| memory.name == name);
        let name = control::free(wish, taken);
        self.memories.push(Memory::ram(&name, bytes, true));
        name
    }
}

/// A meeting point of senders and receivers.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its name.
    pub name: String,
    /// Index of the notification that is also received there.
    pub notification: Option<usize>,
    /// Whether who receives there says that it serves: those that wait for it lend it what they
    /// run on.
    pub serves: bool,
}

/// A word of signals.
#[derive(Clone, Debug)]
pub struct Notification {
    /// Its name.
    pub name: String,
}

/// A hardware interrupt that signals a notification.
#[derive(Clone, Debug)]
pub struct Interrupt {
    /// Its name.
    pub name: String,
    /// The number of the IRQ.
    pub irq: u32,
    /// Index of the notification.
    pub notification: usize,
    /// The bits that it signals.
    pub badge: u64,
    /// The CPU that it comes to.
    pub cpu: u32,
}

/// A timer that signals a notification.
#[derive(Clone, Debug)]
pub struct Timer {
    /// Its name.
    pub name: String,
    /// Index of the notification.
    pub notification: usize,
    /// The bits that it signals.
    pub badge: u64,
}

/// A trace of what the kernel does.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Index of the memory that it is written to.
    pub memory: usize,
    /// What becomes of events when there is no room left.
    pub keep: Keep,
    /// Mask of the events that are written.
    pub events: u64,
}

/// A reservation of CPU time, or a class of them. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct Reservation {
    /// Its name, that of the domain if it is a domain's own.
    pub name: String,
    /// Index of the class that it is in; none: the root of its CPU.
    pub class: Option<usize>,
    /// Its CPU, or [`ALL_CPUS`](abi::boot::ALL_CPUS).
    pub cpu: u32,
    /// Its policy; none: it is a leaf.
    pub policy: Option<Policy>,
    /// What it is among its siblings.
    pub share: Share,
    /// What it may use at most.
    pub limit: Option<Budget>,
    /// Deadlines of a leaf's jobs.
    pub timing: Option<Timing>,
    /// Windows of a class of time partitions, one behind the other; the last ends with the major
    /// frame.
    pub windows: Vec<Window>,
    /// The longest execution time of a leaf's jobs, for the analysis.
    pub execution: Option<u64>,
    /// What follows when its budget is used up.
    pub overrun: Reaction,
    /// What follows when a job has not ended by its deadline.
    pub miss: Reaction,
    /// What is told of it.
    pub monitor: Option<Monitor>,
    /// How its budget follows demand, if it does.
    pub adaptive: Option<Adaptive>,
    /// Where the manifest has it.
    pub at: Span,
}

impl Reservation {
    /// Its limit, if its budget is less than its period.
    pub fn limit(&self) -> Option<Budget> {
        self.limit.filter(|limit| limit.budget < limit.period)
    }

    /// What follows an overrun and a miss, as manifests spell it; none where that is as usual.
    pub fn reactions(&self) -> [Option<&'static str>; 2] {
        [self.overrun, self.miss].map(Reaction::name)
    }
}

/// What follows an overrun or a miss, beside what its monitor is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// Without budget it waits, as its server says; a late job goes on.
    Usual,
    /// It goes on below everything else, until its budget comes back or the job ends.
    Background,
    /// The supervisor makes the domain again that runs on it.
    Restart,
}

impl Reaction {
    /// How manifests spell it; none for what is usual.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Reaction::Usual => None,
            Reaction::Background => Some("background"),
            Reaction::Restart => Some("restart"),
        }
    }
}

/// What is signalled when a job misses its deadline, or the budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor {
    /// Index of the notification.
    pub notification: usize,
    /// The bits for a miss; 0: no signal.
    pub missed: u64,
    /// The bits for an overrun; 0: no signal.
    pub overran: u64,
}

/// How a controller is to change a reservation's budget (S2B-12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adaptive {
    /// Greater is more important.
    pub importance: u32,
    /// Periods between two decisions.
    pub every: u32,
    /// Decisions that it looks back.
    pub history: u32,
    /// What it always keeps in each period, in nanoseconds.
    pub least: u64,
}

/// A mutex, of which the analysis knows and the kernel does not.
#[derive(Clone, Debug)]
pub struct Mutex {
    /// Its name.
    pub name: String,
    /// What its owner inherits.
    pub protocol: Protocol,
}

/// What the owner of a mutex inherits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The priorities of those that wait.
    Inheritance,
    /// At least this priority; none: that of the most urgent task that uses it.
    Ceiling(Option<u8>),
    /// Nothing.
    Nothing,
}

/// A part of a job that excludes parts of other jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub shared: Shared,
    /// The longest execution time, in nanoseconds.
    pub length: u64,
    /// Where the manifest has it.
    pub at: Span,
}

/// What a section holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shared {
    /// The mutexes of these indices, locked in this order.
    Mutexes(Vec<usize>),
    /// The server that receives from the endpoint of this index.
    Endpoint(usize),
}

/// A thread with jobs of its own, for the analysis.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its name, unique in the system.
    pub name: String,
    /// Its priority.
    pub priority: u8,
    /// Its jobs.
    pub load: Load,
    /// Index of the leaf that its thread runs on; none: the thread runs by its priority.
    pub reservation: Option<usize>,
    /// What it shares with others.
    pub sections: Vec<Section>,
}

/// The jobs of a domain's first thread, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The longest execution time.
    pub execution: u64,
    /// The least time between two releases.
    pub period: u64,
    /// From the release to the deadline.
    pub deadline: u64,
}

/// What the kernel costs at most, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// To make a thread ready.
    pub release: u64,
    /// To switch from one thread to another.
    pub context_switch: u64,
    /// A timer interrupt.
    pub timer_interrupt: u64,
}

/// A protection domain with its program.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// The program that runs in it: no two different ones are called the same.
    pub program: String,
    /// Where the program comes from.
    pub origin: Origin,
    /// Where the manifest names the program.
    pub program_at: Span,
    /// Priority of its first thread.
    pub priority: u8,
    /// Highest priority of its threads.
    pub max_priority: u8,
    /// Slots in its capability table, slot 0 included.
    pub slots: u32,
    /// The CPU that its first thread runs on.
    pub cpu: u32,
    /// The CPUs that its threads may use, a bit each; all, if it does not say.
    pub cpus: Option<u64>,
    /// Index of the reservation that its threads run on; none: by their priorities in the root.
    pub reservation: Option<usize>,
    /// What the analysis is to assume of a domain without a reservation.
    pub load: Option<Load>,
    /// What the jobs of `load` share with those of others.
    pub sections: Vec<Section>,
    /// What its threads do by themselves; then it has no `load`.
    pub tasks: Vec<Task>,
    /// Bytes of each stack, a multiple of the page.
    pub stack: u64,
    /// Bytes of its heap, a multiple of the page; 0: it has none.
    pub heap: u64,
    /// Threads for which stacks and buffer addresses are laid out.
    pub threads: u32,
    /// What it may create at run time, in the order of [`Resource`].
    pub quota: [u64; Resource::COUNT],
    /// Its arguments, in the order of the manifest.
    pub args: Vec<(String, String)>,
    /// Where its first thread's faults go.
    pub fault_handler: Option<FaultHandler>,
    /// Whether faults that no handler takes are no failure of a run.
    pub may_fault: bool,
    /// How it is supervised, if it is.
    pub restart: Option<Restart>,
    /// Bytes of its log, a multiple of the page.
    pub log: Option<u64>,
    /// The shared memory that it finds mapped.
    pub maps: Vec<Map>,
    /// Its capabilities; the first is in slot 1.
    pub caps: Vec<Capability>,
}

impl Domain {
    /// A domain of one of Giusto's own programs, which runs by its priority on the first CPU and
    /// has nothing yet.
    pub(crate) fn own(name: &str, program: &str, priority: u8) -> Domain {
        Domain {
            name: name.to_string(),
            program: program.to_string(),
            origin: Origin::Giusto,
            program_at: Span::default(),
            priority,
            max_priority: priority,
            slots: 1,
            cpu: 0,
            cpus: None,
            reservation: None,
            load: None,
            sections: Vec::new(),
            tasks: Vec::new(),
            stack: 0,
            heap: 0,
            threads: 1,
            quota: [0; Resource::COUNT],
            args: Vec::new(),
            fault_handler: None,
            may_fault: false,
            restart: None,
            log: None,
            maps: Vec::new(),
            caps: Vec::new(),
        }
    }

    /// Whether it has a capability of its own to an endpoint with these rights.
    pub fn may(&self, endpoint: usize, rights: Rights) -> bool {
        let target = Target::Endpoint(endpoint);
        let mut own = self.caps.iter().filter(|cap| !cap.is_kept);
        own.any(|cap| cap.target == target && cap.rights.contains(rights))
    }
}

/// Where a program comes from. Paths are relative to the manifest's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Giusto's own programs.
    Giusto,
    /// A crate, with the path of a function `fn(&rt::Env)` in it.
    Crate {
        /// The folder of the crate.
        folder: String,
        /// The function's path in the crate, for instance `sensor::main`.
        entry: String,
    },
    /// Sources in C.
    C {
        /// The files that are compiled.
        sources: Vec<String>,
        /// What the compiler is told besides.
        flags: Vec<String>,
    },
    /// An ELF file.
    Elf(String),
}

/// Where fault messages go.
#[derive(Clone, Debug)]
pub struct FaultHandler {
    /// Index of the endpoint.
    pub endpoint: usize,
    /// The badge that they carry.
    pub badge: u64,
}

/// How a domain is supervised.
#[derive(Clone, Debug)]
pub struct Restart {
    /// Whether it is restarted also when its program ends.
    pub always: bool,
    /// How many restarts it is allowed within the window.
    pub at_most: u64,
    /// The length of the window in nanoseconds.
    pub within: u64,
    /// Indices of the domains that it depends on.
    pub depends: Vec<usize>,
    /// Nanoseconds within which it has to signal its heartbeat, if it has one.
    pub heartbeat: Option<u64>,
    /// Index of the notification that tells of its restarts and the bits that it gets, if any.
    pub told: Option<(usize, u64)>,
}

/// Shared memory that a domain finds mapped.
#[derive(Clone, Debug)]
pub struct Map {
    /// Index of the memory.
    pub memory: usize,
    /// Read, and at most one of write and execute.
    pub rights: Rights,
}

/// A capability that a domain starts with.
#[derive(Clone, Debug)]
pub struct Capability {
    /// Its name, unique in the domain.
    pub name: String,
    /// The object.
    pub target: Target,
    /// What may be done with it.
    pub rights: Rights,
    /// Tells the receiver which capability was used; 0: none.
    pub badge: u64,
    /// Whether its holder never uses it: the supervisor keeps it for a child that it makes.
    pub is_kept: bool,
}
