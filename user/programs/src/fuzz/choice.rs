//! Which call to make next, and with what.

use super::reserving::Reservations;
use crate::random::Random;
use abi::call::{Call, Fact, NOTHING, REPLY, Timeout, exchange, ipc, partners};
use abi::futex::{self, NO_CEILING, Scope, WAITERS};
use abi::message::MAX_WORDS;
use abi::object::Resource;
use abi::train;
use core::sync::atomic::Ordering::Relaxed;
use rt::arch::Outcome;
use rt::{Env, Rights, Slot, Words, system};

/// Kinds of slots: a band for each.
pub const ENDPOINT: u64 = 0;
pub const NOTIFICATION: u64 = 1;
pub const TIMER: u64 = 2;
pub const MEMORY: u64 = 3;
pub const MAPPING: u64 = 4;
pub const DOMAIN: u64 = 5;
pub const THREAD: u64 = 6;
pub const COPY: u64 = 7;
pub const BANDS: u64 = 8;
/// Slots in a band that are mostly in use, and all of its slots.
const WIDTH: u64 = 5;
const SPAN: u64 = 8;
/// The slot of a band that a copy of its first with fewer rights goes to.
pub const COPIED: u64 = SPAN - 1;

/// The word of the notes that is a mutex, the last of three pairs of words.
const MUTEX: usize = 3;

/// Where pages may be mapped.
pub const PAGES: u64 = 0x8_0000_0000;

/// Values at the edges of ranges.
const EDGES: [u64; 14] = [
    0,
    1,
    63,
    64,
    0xfff,
    0x1000,
    1 << 32,
    abi::USER_TOP - abi::PAGE,
    abi::USER_TOP,
    0x8000_0000_0000,
    0xffff_8000_0000_0000,
    u64::MAX - 1,
    u64::MAX,
    PAGES,
];

/// What is in which slot: what the manifest gives, then a band for each kind of object, then the
/// domain's own threads.
#[derive(Clone, Copy)]
pub struct Bands {
    given: [Slot; 8],
    interrupt: Slot,
    own: Slot,
    /// A notification without any right but to be copied.
    weak: Slot,
    first: u64,
    limit: u64,
}

/// Names of the capabilities that the manifest gives, one for each kind.
const GIVEN: [&str; BANDS as usize] =
    ["e0", "n0", "timer", "memory", "system", "neighbour", "thread", "console"];

impl Bands {
    /// The layout that a domain's environment calls for.
    pub fn new(env: &Env) -> Bands {
        let mut slots = env.slots();
        let limit = u64::from(slots.limit());
        let [interrupt, own, weak] = ["interrupt", "own", "n1"].map(|name| env.cap(name));
        let given = GIVEN.map(|name| env.find_cap(name).unwrap_or(Slot::NONE));
        Bands { given, interrupt, own, weak, first: u64::from(slots.fresh().0), limit }
    }

    /// One of the four endpoints that all domains share.
    pub fn endpoint(&self, n: u64) -> Slot {
        Slot(self.given[0].0 + n as u32 % 4)
    }

    /// A slot of a band.
    pub fn slot(&self, kind: u64, n: u64) -> Slot {
        Slot((self.first + kind * SPAN + n % SPAN) as u32)
    }

    /// The slot of the domain's further thread `n`.
    pub fn worker(&self, n: u64) -> Slot {
        Slot((self.first + BANDS * SPAN + n) as u32)
    }
}

/// A thread's choices.
pub struct Chooser {
    bands: Bands,
    random: Random,
    buffer: Option<Words>,
    notes: Words,
    reservations: Option<Reservations>,
    threads: u64,
    /// The thread probably holds a reply right.
    owes: bool,
    /// The thread receives rather than calls.
    serves: bool,
}

impl Chooser {
    /// The choices of a thread with this message buffer, or without any.
    pub fn new(env: &Env, bands: Bands, mut random: Random, buffer: Option<usize>) -> Chooser {
        let buffer = buffer.map(|n| env.buffer(n).0);
        let notes = env.mem(env.arg("notes").expect("the name of a memory"));
        let (threads, serves) = (env.threads() as u64, random.below(2) == 0);
        let reservations = Reservations::find(env);
        Chooser { bands, random, buffer, notes, reservations, threads, owes: false, serves }
    }

    /// What is in which slot.
    pub fn bands(&self) -> &Bands {
        &self.bands
    }

    /// The thread's random numbers.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Whether the thread probably owes a reply, which it then does no more.
    pub fn owed(&mut self) -> bool {
        core::mem::take(&mut self.owes)
    }

    /// What came of a call with this number.
    pub fn learn(&mut self, number: u64, outcome: &Outcome) {
        let receives = [Call::Ipc as u8, Call::ReplyWait as u8].contains(&(number as u8));
        self.owes |= receives && outcome.status.result().is_ok() && !outcome.info.is_notification();
    }

    /// Memory of the domain.
    pub fn notes(&self) -> Words {
        self.notes
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }

    /// A slot that is likely to hold an object of a kind.
    pub fn of(&mut self, kind: u64) -> u64 {
        let slot = match self.below(20) {
            0 if self.below(3) == 0 => return self.anything(),
            1 if self.below(3) == 0 => Slot(self.below(self.bands.limit + 2) as u32),
            0 if kind == NOTIFICATION => self.bands.weak,
            0..7 if kind != COPY => self.bands.given[kind as usize],
            0..12 if kind == COPY => self.bands.given[kind as usize],
            7..10 if kind == ENDPOINT => {
                let n = self.below(4);
                self.bands.endpoint(n)
            }
            7..10 if kind == THREAD => {
                let n = self.below(self.threads);
                self.bands.worker(n)
            }
            10 | 11 => {
                let n = self.below(WIDTH);
                self.bands.slot(COPY, n)
            }
            12..14 => self.bands.slot(kind, COPIED),
            _ => {
                let n = self.below(WIDTH);
                self.bands.slot(kind, n)
            }
        };
        slot.word()
    }

    /// A slot of a band that is likely to be free.
    pub fn spare(&mut self, kind: u64) -> u64 {
        let n = WIDTH + self.below(COPIED - WIDTH);
        if self.below(2) == 0 { self.of(kind) } else { self.bands.slot(kind, n).word() }
    }

    fn anything(&mut self) -> u64 {
        match self.below(3) {
            0 => EDGES[self.below(EDGES.len() as u64) as usize],
            1 => self.below(256),
            _ => self.below(u64::MAX),
        }
    }

    /// A number below `n`, or now and then anything.
    pub fn small(&mut self, n: u64) -> u64 {
        if self.below(24) == 0 { self.anything() } else { self.below(n) }
    }

    /// A number of `n` from `first` on, or now and then anything.
    fn from(&mut self, first: u64, n: u64) -> u64 {
        first.wrapping_add(self.small(n))
    }

    fn page(&mut self) -> u64 {
        let at = PAGES + self.below(24) * abi::PAGE;
        if self.below(16) == 0 { self.anything() } else { at }
    }

    fn soon(&mut self) -> u64 {
        system::clock() + self.below(200_000)
    }

    /// A call with its arguments and words; what blocks `within` a time is a choice too.
    pub fn call(&mut self, within: bool) -> (u64, [u64; 6], [u64; 4]) {
        self.fill_buffer();
        let words = core::array::from_fn(|_| self.below(4));
        if let Some(reservations) = self.reservations
            && self.below(4) == 0
        {
            return reservations.call(self);
        }
        match self.below(100) {
            0..45 => {
                let (number, a) = self.message(within);
                (number, a, words)
            }
            45 => (self.below(256) | self.anything() << 8, [self.anything(); 6], words),
            _ => {
                let call = Call::ALL[self.below(Call::ALL.len() as u64) as usize];
                (self.number(call), self.arguments(call), words)
            }
        }
    }

    /// The number word of a call. What may block for a mutex does so until a deadline.
    fn number(&mut self, call: Call) -> u64 {
        let scope = if self.below(2) == 0 { Scope::Domain } else { Scope::Shared };
        match call {
            Call::MutexWait | Call::CondWait | Call::InheritWait | Call::InheritCondWait
                if self.below(16) == 0 =>
            {
                call as u64 | 3 << 8
            }
            Call::MutexWait | Call::CondWait => futex::number(call, scope, Timeout::At),
            Call::InheritWait | Call::InheritCondWait if self.below(8) > 0 => {
                futex::number(call, Scope::Domain, Timeout::At)
            }
            Call::InheritWait | Call::InheritCondWait => futex::number(call, scope, Timeout::At),
            Call::TrainCall => train::number(Timeout::At),
            Call::InheritWake | Call::InheritRequeue | Call::InheritHelp if self.below(8) > 0 => {
                call as u64
            }
            Call::MutexWake
            | Call::CondRequeue
            | Call::InheritWake
            | Call::InheritRequeue
            | Call::InheritHelp => futex::number(call, scope, Timeout::Never),
            _ => call as u64,
        }
    }

    /// A mutex or condition in memory of the domain: its address and its first word, in which it
    /// mostly says that there are waiters.
    fn futex(&mut self) -> (u64, u64) {
        let index = 1 + self.below(3);
        let word = self.notes.word(index as usize);
        let marked = if self.below(8) > 0 { u64::from(WAITERS) } else { 0 };
        let first = (word.fetch_or(marked, Relaxed) | marked) as u32;
        let address = self.notes.address() + 8 * index;
        (if self.below(16) == 0 { self.anything() } else { address }, first.into())
    }

    /// The address of the mutex that waiters for conditions mostly name.
    fn mutex(&self) -> u64 {
        self.notes.address() + 8 * MUTEX as u64
    }

    /// What the next message carries, and where one that comes may leave a capability.
    fn fill_buffer(&mut self) {
        let kind = self.below(BANDS);
        let copies = self.below(WIDTH);
        let values = [
            (abi::message::BUFFER_SEND_SLOT, self.of(kind)),
            (abi::message::BUFFER_SEND_RIGHTS, self.small(64)),
            (abi::message::BUFFER_RECEIVE_SLOT, self.bands.slot(COPY, copies).word()),
        ];
        let chosen: &[_] = if self.below(4) == 0 { &values } else { &[] };
        let Some(buffer) = self.buffer else { return };
        for (index, value) in chosen {
            buffer.set(*index, *value);
        }
    }

    fn info(&mut self) -> u64 {
        let words = match self.below(8) {
            0 => self.small(MAX_WORDS as u64 + 3),
            _ => self.below(5),
        };
        let capability = if self.below(12) == 0 { abi::Info::CAPABILITY } else { 0 };
        words | capability | self.below(4) << 32
    }

    /// A message, mostly one between threads that get on with each other.
    fn message(&mut self, within: bool) -> (u64, [u64; 6]) {
        let endpoint = self.of(ENDPOINT);
        let info = self.info();
        if !within && self.below(4) > 0 {
            return self.converse(info);
        }
        let reply = self.owes || self.below(8) == 0;
        let (to, from) = match self.below(10) {
            0 | 1 if !within => return (Call::Call as u64, [endpoint, info, 0, 0, 0, 0]),
            2 | 3 if !within && reply => {
                return (Call::ReplyWait as u64, [endpoint, info, 0, 0, 0, 0]);
            }
            0..=2 => (endpoint as u32, REPLY),
            3 | 4 if reply => (REPLY, endpoint as u32),
            5 => (endpoint as u32, NOTHING),
            3 | 4 | 6 => (NOTHING, endpoint as u32),
            7 => (NOTHING, self.of(NOTIFICATION) as u32),
            8 => (endpoint as u32, self.of(ENDPOINT) as u32),
            _ => (NOTHING, NOTHING),
        };
        let often = |chooser: &mut Chooser| match chooser.below(8) {
            0 => Timeout::Zero,
            1 if !within => Timeout::Never,
            _ => Timeout::At,
        };
        let number = ipc(often(self), often(self));
        let number = if self.below(64) == 0 { number | 3 << 8 } else { number };
        (number, [partners(to, from), info, self.soon(), 0, 0, 0])
    }

    /// What servers and clients do that get on with each other, and those who pass something on.
    fn converse(&mut self, info: u64) -> (u64, [u64; 6]) {
        let at = self.below(4);
        let endpoint = self.bands.endpoint(at).word();
        let never = ipc(Timeout::Never, Timeout::Never);
        if self.below(8) == 0 {
            let other = at + 1 + self.below(3);
            let other = self.bands.endpoint(other).word();
            return (never, [partners(endpoint as u32, other as u32), info, 0, 0, 0, 0]);
        }
        if !self.serves {
            return (Call::Call as u64, [endpoint, info, 0, 0, 0, 0]);
        }
        if self.owed() {
            return (Call::ReplyWait as u64, [endpoint, info, 0, 0, 0, 0]);
        }
        (never, [partners(NOTHING, endpoint as u32), 0, 0, 0, 0, 0])
    }

    /// A name, mostly one that may be given.
    fn name(&mut self) -> u64 {
        if self.below(4) == 0 { self.anything() } else { 0x61 }
    }

    /// Arguments that a call is likely to want.
    fn arguments(&mut self, call: Call) -> [u64; 6] {
        let any = self.below(BANDS);
        match call {
            Call::Ipc | Call::Call | Call::ReplyWait | Call::Null | Call::Clock => [0; 6],
            Call::Signal => [self.of(NOTIFICATION), 0, 0, 0, 0, 0],
            Call::Yield if self.below(2) == 0 => [0; 6],
            Call::Yield | Call::ThreadResume | Call::ThreadSuspend | Call::ThreadInspect => {
                [self.of(THREAD), 0, 0, 0, 0, 0]
            }
            Call::Fact => [self.small(4), self.small(2), 0, 0, 0, 0],
            Call::CapCopy | Call::Destroy if self.below(40) == 0 => {
                let own = [self.bands.interrupt, self.bands.own][self.below(2) as usize];
                [own.word(), self.of(COPY), self.small(64), 0, 0, 0]
            }
            Call::CapCopy => {
                let badge = if self.below(3) == 0 { 1 + self.below(9) } else { 0 };
                [self.of(any), self.of(COPY), self.small(64), badge, 0, 0]
            }
            // What has no capability left stays charged: objects are destroyed, copies deleted.
            // The run is to last: for its end this holds a capability only by chance.
            Call::CapDelete | Call::CapSaveReply | Call::ConsoleRead | Call::Shutdown => {
                [self.of(COPY), 0, 0, 0, 0, 0]
            }
            Call::Destroy => [self.spare(any), 0, 0, 0, 0, 0],
            Call::CapRevoke | Call::CapInspect | Call::ReservationInspect => {
                [self.of(any), 0, 0, 0, 0, 0]
            }
            Call::EndpointCreate => {
                let attached = if self.below(3) > 0 { self.of(NOTIFICATION) } else { 0 };
                [self.spare(ENDPOINT), attached, 0, 0, 0, 0]
            }
            Call::NotificationCreate => [self.spare(NOTIFICATION), 0, 0, 0, 0, 0],
            Call::TimerCreate => [self.spare(TIMER), self.of(NOTIFICATION), 0, 0, 0, 0],
            Call::TimerSet => [self.of(TIMER), self.soon(), 0, 0, 0, 0],
            // The CPU of a route; an acknowledgement ignores it.
            Call::InterruptAck | Call::InterruptRoute => {
                [self.interrupt(), self.small(5), 0, 0, 0, 0]
            }
            Call::MemoryCreate => [self.spare(MEMORY), self.from(1, 4), 0, 0, 0, 0],
            Call::Map => {
                let (domain, to) = (self.domain(), self.spare(MAPPING) | self.rights() << 32);
                let (pages, first) = (self.from(1, 3), self.small(2));
                [domain, self.of(MEMORY), self.page(), pages, first, to]
            }
            Call::Protect => [self.of(MAPPING), self.rights(), 0, 0, 0, 0],
            Call::MemoryAddress => [self.of(MEMORY), 0, 0, 0, 0, 0],
            Call::PortRead | Call::PortWrite => {
                [self.of(MEMORY), self.small(4), self.small(5), self.small(9), 0, 0]
            }
            Call::DomainCreate => [self.spare(DOMAIN), self.from(1, 9), self.small(90), 0, 0, 0],
            Call::DomainGrant => {
                [self.of(DOMAIN), self.of(any), self.small(9), self.small(64), 0, 0]
            }
            Call::ThreadCreate => {
                let buffer = if self.below(2) == 0 { self.page() } else { 0 };
                let handler = if self.below(2) == 0 { self.of(ENDPOINT) } else { 0 };
                [self.spare(THREAD), self.domain(), self.small(90), buffer, handler, 0]
            }
            Call::ThreadExchange => {
                let mask = self.small(2 * exchange::CANCEL);
                [self.of(THREAD), self.page(), self.page(), 0, self.page(), mask]
            }
            Call::ThreadPriority => [self.of(THREAD), self.from(10, 85), 0, 0, 0, 0],
            Call::ThreadMigrate => [self.of(THREAD), self.small(2), 0, 0, 0, 0],
            Call::ReservationCreate => [self.spare(COPY), self.of(any), self.small(5), 1, 0, 0],
            Call::ReservationSet => [self.of(any), self.small(5), self.small(5), 0, 0, 0],
            Call::ReservationJoin => [self.of(any), self.of(any), self.small(5), 0, 0, 0],
            Call::Reserve => [self.of(THREAD), self.of(any), 0, 0, 0, 0],
            Call::Name => [self.of([THREAD, DOMAIN][any as usize % 2]), self.name(), 0, 0, 0, 0],
            Call::ConsoleWrite => [self.of(COPY), self.small(8), 0, 0, 0, 0],
            _ => self.other_arguments(call),
        }
    }

    /// The same for any other call, which is on statistics, a mutex, a condition or a train.
    fn other_arguments(&mut self, call: Call) -> [u64; 6] {
        match call {
            Call::Inspect => {
                let index = self.small(Resource::COUNT as u64);
                [self.system(), self.small(12), index, 0, 0, 0]
            }
            Call::Observe => [self.system(), self.small(6), self.anything(), 0, 0, 0],
            Call::MutexWait | Call::InheritWait => {
                let (address, first) = self.futex();
                let expected = if self.below(8) == 0 { self.small(4) } else { first };
                [address, expected, self.soon(), 0, 0, 0]
            }
            Call::MutexWake | Call::InheritWake => [self.futex().0, 0, 0, 0, 0, 0],
            Call::TrainCreate => {
                let [empty, stacks] = [self.spare(COPY), self.small(18)];
                [empty, self.anything(), 7, PAGES, self.small(3) * 1024, stacks]
            }
            Call::TrainCall => [self.of(COPY), 0, self.soon(), 0, 0, 0],
            Call::TrainReturn => [self.anything(), 0, 0, 0, 0, 0],
            Call::Serve => [self.of(ENDPOINT), self.small(3), 0, 0, 0, 0],
            Call::Ceiling if self.below(4) == 0 => [self.anything(), 0, 0, 0, 0, 0],
            Call::Ceiling if self.below(3) == 0 => [self.from(10, 85), 0, 0, 0, 0, 0],
            Call::Ceiling => [NO_CEILING, 0, 0, 0, 0, 0],
            Call::CondWait | Call::InheritCondWait => {
                let (address, first) = self.futex();
                let mutex = if self.below(4) == 0 { self.futex().0 } else { self.mutex() };
                let expected = if self.below(8) == 0 { self.small(4) } else { first };
                // It is to be woken, moved to the mutex and handed that within this time.
                let until = self.soon() + 2_000_000 * self.below(4);
                let [one, two] = futex::helpers(core::array::from_fn(|_| self.id()));
                [address, expected, mutex, until, one, two]
            }
            Call::InheritHelp => [self.futex().0, self.id().into(), self.small(2), 0, 0, 0],
            _ => {
                // Mostly the caller owns the mutex that waiters name.
                if self.below(4) > 0 {
                    let word = self.notes.word(MUTEX);
                    let own = self.own_id();
                    word.store(word.load(Relaxed) >> 32 << 32 | u64::from(own), Relaxed);
                }
                [self.futex().0, self.small(2), 0, 0, 0, 0]
            }
        }
    }

    /// The id of the calling thread in its domain, which it writes down for others.
    fn own_id(&self) -> u32 {
        let own = system::fact(Fact::Identity).map_or(0, |(own, _)| own as u32);
        self.notes.word(0).store(own.into(), Relaxed);
        own
    }

    /// The id of a thread of the domain, mostly.
    fn id(&mut self) -> u32 {
        match self.below(6) {
            0 => 0,
            1 => self.anything() as u32,
            2 => self.own_id(),
            3 => self.notes.word(MUTEX).load(Relaxed) as u32 & !WAITERS,
            _ => self.notes.word(0).load(Relaxed) as u32,
        }
    }

    /// The system capability, mostly.
    fn system(&mut self) -> u64 {
        if self.below(4) == 0 { self.of(COPY) } else { self.bands.given[4].word() }
    }

    fn interrupt(&mut self) -> u64 {
        if self.below(2) == 0 { self.bands.interrupt.word() } else { self.of(COPY) }
    }

    fn domain(&mut self) -> u64 {
        if self.below(2) == 0 { 0 } else { self.of(DOMAIN) }
    }

    fn rights(&mut self) -> u64 {
        let useful =
            [Rights::READ, Rights::READ.or(Rights::WRITE), Rights::READ.or(Rights::EXECUTE)];
        match self.below(8) {
            0 => self.small(8),
            n => u64::from(useful[n as usize % 3].0),
        }
    }
}
