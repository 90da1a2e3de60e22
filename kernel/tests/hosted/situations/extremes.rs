//! Extreme arguments, in every place of every system call. These tests have overflow checks on,
//! which the kernel on its machines has not: no argument may reach arithmetic that wraps.

use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::some;
use crate::support::host::Host;
use crate::support::scene::{
    CONSOLE_SLOT, DOMAIN, ENDPOINT, FREE, INTERRUPT, LEAF, MEMORY, NOTIFICATION, PORT, ROOT,
    SYSTEM_SLOT, THREAD, TIMER, boot, buffer, system,
};
use abi::call::{Call, NOTHING, REPLY, Timeout, ipc, partners};
use abi::{Info, PAGE, USER_TOP};
use kernel::system::{DirectLazy, Fastpath, System, Tree};

const EXTREMES: [u64; 14] = [
    0,
    1,
    7,
    PAGE - 1,
    PAGE,
    511 << 16,
    USER_TOP - PAGE,
    USER_TOP,
    u32::MAX as u64,
    1 << 32,
    1 << 63,
    (u32::MAX as u64) << 32,
    PAGE.wrapping_neg(),
    u64::MAX,
];

fn extremes() -> impl Iterator<Item = u64> {
    some(&EXTREMES).copied()
}

/// Arguments with which a call does something.
fn usual(call: Call) -> [u64; 6] {
    let info = Info::new(0, 2).0;
    let other = THREAD + 2;
    let arguments: &[u64] = match call {
        Call::Ipc => &[partners(ENDPOINT as u32, NOTHING), info, 0],
        Call::Call | Call::ReplyWait => &[ENDPOINT, info],
        Call::MutexWait | Call::CondWait | Call::InheritWait | Call::InheritCondWait => {
            &[buffer(1), 1 << 31, buffer(1) + 8, 1]
        }
        Call::MutexWake | Call::CondRequeue => &[buffer(1), 0],
        Call::InheritWake | Call::InheritRequeue | Call::InheritHelp => &[buffer(1), 0, 1],
        Call::Ceiling => &[20],
        Call::Serve => &[ENDPOINT, 1],
        Call::TrainCreate => &[FREE, 0x1000, 7, 0x10_0000, 0x1000, 2],
        Call::TrainCall => &[FREE, 0, 1],
        Call::TrainReturn => &[1],
        Call::Signal => &[NOTIFICATION],
        Call::CapCopy => &[ENDPOINT, FREE, 63, 0],
        Call::CapRevoke | Call::CapInspect => &[ENDPOINT],
        Call::CapDelete | Call::CapSaveReply | Call::Destroy => &[FREE],
        Call::EndpointCreate | Call::NotificationCreate => &[FREE, 0],
        Call::TimerCreate => &[FREE, NOTIFICATION],
        Call::TimerSet => &[TIMER, 0],
        Call::InterruptAck => &[INTERRUPT],
        Call::InterruptRoute => &[INTERRUPT, 0],
        Call::MemoryCreate => &[FREE, 1],
        Call::MemoryAddress => &[MEMORY],
        Call::PortRead => &[PORT, 0, 1],
        Call::PortWrite => &[PORT, 0, 1, 5],
        Call::Map => &[0, MEMORY, 0x1000_0000, 1, 0, FREE | 1 << 32],
        Call::Protect => &[FREE, 1],
        Call::DomainCreate => &[FREE, 4, 5],
        Call::DomainGrant => &[DOMAIN, ENDPOINT, FREE, 63],
        Call::ThreadCreate => &[FREE, 0, 5, 0, 0],
        Call::ThreadExchange => &[other, 0, 0, 0, 0, 0],
        Call::ThreadPriority => &[other, 5],
        Call::ThreadResume | Call::ThreadSuspend | Call::ThreadInspect => &[other],
        Call::ThreadMigrate => &[other, 0],
        Call::ReservationCreate => &[FREE, ROOT, 0, 1],
        Call::ReservationSet => &[LEAF, 0, 1, 0],
        Call::ReservationJoin => &[LEAF, ROOT, 1, 0],
        Call::Reserve => &[other, LEAF, 0, 0],
        Call::ReservationInspect => &[LEAF],
        Call::Name => &[other, 0x61],
        Call::ConsoleWrite | Call::ConsoleRead => &[CONSOLE_SLOT, 8],
        Call::Inspect | Call::Observe => &[SYSTEM_SLOT, 0, 0],
        Call::Shutdown | Call::Yield | Call::Null | Call::Clock | Call::Fact => &[0],
    };
    core::array::from_fn(|i| arguments.get(i).copied().unwrap_or(0))
}

/// A thread that calls, and one below it.
struct Caller<S: System<Port = Host>>(Board<S>);

impl<S: System<Port = Host>> Caller<S> {
    fn new() -> Caller<S> {
        Caller(boot(&[(1, 200), (2, 10)]))
    }

    /// Makes a call, which may fail or block, and cleans up behind it.
    fn makes(&mut self, regs: Regs) {
        self.0.call(regs);
        self.0.settle();
        self.0.check_core();
        for tidy in [Call::Destroy, Call::CapDelete] {
            if self.0.running() == Some(1) {
                self.0.call(system(tidy, &[FREE]));
                self.0.settle();
            }
        }
        if self.0.running() != Some(1) {
            *self = Caller::new();
        }
    }
}

/// Every pair of places of a call with every pair of values.
fn try_all<S: System<Port = Host>>(call: Call, number: u64) {
    let mut caller = Caller::<S>::new();
    let usual = usual(call);
    let places = 1 + usual.iter().rposition(|argument| *argument != 0).unwrap_or(0).max(3);
    for first in 0..places {
        for second in first..places {
            for (one, other) in extremes().flat_map(|one| extremes().map(move |other| (one, other)))
            {
                let mut args = usual;
                (args[first], args[second]) = (one, other);
                for words in [[0; 4], [u64::MAX; 4]] {
                    caller.makes(Regs::call(number, &args).with_words(words));
                }
            }
        }
    }
}

#[test]
fn management_calls() {
    let message_path = [Call::Ipc, Call::Call, Call::ReplyWait, Call::Shutdown];
    for call in Call::ALL.into_iter().filter(|call| !message_path.contains(call)) {
        try_all::<DirectLazy<Host>>(call, call as u64);
    }
}

/// Every value of a reservation, in every pair of its words, where the kernel has a tree.
#[test]
fn reservations() {
    for call in [Call::ReservationCreate, Call::Reserve, Call::ReservationInspect] {
        try_all::<Tree<Host>>(call, call as u64);
    }
    let mut caller = Caller::<Tree<Host>>::new();
    let settings = (0..6).map(|setting| (Call::ReservationSet, [LEAF, setting, 0]));
    let moves = [(Call::ReservationJoin, [LEAF, ROOT, 0])];
    for (call, mut args) in settings.chain(moves) {
        for code in 0..7 {
            args[2] = code;
            for (one, other) in extremes().flat_map(|one| extremes().map(move |other| (one, other)))
            {
                for words in [[one, other, 0, 0], [1, one, other, 0], [0, 0, one, other]] {
                    caller.makes(system(call, &args).with_words(words));
                }
            }
        }
    }
}

#[test]
fn messages() {
    fn under<S: System<Port = Host>>() {
        let info = Info::new(0, 2).0;
        let halves = [NOTHING, REPLY, 0, ENDPOINT as u32, FREE as u32];
        for (send, receive) in halves.into_iter().flat_map(|one| halves.map(|other| (one, other))) {
            for timeout in [Timeout::Zero, Timeout::At] {
                let number = ipc(timeout, timeout);
                let mut caller = Caller::<S>::new();
                for extreme in extremes() {
                    let pair = partners(send, receive);
                    caller.makes(Regs::call(number, &[pair, extreme, 0]));
                    caller.makes(Regs::call(number, &[pair, info, extreme]));
                    caller.makes(Regs::call(number | extreme << 12, &[pair, info, 1]));
                    caller.makes(Regs::call(number, &[pair ^ extreme, info, 1]));
                }
            }
        }
        for call in [Call::Call, Call::ReplyWait] {
            let mut caller = Caller::<S>::new();
            for extreme in extremes() {
                caller.makes(system(call, &[ENDPOINT, extreme]));
                caller.makes(system(call, &[extreme, info]));
            }
        }
    }
    under::<DirectLazy<Host>>();
    under::<Fastpath<Host>>();
}
