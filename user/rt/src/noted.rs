//! The call that failed last: its number, what it was about, and its error. A call that succeeds
//! writes nothing, so this costs what fails alone.
//!
//! A domain has one note, which its threads share. It tells of the stack on which the call was
//! made, so a thread that finds another one's note takes it for none.

use crate::arch::note;
use abi::call::Call;
use abi::uses::About;
use abi::{Error, Status};

/// Words of a note.
pub(crate) const WORDS: usize = 6;

/// A call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    /// Which call.
    pub call: Call,
    /// What it was about.
    pub about: About,
    /// Why it failed.
    pub error: Error,
    /// An address in the stack of the thread that made it.
    pub stack: u64,
}

impl Noted {
    fn words(self) -> [u64; WORDS] {
        let [a, b, c] = self.about;
        let what = self.call as u64 | (self.error as u64) << 8;
        [what, a, b, c, self.stack, what ^ a ^ b ^ c ^ self.stack]
    }

    /// The note in these words; none if there is none, or two threads have written them at once.
    fn of([what, a, b, c, stack, sum]: [u64; WORDS]) -> Option<Noted> {
        let sound = what ^ a ^ b ^ c ^ stack == sum;
        let (call, error) = (Call::from_number(what)?, Error::from_code((what >> 8) as u8)?);
        sound.then_some(Noted { call, about: [a, b, c], error, stack })
    }

    /// The last one.
    pub(crate) fn last() -> Option<Noted> {
        Noted::of(note::read())
    }
}

/// Whether a slot, right or quota is to blame for an error, and not what others do or when.
fn is_told(error: Error) -> bool {
    matches!(
        error,
        Error::NoCapability
            | Error::WrongKind
            | Error::Stale
            | Error::MissingRight
            | Error::SlotOccupied
            | Error::QuotaExceeded
            | Error::PoolExhausted
            | Error::PriorityTooHigh
            | Error::WrongState
            | Error::AddressInUse
            | Error::BadAddress
    )
}

/// An address in the stack of the thread that calls.
#[inline(always)]
pub(crate) fn stack() -> u64 {
    let here = 0u8;
    core::ptr::from_ref(core::hint::black_box(&here)).addr() as u64
}

/// A status as a result. A failure is noted, with the call and what it is about.
#[inline(always)]
pub(crate) fn result(status: Status, call: Call, [a, b, c]: About) -> Result<(), Error> {
    match status {
        Status::OK => Ok(()),
        status => Err(failed(status, call, a, b, c)),
    }
}

/// What a call is about comes in registers: as an array it would be stored before the call is known
/// to have failed.
#[cold]
#[inline(never)]
fn failed(status: Status, call: Call, a: u64, b: u64, c: u64) -> Error {
    let about = [a, b, c];
    let error = status.result().err().unwrap_or(Error::UnknownCall);
    if is_told(error) {
        note::write(Noted { call, about, error, stack: stack() }.words());
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_a_mixed_one_is_none() {
        let about = [1, 2 << 32, u64::MAX];
        let (call, error) = (Call::TrainCall, Error::Stale);
        let note = Noted { call, about, error, stack: 0x7fff_0000 };
        assert_eq!(Noted::of(note.words()), Some(note));
        let other = Noted { call: Call::Map, about: [4, 5, 6], error: Error::MissingRight, ..note };
        for cut in 1..WORDS {
            let mut words = other.words();
            words[..cut].copy_from_slice(&note.words()[..cut]);
            assert_eq!(Noted::of(words), None, "cut at {cut}");
        }
        assert_eq!(Noted::of([0; WORDS]), None);
    }
}
