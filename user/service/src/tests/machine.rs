//! A machine on which each call is answered at once by the dispatch of a server.

use super::{Clerk, Desk};
use rt::abi::call::{Call, Timeout};
use rt::abi::message::BUFFER_WORDS;
use rt::arch::{self, Machine, Outcome};
use rt::{Buffer, Error, Info, Message, Received, Request, Rights, Status};
use std::boxed::Box;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::atomic::AtomicU64;
use std::vec::Vec;

/// The badge of the client's capability.
pub const BADGE: u64 = 77;
/// Where the message buffer lies, the client's as well as the server's.
const BUFFER: u64 = 0x1_0000;

/// One client and one server.
pub struct Loop {
    clerk: RefCell<Clerk>,
    lie: Cell<Option<Message>>,
    failure: Cell<Option<Error>>,
    numbers: RefCell<Vec<u64>>,
    memory: &'static [AtomicU64; BUFFER_WORDS],
}

/// The machine of this host thread until this is dropped.
pub struct Installed(&'static Loop);

/// Installs one.
pub fn install(clerk: Clerk) -> Installed {
    let machine: &'static Loop = Box::leak(Box::new(Loop {
        clerk: RefCell::new(clerk),
        lie: Cell::default(),
        failure: Cell::default(),
        numbers: RefCell::default(),
        memory: Box::leak(Box::new([const { AtomicU64::new(0) }; BUFFER_WORDS])),
    }));
    arch::install(Some(machine));
    Installed(machine)
}

impl Drop for Installed {
    fn drop(&mut self) {
        arch::install(None);
    }
}

impl Installed {
    /// The message buffer.
    pub fn buffer(&self) -> Buffer {
        arch::buffer(BUFFER)
    }

    /// All calls are answered so, whatever the server thinks.
    pub fn lie(&self, answer: Message) {
        self.0.lie.set(Some(answer));
    }

    /// The next call fails.
    pub fn fail(&self, error: Error) {
        self.0.failure.set(Some(error));
    }

    /// How many calls were made.
    pub fn calls(&self) -> usize {
        self.0.numbers.borrow().len()
    }

    /// How calls have waited for their answers: each way once, in the order of numbers.
    pub fn waits(&self) -> Vec<Timeout> {
        let numbers: BTreeSet<u64> = self.0.numbers.borrow().iter().copied().collect();
        let ways = [Timeout::Never, Timeout::Zero, Timeout::At];
        let of = |number: u64| match number {
            number if number == Call::Call as u64 => Timeout::Never,
            number => *ways.iter().find(|way| rt::abi::call::ipc(**way, **way) == number).unwrap(),
        };
        numbers.into_iter().map(of).collect()
    }

    /// Looks at the server.
    pub fn with<R>(&self, look: impl FnOnce(&mut Clerk) -> R) -> R {
        look(&mut self.0.clerk.borrow_mut())
    }
}

impl Machine for Loop {
    fn call(&self, number: u64, arguments: [u64; 6], words: [u64; 4]) -> Outcome {
        let outcome = |status, answer: Message| Outcome {
            status,
            badge: 0,
            info: answer.info,
            words: answer.words,
        };
        if number == Call::Clock as u64 {
            return outcome(Status::OK, Message::empty(0));
        }
        self.numbers.borrow_mut().push(number);
        if let Some(error) = self.failure.take() {
            return outcome(Status::failed(error), Message::empty(0));
        }
        let info = Info(arguments[1]);
        let received = Received { badge: BADGE, info, words };
        let request = Request::new(received, Some(arch::buffer(BUFFER)));
        let answer = self.clerk.borrow_mut().dispatch(&request);
        outcome(Status::OK, self.lie.get().unwrap_or(answer))
    }

    fn reach(&self, address: u64, _: Rights, _: bool) -> Option<&'static AtomicU64> {
        let index = address.checked_sub(BUFFER).expect("an address of the buffer") / 8;
        Some(&self.memory[index as usize])
    }
}
