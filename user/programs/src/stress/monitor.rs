//! The thread that handles the faults of the others: a thread that may not reach an address skips
//! it.

use super::place::Worker;
use super::wrong::Wrong;
use core::sync::atomic::Ordering::Relaxed;
use rt::abi::call::fault::CONTINUE;
use rt::{Env, Error, Message, Wait, ipc};

/// The thread; its number is its argument.
pub fn work(env: &Env, argument: u64) {
    let me = Worker::of(env, argument);
    let mut next = ipc::receive(me.place.fault_endpoint(), Wait::NEVER);
    loop {
        next = match next {
            Ok(fault) if fault.info.is_fault() => {
                let at = Worker::new(&me.place, fault.badge as usize).resume().load(Relaxed);
                ipc::reply_wait(me.place.fault_endpoint(), Message::short(CONTINUE, [at]))
            }
            Ok(other) => return me.wrong(Wrong::Answer, [other.info.0, other.badge]),
            // The thread that faulted was destroyed meanwhile.
            Err(Error::NoReply) => ipc::receive(me.place.fault_endpoint(), Wait::NEVER),
            // The round is over.
            Err(Error::Destroyed) => return,
            Err(error) => return me.wrong(Wrong::Refused, [error as u64, 0]),
        };
    }
}
