//! What a server receives.

use crate::ipc::{Message, Received};
use crate::{Buffer, OwnedSlot};
use abi::call::fault;
use abi::message::FaultKind;
use core::cell::Cell;

/// A request, as its server sees it. Words and lengths are the client's choice.
pub struct Request {
    received: Received,
    buffer: Option<Buffer>,
    capability: Cell<Option<OwnedSlot>>,
}

impl Request {
    /// A message that was received by hand, as [`Server`](crate::Server) shows it. `buffer` is that
    /// of the thread that has received it; without one there are the first four words at most.
    #[inline(always)]
    pub fn new(received: Received, buffer: Option<Buffer>) -> Request {
        Request { received, buffer, capability: Cell::new(None) }
    }

    /// The same request with the capability that came with it.
    #[inline(always)]
    pub fn with_capability(self, capability: Option<OwnedSlot>) -> Request {
        Request { capability: Cell::new(capability), ..self }
    }

    /// The label, the client's choice.
    #[inline(always)]
    pub fn label(&self) -> u32 {
        self.received.info.label()
    }

    /// The badge of the capability that the client used, which it cannot choose; 0 without one.
    #[inline(always)]
    pub fn badge(&self) -> u64 {
        self.received.badge
    }

    /// The words that came in registers: exactly as many as were sent, four at most. A pattern says
    /// what is wanted:
    ///
    /// ```no_run
    /// # use rt::prelude::*;
    /// # fn answer(request: &Request) -> Message {
    /// let &[a, b] = request.words() else { return Message::empty(1) };
    /// Message::short(0, [a.wrapping_add(b)])
    /// # }
    /// ```
    #[inline(always)]
    pub fn words(&self) -> &[u64] {
        self.received.registers()
    }

    /// Length in words as it was sent, 0 to 128.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.received.info.words()
    }

    /// Whether it has no words.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A word; none beyond the length, and none beyond the fourth if the server has no buffer.
    #[inline]
    pub fn word(&self, index: usize) -> Option<u64> {
        self.received.word(index, self.buffer)
    }

    /// All words, as many as were sent; four at most if the server has no buffer. Those beyond the
    /// fourth stay in the buffer until the answer is built or another message comes.
    pub fn all(&self) -> impl Iterator<Item = u64> + use<> {
        let (received, buffer) = (self.received, self.buffer);
        (0..self.len()).map_while(move |index| received.word(index, buffer))
    }

    /// Whether the client has sent a capability with it. It has come if the server accepts some
    /// ([`Server::accepting`](crate::Server::accepting)), or in the slot that the buffer named
    /// ([`Buffer::accept`]).
    #[inline(always)]
    pub fn has_capability(&self) -> bool {
        self.received.info.has_capability()
    }

    /// Takes the capability that has come with it; once, and only if the server accepts some
    /// ([`Server::accepting`](crate::Server::accepting)). What is not taken is deleted with the
    /// request.
    #[inline]
    pub fn take_capability(&self) -> Option<OwnedSlot> {
        self.capability.take()
    }

    /// The server's buffer, if it was given one.
    #[inline(always)]
    pub fn buffer(&self) -> Option<Buffer> {
        self.buffer
    }

    /// The message itself.
    #[inline(always)]
    pub fn received(&self) -> Received {
        self.received
    }
}

/// A fault of a thread whose handler is the server's endpoint. The thread waits for the answer.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    received: Received,
}

impl Fault {
    /// The fault that a message tells; none if it is no fault message.
    pub fn from_received(received: Received) -> Option<Fault> {
        received.info.is_fault().then_some(Fault { received })
    }

    /// What happened; [`FaultKind::Other`] if the code means nothing here.
    pub fn kind(&self) -> FaultKind {
        FaultKind::from_code(self.received.info.label()).unwrap_or(FaultKind::Other)
    }

    /// The badge of the thread's capability to its handler.
    pub fn badge(&self) -> u64 {
        self.received.badge
    }

    /// The address that was used, or the machine's exception number.
    pub fn address(&self) -> u64 {
        self.received.words[0]
    }

    /// The thread's instruction pointer.
    pub fn instruction(&self) -> u64 {
        self.received.words[1]
    }

    /// The thread's stack pointer.
    pub fn stack(&self) -> u64 {
        self.received.words[2]
    }

    /// The machine's error code.
    pub fn code(&self) -> u64 {
        self.received.words[3]
    }
}

/// How a thread goes on that has faulted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultReply {
    /// It executes the instruction again: what was wrong has been mended.
    Retry,
    /// It goes on at this instruction pointer.
    Continue(u64),
    /// It is suspended.
    Suspend,
}

impl FaultReply {
    /// The answer as a message.
    pub const fn message(self) -> Message {
        match self {
            FaultReply::Retry => Message::empty(fault::RETRY),
            FaultReply::Continue(at) => Message::short(fault::CONTINUE, [at]),
            FaultReply::Suspend => Message::empty(fault::SUSPEND),
        }
    }
}
