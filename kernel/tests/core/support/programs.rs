//! What programs do: system calls chosen at random, from sensible to senseless.

use super::board::Board;
use super::context::Regs;
use super::host::{Event, Host};
use super::rng::Rng;
use super::town;
use abi::call::{Call, NOTHING, REPLY, Timeout, exchange, ipc, partners};
use abi::message::{
    BUFFER_RECEIVE_SLOT, BUFFER_SEND_RIGHTS, BUFFER_SEND_SLOT, FaultKind, FaultKind as Kind,
};
use abi::{Info, PAGE, Rights, USER_TOP};
use kernel::fault::Fault;
use kernel::port::Port;
use kernel::system::System;

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
    /// Of the rest, calls with arguments that make no sense, in percent.
    pub nonsense: u64,
    /// Destroying things, once in so many of the rest.
    pub destroy_once_in: u64,
}

/// Mostly messages.
pub const TALK: Mix = Mix { messages: 80, nonsense: 5, destroy_once_in: 40 };
/// Mostly everything else.
pub const MANAGE: Mix = Mix { messages: 15, nonsense: 20, destroy_once_in: 6 };

/// Chooses what happens next. Depends only on what two kernels in lockstep have in common.
pub fn choose<S: System<Port = Host>>(board: &Board<S>, rng: &Rng, mix: &Mix) -> Action {
    let Some(thread) = board.running() else { return idle(board, rng) };
    match rng.below(100) {
        0..3 => return Action::Advance(rng.below(3_000_000)),
        3..5 => return Action::Raise(Event::Line(1 + rng.below(4) as u8)),
        5 => return Action::Raise(Event::Spurious),
        6 => return Action::Fault(fault(rng)),
        _ => {}
    }
    let now = board.host.now();
    if thread == 1 {
        return plain(supervise(rng, now));
    }
    let any = || rng.below(town::SLOTS + 2);
    let regs = if rng.below(100) < mix.messages {
        message(rng, now)
    } else if rng.below(100) < mix.nonsense {
        nonsense(rng)
    } else if rng.once_in(mix.destroy_once_in) {
        let slot = if rng.once_in(3) { any() } else { town::FREE + rng.below(24) };
        Regs::call(Call::Destroy as u64, &[slot])
    } else {
        manage(rng, now)
    };
    let free = town::FREE + rng.below(24);
    let writes = [
        (BUFFER_SEND_SLOT, if rng.once_in(2) { rng.below(24) } else { free }),
        (BUFFER_SEND_RIGHTS, rng.below(64)),
        (BUFFER_RECEIVE_SLOT, if rng.once_in(4) { any() } else { free }),
        (rng.below(128) as usize, rng.next()),
    ];
    let words = [rng.next(), rng.next(), rng.below(4), rng.below(4)];
    let regs = if regs.words == [0; 4] { regs.with_words(words) } else { regs };
    Action::Call { writes, regs }
}

fn plain(regs: Regs) -> Action {
    Action::Call { writes: [(0, 0); 4], regs }
}

fn idle<S: System<Port = Host>>(board: &Board<S>, rng: &Rng) -> Action {
    match board.host.armed() {
        Some(at) if !rng.once_in(8) => {
            Action::Advance(at.saturating_sub(board.host.now()).min(1 << 40))
        }
        _ => Action::Raise(Event::Line(1 + rng.below(4) as u8)),
    }
}

fn fault(rng: &Rng) -> Fault {
    let kinds = [Kind::Memory, Kind::Instruction, Kind::Arithmetic, Kind::Debug, Kind::Other];
    let kind: FaultKind = rng.pick(&kinds);
    Fault { kind, detail: rng.next(), code: rng.below(32) }
}

/// Keeps a town going: frees whoever is stuck, then sleeps.
fn supervise(rng: &Rng, now: u64) -> Regs {
    let thread = rng.pick(&[
        town::FIRST_THREADS + rng.below(4),
        town::THREAD + 1 + rng.below(3),
        town::FREE + rng.below(24),
    ]);
    match rng.below(12) {
        0 => Regs::call(Call::ThreadSuspend as u64, &[thread]),
        1..4 => Regs::call(Call::ThreadResume as u64, &[thread]),
        4 => {
            let mask = exchange::CANCEL | rng.below(16);
            Regs::call(Call::ThreadExchange as u64, &[thread, 0x1000, 0x2000, 3, 4, mask])
        }
        5 => Regs::call(Call::ThreadPriority as u64, &[thread, rng.below(120)]),
        6 => message(rng, now),
        _ => {
            let number = ipc(Timeout::Never, Timeout::At);
            let until = now + 1 + rng.below(2_000_000);
            Regs::call(number, &[partners(NOTHING, NOTHING), 0, until])
        }
    }
}

fn endpoint(rng: &Rng) -> u32 {
    match rng.below(20) {
        0 => rng.below(town::SLOTS + 2) as u32,
        1 => town::FREE as u32 + rng.below(24) as u32,
        _ => (town::ENDPOINT + rng.below(town::ENDPOINTS)) as u32,
    }
}

fn descriptor(rng: &Rng) -> u64 {
    let words = match rng.below(10) {
        0..6 => rng.below(5),
        6..8 => rng.pick(&[8, 16, 64, 127, 128]),
        8 => rng.below(128),
        _ => rng.pick(&[129, 200, 255]),
    };
    let info = Info::new(rng.below(4) as u32, words as usize);
    let info = if rng.once_in(8) { info.with_capability() } else { info };
    // Now and then bits that only the kernel may set, and bits that mean nothing.
    if rng.once_in(16) { info.0 | rng.below(1 << 32) & !0x1ff } else { info.0 }
}

fn message(rng: &Rng, now: u64) -> Regs {
    let info = descriptor(rng);
    match rng.below(16) {
        0..5 => Regs::call(Call::Call as u64, &[u64::from(endpoint(rng)), info]),
        5..10 => Regs::call(Call::ReplyWait as u64, &[u64::from(endpoint(rng)), info]),
        10 => Regs::call(Call::Signal as u64, &[town::NOTIFICATION + rng.below(2)]),
        _ => {
            let other = |rng: &Rng| rng.pick(&[NOTHING, REPLY, town::FREE as u32]);
            let send = if rng.once_in(3) { other(rng) } else { endpoint(rng) };
            let receive = match rng.below(8) {
                0..3 => other(rng),
                3 => (town::NOTIFICATION + rng.below(2)) as u32,
                _ => endpoint(rng),
            };
            let kinds = [Timeout::Never, Timeout::Zero, Timeout::At, Timeout::At];
            let number = ipc(rng.pick(&kinds), rng.pick(&kinds));
            let deadline = (now + rng.below(4_000_000)).saturating_sub(100_000);
            Regs::call(number, &[partners(send, receive), info, deadline])
        }
    }
}

fn nonsense(rng: &Rng) -> Regs {
    let edge = |rng: &Rng| {
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
        match rng.below(4) {
            0 => rng.pick(&edges),
            1 => rng.next(),
            2 => rng.below(town::SLOTS + 2) | rng.below(64) << 32,
            _ => rng.below(town::SLOTS + 2),
        }
    };
    let number = match rng.below(8) {
        0 => rng.next(),
        1 => rng.below(256),
        _ => rng.pick(&Call::ALL) as u64 | if rng.once_in(4) { rng.next() & !0xff } else { 0 },
    };
    let args: [u64; 6] = std::array::from_fn(|_| edge(rng));
    Regs::call(number, &args).with_words([edge(rng), edge(rng), edge(rng), edge(rng)])
}

fn manage(rng: &Rng, now: u64) -> Regs {
    let free = || town::FREE + rng.below(24);
    let own = || town::THREAD + rng.below(town::THREADS.into());
    let thread = || if rng.once_in(3) { free() } else { own() };
    let any = || rng.below(town::SLOTS);
    let call = |call: Call, args: &[u64]| Regs::call(call as u64, args);
    match rng.below(40) {
        0 => call(Call::Null, &[]),
        1 => call(Call::Clock, &[]),
        2 => call(Call::Fact, &[1 + rng.below(5)]),
        3..5 => call(Call::Yield, &[if rng.once_in(2) { 0 } else { thread() }]),
        5..7 => call(Call::CapCopy, &[any(), free(), rng.below(64), rng.below(2) * 77]),
        7..11 => call(Call::CapDelete, &[free()]),
        11 => call(Call::CapRevoke, &[if rng.once_in(8) { any() } else { free() }]),
        12..14 => call(Call::CapSaveReply, &[free()]),
        14 => call(Call::CapInspect, &[any()]),
        15 => {
            let attached = if rng.once_in(2) { 0 } else { town::NOTIFICATION };
            call(Call::EndpointCreate, &[free(), attached])
        }
        16 => call(Call::NotificationCreate, &[free()]),
        17 => call(Call::TimerCreate, &[free(), town::NOTIFICATION + rng.below(2)]),
        18 => {
            let at = if rng.once_in(3) { 0 } else { now + rng.below(5_000_000) };
            call(Call::TimerSet, &[if rng.once_in(2) { town::TIMER } else { free() }, at])
        }
        19 => call(Call::InterruptAck, &[town::INTERRUPT]),
        20 => call(Call::MemoryCreate, &[free(), 1 + rng.below(16)]),
        21..24 => map(rng),
        24..26 => call(Call::Protect, &[free(), rng.pick(&[1, 3, 5, 1, 7, 2])]),
        26 => domain(rng),
        27 => call(Call::DomainGrant, &[free(), any(), 1 + rng.below(16), rng.below(64)]),
        28..31 => {
            let home = rng.pick(&[0, 0, 0, town::DOMAIN, free()]);
            let at = rng.pick(&[0, town::buffer(8 + rng.below(4)), town::buffer(rng.below(3))]);
            let handler = if rng.once_in(2) { 0 } else { town::ENDPOINT };
            call(Call::ThreadCreate, &[free(), home, rng.below(120), at, handler])
        }
        31 => {
            let mask = rng.below(32);
            call(Call::ThreadExchange, &[thread(), 0x1000, 0x2000, 3, 4, mask])
        }
        32..35 => call(Call::ThreadResume, &[thread()]),
        35 => call(Call::ThreadSuspend, &[thread()]),
        36 => call(Call::ThreadPriority, &[thread(), rng.below(120)]),
        37 => call(Call::ThreadInspect, &[thread()]),
        38 => call(Call::ConsoleWrite, &[town::CONSOLE_SLOT, rng.below(34)]),
        _ => call(Call::Inspect, &[town::SYSTEM_SLOT, rng.below(6), rng.below(8)]),
    }
}

fn map(rng: &Rng) -> Regs {
    let free = || town::FREE + rng.below(24);
    let memory = if rng.once_in(2) { town::MEMORY } else { free() };
    let home = rng.pick(&[0, 0, 0, town::DOMAIN, free()]);
    let at = rng.pick(&[0x10_0000_0000, 0x10_0020_0000 - 2 * PAGE, 0x11_0000_0000, 0x6000_0000])
        + rng.below(4) * PAGE;
    let rights = Rights(rng.pick(&[1, 3, 3, 5, 7, 0]));
    let slot = free() | u64::from(rights.0) << 32;
    Regs::call(Call::Map as u64, &[home, memory, at, 1 + rng.below(6), rng.below(3), slot])
}

fn domain(rng: &Rng) -> Regs {
    let free = town::FREE + rng.below(24);
    let quotas = [0x0001_0001_0002_0001, 0x0001_0002_0001_0000, 0x0010_0008_0008, 0];
    Regs::call(Call::DomainCreate as u64, &[free, 1 + rng.below(40), rng.below(120)])
        .with_words(quotas)
}

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
