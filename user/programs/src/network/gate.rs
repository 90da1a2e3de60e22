//! What the drivers of networks share: receive reservations, and who may change them.

use flows::{Gate, WORDS};
use network::LAYOUT;
use rt::prelude::*;
use rt::{Buffer, Received, Request, Slot, Words, ipc};

/// The words of a link's memory behind the rings, by which units come back.
pub(crate) fn units(link: Words) -> Words {
    link.part(2 * LAYOUT.words(), WORDS)
}

/// The gate in front of a link, with the reservations of an argument; without it there are none.
///
/// # Panics
///
/// If the argument cannot be read.
pub(crate) fn gate(env: &Env, link: Words, argument: &str) -> Gate<Words> {
    let text = env.arg(argument).unwrap_or("");
    Gate::new(units(link), text).expect("the argument is like `17/7:4 *:0`")
}

/// What a driver waits for: a notification, or an endpoint `reservations` to which it is attached,
/// where clients change reservations.
pub(crate) struct Bell {
    slot: Slot,
    /// Where the words of requests are, if there can be any.
    requests: Option<Buffer>,
}

impl Bell {
    /// The bell of a name.
    pub fn of(env: &Env, name: &str) -> Bell {
        match env.find_cap("reservations") {
            Some(slot) => Bell { slot, requests: Some(env.buffer(0)) },
            None => Bell { slot: env.cap(name), requests: None },
        }
    }

    /// Waits for a signal, if the driver may wait, and answers a request. Requests have their turn
    /// also while the driver has something to do all the time.
    pub fn next(
        &self,
        may_wait: bool,
        answer: impl FnOnce(&Request) -> Message,
    ) -> Option<Received> {
        let wait = match (may_wait, self.requests) {
            (true, _) => Wait::NEVER,
            (false, Some(_)) => Wait::ZERO,
            (false, None) => return None,
        };
        match ipc::receive(self.slot, wait) {
            Ok(signal) if signal.info.is_from_kernel() => Some(signal),
            Ok(received) => {
                // A client may have gone meanwhile.
                let _ = ipc::reply(answer(&Request::new(received, self.requests)));
                None
            }
            Err(Error::Timeout) => None,
            Err(error) => panic!("the driver cannot be signalled: {error:?}"),
        }
    }
}
