//! What programs do: system calls chosen at random, from sensible to senseless. The choice
//! depends only on what two kernels in lockstep have in common.

use super::board::{Board, body};
use super::context::Regs;
use super::host::{Event, Host};
use super::reservations::Manages;
use super::rng::Rng;
use super::town;
use abi::call::{Call, NOTHING, REPLY, Timeout, exchange, ipc, partners};
use abi::futex::{NO_CEILING, Scope, WAITERS, helpers, number};
use abi::message::{BUFFER_RECEIVE_SLOT, BUFFER_SEND_RIGHTS, BUFFER_SEND_SLOT, FaultKind as Kind};
use abi::{Info, Kind as Object, PAGE, USER_TOP, train};
use kernel::fault::Fault;
use kernel::object::thread::{State, flag};
use kernel::port::Port;
use kernel::system::System;

/// The first of four words of a message buffer that are mutexes and conditions.
const FUTEXES: u64 = 300;

/// What happens next on a board.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// The running thread prepares its message buffer and makes a system call.
    Call {
        /// Words that it writes first.
        writes: [(usize, u64); 4],
        /// The call.
        regs: Regs,
    },
    /// The running thread faults.
    Fault(Fault),
    /// Time passes.
    Advance(u64),
    /// An interrupt.
    Raise(Event),
}

/// How often programs do what.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    /// Messages, in percent.
    pub messages: u64,
    /// Of these, what clients and servers do that get on with each other, in percent.
    pub orderly: u64,
    /// Of the rest, calls with arguments that make no sense, in percent.
    pub nonsense: u64,
    /// Destroying things, once in so many of the rest.
    pub destroy_once_in: u64,
    /// Calls on trains, in percent, before all else.
    pub trains: u64,
}

/// Mostly messages.
pub const TALK: Mix =
    Mix { messages: 85, orderly: 70, nonsense: 5, destroy_once_in: 30, trains: 0 };
/// Mostly everything else.
pub const MANAGE: Mix =
    Mix { messages: 30, orderly: 30, nonsense: 8, destroy_once_in: 8, trains: 0 };

/// Lets an action happen; [`Board::settle`] or [`Board::step`] then does what follows from it.
pub fn apply<S: System<Port = Host>>(board: &Board<S>, action: &Action) {
    match action {
        Action::Call { writes, regs } => {
            if let Some(thread) = board.running()
                && board.thread(thread).buffer_at.get() != 0
            {
                for (word, value) in writes {
                    board.write(thread, *word, *value);
                }
            }
            board.call(*regs);
        }
        Action::Fault(fault) => board.fault(*fault),
        Action::Advance(by) => board.host.advance(*by),
        Action::Raise(event) => board.host.raise(*event),
    }
}

/// Chooses what happens next.
pub fn choose<S: System<Port = Host>>(board: &Board<S>, rng: &Rng, mix: &Mix) -> Action {
    let Some(thread) = board.running() else {
        return match board.host.armed() {
            Some(at) if !rng.once_in(8) => {
                Action::Advance(at.saturating_sub(board.host.now()).min(1 << 40))
            }
            _ => Action::Raise(Event::Irq(1 + rng.below(4) as u8)),
        };
    };
    let program = Program { board, rng, thread };
    if thread == town::SUPERVISOR {
        return Action::Call { writes: [(0, 0); 4], regs: program.supervise() };
    }
    match rng.below(100) {
        0..2 => return Action::Advance(rng.below(2_000_000)),
        2 => return Action::Raise(Event::Irq(1 + rng.below(4) as u8)),
        3 => return Action::Raise(Event::Spurious),
        4 => return Action::Fault(program.fault()),
        5..8 => return program.futex(),
        8 if rng.once_in(2) => return program.with_buffer(program.serve()),
        _ => {}
    }
    let regs = if mix.trains > 0 && rng.below(100) < mix.trains {
        program.manage_trains()
    } else if rng.below(100) < mix.messages {
        if rng.below(100) < mix.orderly { program.converse() } else { program.message() }
    } else if rng.below(100) < mix.nonsense {
        program.nonsense()
    } else if rng.once_in(mix.destroy_once_in) {
        call(Call::Destroy, &[program.free_slot(false)])
    } else {
        program.manage()
    };
    program.with_buffer(regs)
}

fn call(call: Call, args: &[u64]) -> Regs {
    Regs::call(call as u64, args)
}

struct Program<'a, S: System<Port = Host>> {
    board: &'a Board<S>,
    rng: &'a Rng,
    thread: u32,
}

impl<S: System<Port = Host>> Program<'_, S> {
    fn now(&self) -> u64 {
        self.board.host.now()
    }

    fn any_slot(&self) -> u64 {
        self.rng.below(town::SLOTS + 2)
    }

    /// Mostly a slot from the free part of the table that is empty, or not.
    fn free_slot(&self, empty: bool) -> u64 {
        let slots = body(self.board.thread(self.thread).domain.get()).slots;
        let start = self.rng.below(24);
        if self.rng.once_in(12) {
            return self.any_slot();
        }
        (0..24)
            .map(|offset| town::FREE + (start + offset) % 24)
            .find(|slot| {
                slots.get(*slot as usize).is_some_and(|it| it.get().kind().is_none() == empty)
            })
            .unwrap_or(town::FREE)
    }

    /// Mostly a slot that holds a capability of this kind.
    fn slot_of(&self, kind: Object) -> u64 {
        let slots = body(self.board.thread(self.thread).domain.get()).slots;
        let matching: Vec<u64> = (0..)
            .zip(slots)
            .filter(|(_, slot)| slot.get().kind() == Some(kind))
            .map(|(index, _)| index)
            .collect();
        if matching.is_empty() || self.rng.once_in(12) {
            return self.any_slot();
        }
        self.rng.pick(&matching)
    }

    fn with_buffer(&self, regs: Regs) -> Action {
        let rng = self.rng;
        let offered = if rng.once_in(2) { rng.below(24) } else { self.free_slot(false) };
        let writes = [
            (BUFFER_SEND_SLOT, offered),
            (BUFFER_SEND_RIGHTS, rng.below(64)),
            (BUFFER_RECEIVE_SLOT, self.free_slot(!rng.once_in(4))),
            (rng.below(128) as usize, rng.next()),
        ];
        let words = [rng.next(), rng.next(), rng.below(4), rng.below(4)];
        let regs = if regs.words == [0; 4] { regs.with_words(words) } else { regs };
        Action::Call { writes, regs }
    }

    fn fault(&self) -> Fault {
        let kinds = [Kind::Memory, Kind::Instruction, Kind::Arithmetic, Kind::Debug, Kind::Other];
        let kind = self.rng.pick(&kinds);
        Fault { kind, detail: self.rng.next(), code: self.rng.below(32) }
    }

    /// Frees whoever is stuck, then sleeps.
    fn supervise(&self) -> Regs {
        let rng = self.rng;
        let count = u64::from(town::DOMAINS * town::THREADS);
        let index = rng.below(count);
        let slot = town::ALL_THREADS + index;
        let thread = self.board.thread(index as u32 + 1);
        let suspended = thread.has(flag::SUSPENDED);
        match thread.state.get() {
            _ if rng.once_in(5) => {
                let until = self.now() + 1 + rng.below(300_000);
                let number = ipc(Timeout::Never, Timeout::At);
                Regs::call(number, &[partners(NOTHING, NOTHING), 0, until])
            }
            _ if rng.once_in(2_000) => call(Call::Shutdown, &[town::SYSTEM_SLOT, 7]),
            _ if rng.once_in(20) => call(Call::ThreadPriority, &[slot, rng.below(120)]),
            State::Ready if suspended => call(Call::ThreadResume, &[slot]),
            State::Ready => call(Call::Signal, &[town::NOTIFICATION + rng.below(2)]),
            _ if suspended => {
                let mask = exchange::CANCEL | rng.below(16);
                call(Call::ThreadExchange, &[slot, 0x1000, 0x2000, 3, 4, mask])
            }
            _ => call(Call::ThreadSuspend, &[slot]),
        }
    }

    fn endpoint(&self) -> u64 {
        match self.rng.below(20) {
            0 => self.any_slot(),
            1..4 => self.slot_of(Object::Endpoint),
            _ => town::ENDPOINT + self.rng.below(town::ENDPOINTS),
        }
    }

    fn descriptor(&self) -> u64 {
        let rng = self.rng;
        let words = match rng.below(10) {
            0..6 => rng.below(5),
            6..8 => rng.pick(&[8, 16, 64, 127, 128]),
            8 => rng.below(128),
            _ if rng.once_in(4) => rng.pick(&[129, 200, 255]),
            _ => 5,
        };
        let info = Info::new(rng.below(4) as u32, words as usize);
        let info = if rng.once_in(8) { info.with_capability() } else { info };
        // Now and then bits that only the kernel may set, and bits that mean nothing.
        if rng.once_in(16) { info.0 | rng.below(1 << 32) & !0x1ff } else { info.0 }
    }

    /// Answers a caller, else calls a server that waits, else waits for a caller.
    fn converse(&self) -> Regs {
        let rng = self.rng;
        let at = rng.below(town::ENDPOINTS);
        let pool = &self.board.machine.kernel.endpoints;
        let waits = |at: &u64| {
            let endpoint = self.board.object(pool.get(*at as u32));
            !endpoint.receivers.is_empty()
        };
        let info = Info::new(rng.below(4) as u32, rng.below(5) as usize).0;
        let served = (0..town::ENDPOINTS).map(|more| (at + more) % town::ENDPOINTS).find(waits);
        if self.board.thread(self.thread).caller.get().is_some() {
            call(Call::ReplyWait, &[town::ENDPOINT + at, info])
        } else if let Some(served) = served {
            call(Call::Call, &[town::ENDPOINT + served, info])
        } else {
            let receive = (town::ENDPOINT + at) << 32;
            Regs::call(ipc(Timeout::Never, Timeout::Never), &[receive])
        }
    }

    fn message(&self) -> Regs {
        let (rng, info) = (self.rng, self.descriptor());
        let serves = self.board.thread(self.thread).caller.get().is_some();
        match rng.below(32) {
            0 => call(Call::Signal, &[self.slot_of(Object::Notification)]),
            1..3 => call(Call::ReplyWait, &[self.endpoint(), info]),
            3..13 if serves => call(Call::ReplyWait, &[self.endpoint(), info]),
            3..8 => Regs::call(ipc(Timeout::Never, Timeout::Never), &[self.endpoint() << 32]),
            8..20 => call(Call::Call, &[self.endpoint(), info]),
            _ => self.any_halves(info),
        }
    }

    fn any_halves(&self, info: u64) -> Regs {
        let rng = self.rng;
        let other = || match rng.below(3) {
            0 => NOTHING,
            1 => REPLY,
            _ => self.slot_of(Object::Reply) as u32,
        };
        let send = if rng.once_in(3) { other() } else { self.endpoint() as u32 };
        let receive = match rng.below(8) {
            0..3 => other(),
            3 => self.slot_of(Object::Notification) as u32,
            _ => self.endpoint() as u32,
        };
        let kinds = [Timeout::Never, Timeout::Zero, Timeout::At, Timeout::At];
        let number = ipc(rng.pick(&kinds), rng.pick(&kinds));
        let deadline = (self.now() + rng.below(1_000_000)).saturating_sub(100_000);
        Regs::call(number, &[partners(send, receive), info, deadline])
    }

    /// The running thread serves an endpoint from now on, or no longer.
    fn serve(&self) -> Regs {
        call(Call::Serve, &[self.endpoint(), self.rng.below(4).min(1)])
    }

    /// A call on a pair of words in the message buffer of a thread of the same domain, mostly the
    /// own one, whose first word mostly says that there are waiters.
    fn futex(&self) -> Action {
        let rng = self.rng;
        let index = FUTEXES + rng.below(2);
        let own = self.board.thread(self.thread).buffer_at.get();
        let at = if rng.once_in(3) { town::buffer(rng.below(3)) } else { own };
        let word = if own == 0 { 0 } else { self.board.read(self.thread, index as usize) };
        let marked = if rng.once_in(8) { word } else { word | u64::from(WAITERS) };
        let expected = u64::from(marked as u32);
        let kinds = [Timeout::Never, Timeout::Zero, Timeout::At, Timeout::At];
        let scope = rng.pick(&[Scope::Domain, Scope::Shared]);
        let (first, second) = (at + 8 * index, own + 8 * (FUTEXES + 2 + rng.below(2)));
        let until = self.now() + rng.below(1_000_000);
        let mut writes = [(0, 0); 4];
        writes[0] = (index as usize, if rng.once_in(12) { rng.next() } else { marked });
        let (call, args): (_, &[u64]) = match rng.below(18) {
            0..2 | 15 => (Call::MutexWait, &[first, expected, until]),
            2..4 | 16..18 => (Call::MutexWake, &[first]),
            4 => (Call::CondWait, &[first, expected, second, until]),
            5 => (Call::InheritWait, &[first, expected, until]),
            6 => (Call::InheritWake, &[first]),
            7..10 => {
                let [one, two] = helpers(core::array::from_fn(|_| self.id_near()));
                (Call::InheritCondWait, &[first, expected, second, until, one, two])
            }
            10..12 => {
                // Mostly it owns the mutex that waiters have named.
                let mutex = (second - own) / 8;
                let owner = if rng.once_in(4) { self.id_near() } else { self.id_of(self.thread) };
                let waiting =
                    if own == 0 { 0 } else { self.board.read(self.thread, mutex as usize) };
                writes[1] = (mutex as usize, waiting >> 32 << 32 | u64::from(owner));
                (Call::InheritRequeue, &[first, rng.below(2)])
            }
            12 => (Call::InheritHelp, &[first, self.id_near().into(), rng.below(2)]),
            13 => (Call::Ceiling, &[rng.pick(&[NO_CEILING, 1, 100, 200, 256])]),
            _ => (Call::CondRequeue, &[first, rng.below(2)]),
        };
        let regs = Regs::call(number(call, scope, rng.pick(&kinds)), args);
        Action::Call { writes, regs }
    }

    /// The id of a thread in its domain.
    fn id_of(&self, thread: u32) -> u32 {
        self.board.id(Scope::Domain, thread)
    }

    /// Mostly that of a thread of the same domain.
    fn id_near(&self) -> u32 {
        let threads = self.board.machine.kernel.threads.size();
        match self.rng.below(6) {
            0 => self.rng.next() as u32,
            1 => 0,
            _ => self.id_of(self.rng.below(threads.into()) as u32),
        }
    }

    fn nonsense(&self) -> Regs {
        let rng = self.rng;
        let edges = [
            0,
            1,
            2,
            3,
            63,
            64,
            65,
            255,
            256,
            511,
            512,
            513,
            4095,
            PAGE,
            USER_TOP - PAGE,
            USER_TOP,
            USER_TOP + PAGE,
            1 << 31,
            1 << 32,
            u64::from(u32::MAX),
            1 << 47,
            1 << 63,
            u64::MAX - 1,
            u64::MAX,
        ];
        let edge = || match rng.below(4) {
            0 => rng.pick(&edges),
            1 => rng.next(),
            2 => self.any_slot() | rng.below(64) << 32,
            _ => self.any_slot(),
        };
        let options = if rng.once_in(4) { rng.next() & !0xff } else { 0 };
        let number = match rng.below(8) {
            0 => rng.next(),
            1 => rng.below(256),
            _ => rng.pick(&Call::ALL) as u64 | options,
        };
        // Only the supervisor ends a run, and kernels may tell their names apart.
        let excluded = [Call::Shutdown as u8, Call::Fact as u8];
        let number = if excluded.contains(&(number as u8)) { 200 } else { number };
        let args: [u64; 6] = std::array::from_fn(|_| edge());
        Regs::call(number, &args).with_words([edge(), edge(), edge(), edge()])
    }

    fn manage(&self) -> Regs {
        if self.board.machine.kernel.trees.exist() && self.rng.once_in(3) {
            return self.manage_reservations();
        }
        match self.rng.below(3) {
            0 => self.manage_capabilities(),
            1 => self.manage_threads(),
            _ => self.manage_objects(),
        }
    }

    fn manage_trains(&self) -> Regs {
        let rng = self.rng;
        match rng.below(8) {
            0 | 1 => {
                let args = [self.free_slot(true), 0x1000, 7, 0x2000, 0x100, rng.below(4)];
                call(Call::TrainCreate, &args)
            }
            2 | 3 => call(Call::TrainReturn, &[rng.next()]),
            _ => {
                let kind = rng.pick(&[Timeout::Never, Timeout::Zero, Timeout::At]);
                let until = self.now() + rng.below(1_000_000);
                Regs::call(train::number(kind), &[self.slot_of(Object::Train), 0, until])
            }
        }
    }

    fn manage_reservations(&self) -> Regs {
        let (named, domain) = (self.slot_of(Object::Thread), self.slot_of(Object::Domain));
        let Program { board, rng, thread } = *self;
        let empty = self.free_slot(true);
        Manages { board, rng, thread, empty, named, domain }.call()
    }

    fn manage_capabilities(&self) -> Regs {
        let rng = self.rng;
        let (full, empty) = (self.free_slot(false), self.free_slot(true));
        let any = if rng.once_in(2) { full } else { self.any_slot() };
        match rng.below(17) {
            0..3 => {
                let badge = if rng.once_in(3) { 77 } else { 0 };
                call(Call::CapCopy, &[any, empty, rng.below(64), badge])
            }
            3..6 => call(Call::CapDelete, &[full]),
            6..8 => call(Call::CapRevoke, &[full]),
            8..11 => call(Call::CapSaveReply, &[empty]),
            11 => call(Call::CapInspect, &[any]),
            12 => call(Call::ConsoleWrite, &[town::CONSOLE_SLOT, rng.below(34)]),
            13 => call(Call::ConsoleRead, &[town::CONSOLE_SLOT]),
            14 => call(Call::Fact, &[1 + rng.below(5)]),
            15 => call(Call::Observe, &[town::SYSTEM_SLOT, rng.below(7), rng.next()]),
            _ => {
                let row = rng.below(8) | rng.below(12) << 32;
                call(Call::Inspect, &[town::SYSTEM_SLOT, rng.below(6), row])
            }
        }
    }

    fn manage_threads(&self) -> Regs {
        let rng = self.rng;
        let thread = self.slot_of(Object::Thread);
        match rng.below(16) {
            0 => call(Call::Null, &[]),
            1 => call(Call::Clock, &[]),
            2..5 => call(Call::Yield, &[if rng.once_in(2) { 0 } else { thread }]),
            5..9 => {
                let domain = if rng.once_in(2) { 0 } else { self.slot_of(Object::Domain) };
                let at = rng.pick(&[0, town::buffer(8 + rng.below(4)), town::buffer(rng.below(3))]);
                let handler = if rng.once_in(2) { 0 } else { self.slot_of(Object::Endpoint) };
                let args = [self.free_slot(true), domain, rng.below(120), at, handler];
                call(Call::ThreadCreate, &args)
            }
            9 => {
                let at = if rng.once_in(8) { USER_TOP } else { 0x1000 };
                call(Call::ThreadExchange, &[thread, at, 0x2000, 3, 4, rng.below(32)])
            }
            10..13 => call(Call::ThreadResume, &[thread]),
            13 => call(Call::ThreadSuspend, &[thread]),
            14 if rng.once_in(4) => call(Call::ThreadMigrate, &[thread, rng.below(3)]),
            14 => call(Call::ThreadPriority, &[thread, rng.pick(&[30, 60, 90, 230, 256])]),
            _ if rng.once_in(2) => {
                let domain = self.slot_of(Object::Domain);
                call(Call::Name, &[rng.pick(&[thread, domain]), rng.pick(&[0, 0x61, 0x2f]), 0])
            }
            _ => call(Call::ThreadInspect, &[thread]),
        }
    }

    fn manage_objects(&self) -> Regs {
        let rng = self.rng;
        let empty = self.free_slot(true);
        match rng.below(16) {
            0..2 => {
                let attached = if rng.once_in(2) { 0 } else { self.slot_of(Object::Notification) };
                call(Call::EndpointCreate, &[empty, attached])
            }
            2 => call(Call::NotificationCreate, &[empty]),
            3 => call(Call::TimerCreate, &[empty, self.slot_of(Object::Notification)]),
            4..6 => {
                let at = if rng.once_in(3) { 0 } else { self.now() + rng.below(1_000_000) };
                call(Call::TimerSet, &[self.slot_of(Object::Timer), at])
            }
            6 if rng.once_in(4) => {
                call(Call::InterruptRoute, &[self.slot_of(Object::Interrupt), rng.below(2)])
            }
            6 => call(Call::InterruptAck, &[self.slot_of(Object::Interrupt)]),
            7 if rng.once_in(4) => call(Call::MemoryAddress, &[self.slot_of(Object::Memory)]),
            7 if rng.once_in(4) => {
                let access = [Call::PortRead, Call::PortWrite];
                let args = [self.slot_of(Object::Memory), rng.below(5), rng.below(5), rng.next()];
                call(rng.pick(&access), &args)
            }
            7 => call(Call::MemoryCreate, &[empty, rng.below(16)]),
            8..11 => self.map(empty),
            11..13 => {
                let rights = rng.pick(&[1, 3, 5, 1, 7, 2]);
                call(Call::Protect, &[self.slot_of(Object::Mapping), rights])
            }
            13 => {
                let quotas = [0x0001_0001_0002_0001, 0x0001_0002_0001_0000, 0x0010_0008_0008, 0];
                call(Call::DomainCreate, &[empty, 1 + rng.below(40), rng.below(240)])
                    .with_words(quotas)
            }
            _ => {
                let (from, to) = (self.any_slot(), 1 + rng.below(40));
                call(Call::DomainGrant, &[self.slot_of(Object::Domain), from, to, rng.below(64)])
            }
        }
    }

    fn map(&self, slot: u64) -> Regs {
        let rng = self.rng;
        let memory = self.slot_of(Object::Memory);
        let domain = if rng.once_in(2) { 0 } else { self.slot_of(Object::Domain) };
        let places = [0x10_0000_0000, 0x10_0020_0000 - 2 * PAGE, 0x11_0000_0000, 0x6000_0000];
        let at = rng.pick(&places) + rng.below(4) * PAGE;
        let at = if rng.once_in(16) { at + 8 } else { at };
        let rights: u64 = rng.pick(&[1, 3, 3, 5, 7, 0]);
        let args = [domain, memory, at, 1 + rng.below(6), rng.below(3), slot | rights << 32];
        call(Call::Map, &args)
    }
}
