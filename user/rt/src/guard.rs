//! Access to memory that another domain may take away meanwhile.
//!
//! A thread that reads what it was lent faults if the lender has destroyed it. A [`Guard`] makes
//! that an error, [`Error::Destroyed`]: another thread of the program, not below it, is its
//! fault handler and lets it go on behind the access ([`watch`]).
//!
//! ```no_run
//! use rt::prelude::*;
//! use rt::{Guard, Mapping, guard};
//!
//! // The manifest: `fault_handler = "faults"`, the capability `faults` to that endpoint with the
//! // rights `receive` and `destroy`, `threads = 2`, `quota = { threads = 1 }`.
//! fn program(env: &Env) {
//!     guard::start(env, 1, 120, env.cap("faults")).expect("a guard");
//!     // ...
//! }
//!
//! fn first_word(env: &Env, lent: &Mapping) -> Result<u64, Error> {
//!     Guard::of(env.buffer(0)).get(lent, 0)
//! }
//! ```

use crate::shared::Words;
use crate::thread::{self, Spec};
use crate::{Buffer, Env, Fault, FaultReply, Mapping, Message, Server, Slot, SlotPool, arch, cap};
use abi::Error;
use abi::message::FaultKind;
use core::sync::atomic::Ordering;

/// The word of a thread's message buffer that says where it goes on if its access is refused; 0
/// outside of such an access.
const RESUME: usize = 479;
/// Bytes of code from a guarded access to where it goes on, at most.
const NEAR: u64 = 16;

/// Guarded access by one thread.
#[derive(Clone, Copy)]
pub struct Guard {
    resume: Words,
}

impl Guard {
    /// That of the thread whose message buffer this is. Its faults go to a thread that runs
    /// [`watch`], with the thread's number in the environment as the badge.
    pub fn of(buffer: Buffer) -> Guard {
        Guard { resume: buffer.0.part(RESUME, 1) }
    }

    /// One word.
    ///
    /// # Errors
    ///
    /// [`Error::Destroyed`]: the memory is gone.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[track_caller]
    pub fn get(&self, from: &Mapping, index: usize) -> Result<u64, Error> {
        let value = arch::read(address(from, index), self.resume.word(0));
        self.done();
        value.ok_or(Error::Destroyed)
    }

    /// Changes one word.
    ///
    /// # Errors
    ///
    /// [`Error::Destroyed`]: the memory is gone, or mapped without the right to write.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[track_caller]
    pub fn set(&self, to: &Mapping, index: usize, value: u64) -> Result<(), Error> {
        let done = arch::write(address(to, index), value, self.resume.word(0));
        self.done();
        done.then_some(()).ok_or(Error::Destroyed)
    }

    /// Copies bytes out, from the first on, as far as there is room.
    ///
    /// # Errors
    ///
    /// [`Error::Destroyed`]: the memory is gone; a part may have been copied.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    #[track_caller]
    pub fn read(&self, from: &Mapping, into: &mut [u8]) -> Result<(), Error> {
        for (index, part) in into.chunks_mut(8).enumerate() {
            part.copy_from_slice(&self.get(from, index)?.to_le_bytes()[..part.len()]);
        }
        Ok(())
    }

    /// A fault from now on is a mistake of the program.
    fn done(&self) {
        self.resume.word(0).store(0, Ordering::Relaxed);
    }
}

#[track_caller]
fn address(of: &Mapping, index: usize) -> u64 {
    assert!(index < of.len(), "word {index} of {}", of.len());
    of.address() + 8 * index as u64
}

/// Starts [`watch`] as further thread `n` of the environment, at a priority not below that of the
/// threads whose faults come to the endpoint. It keeps a slot of the program's [`SlotPool`].
///
/// # Errors
///
/// Those of [`thread::start`]; [`Error::PoolExhausted`]: no slot is free.
pub fn start(env: &Env, n: usize, priority: u64, faults: Slot) -> Result<(), Error> {
    let spec = Spec { handler: Slot::NONE, ..Spec::further(env, n, priority) };
    let slot = SlotPool::new(env).try_take()?;
    thread::start(env, n, slot.slot(), spec, (watch, faults.word()))?;
    slot.keep();
    Ok(())
}

/// Answers the faults that come to an endpoint, in the slot with this number: those of guarded
/// accesses go on behind them. Any other is a mistake of the program, and is left to the kernel:
/// the endpoint is destroyed, so that no thread is guarded any more, and the thread faults again,
/// without a handler. A thread that is guarded must not be destroyed in the middle of an access.
pub fn watch(env: &Env, faults: u64) {
    let faults = Slot(faults as u32);
    let handle = |fault: &Fault| {
        let number = fault.badge() as usize;
        let resume = if number < env.threads() { env.buffer(number).0.get(RESUME) } else { 0 };
        // The access stands right before the place behind it.
        let near = resume.saturating_sub(NEAR)..resume;
        if fault.kind() == FaultKind::Memory && near.contains(&fault.instruction()) {
            return FaultReply::Continue(resume);
        }
        match cap::destroy(faults) {
            Ok(()) => FaultReply::Retry,
            Err(_) => FaultReply::Suspend,
        }
    };
    Server::new(faults).on_fault(handle).run(|_| Message::empty(0));
}
