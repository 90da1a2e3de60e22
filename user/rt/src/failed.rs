//! Which half of a message operation failed.

use crate::arch::Outcome;
use crate::ipc::Received;
use abi::{Error, Status};
use core::fmt;

/// A half of a message operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Nothing was sent, and nothing received. The reason may be in what the receive half names:
    /// everything is checked before anything is sent.
    Send,
    /// What was to be sent was sent; nothing was received.
    Receive,
}

/// Why a message operation failed, and what it did before.
///
/// ```no_run
/// use rt::prelude::*;
/// use rt::{Half, ipc};
///
/// # fn ask(door: Slot) {
/// let outcome = ipc::exchange(door, Slot::REPLY, Message::empty(1), Wait::within(1.ms()));
/// match outcome.halves() {
///     Ok(answer) => drop(answer.words),
///     Err(failed) if failed.half == Half::Send => {} // the server does not know of it
///     Err(_) => {} // the server may have done it
/// }
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The half that failed.
    pub half: Half,
    /// Why.
    pub error: Error,
}

impl Failed {
    /// What a status says; none if all was done.
    pub fn from_status(status: Status) -> Option<Failed> {
        let half = if status.in_receive() { Half::Receive } else { Half::Send };
        status.result().err().map(|error| Failed { half, error })
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Error {
        failed.error
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let half = match self.half {
            Half::Send => "the send half",
            Half::Receive => "the receive half",
        };
        write!(f, "{:?} in {half}", self.error)
    }
}

impl Outcome {
    /// The message that arrived, or which half failed.
    #[inline(always)]
    pub fn halves(self) -> Result<Received, Failed> {
        match Failed::from_status(self.status) {
            None => Ok(Received { badge: self.badge, info: self.info, words: self.words }),
            Some(failed) => Err(failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn a_status_tells_the_half() {
        assert_eq!(Failed::from_status(Status::OK), None);
        for error in Error::ALL {
            let sending = Failed { half: Half::Send, error };
            assert_eq!(Failed::from_status(Status::failed(error)), Some(sending));
            let receiving = Failed { half: Half::Receive, error };
            assert_eq!(Failed::from_status(Status::failed_in_receive(error)), Some(receiving));
            assert_eq!(Error::from(receiving), error);
        }
        let failed = Failed { half: Half::Receive, error: Error::Timeout };
        assert_eq!(failed.to_string(), "Timeout in the receive half");
    }
}
