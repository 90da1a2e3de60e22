//! Who answers at a station: a thread here, or a domain with a thread.

use super::OTHERS;
use super::place::{Mark, Station, Worker};
use super::wrong::Wrong;
use abi::object::Resource;
use rt::memory::{self, Range};
use rt::thread::{self, Registers, Spec};
use rt::{Env, Error, Message, Rights, Slot, Wait, arch, domain, ipc};

/// Where a domain of its own has its code.
const CODE: u64 = 0x20_0000;
/// The label of an answer from here; that of a domain has another.
pub const NATIVE: u32 = 7;

/// Writes the code of domains into the memory that the manifest gives.
pub fn lay_out(env: &Env) {
    let words = env.mem("code");
    for (i, bytes) in arch::tiny_server().chunks(8).enumerate() {
        words.set(i, bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
}

/// A server of this domain: answers with the first word plus one and the badge, and with all words
/// beyond plus one. It ends with its endpoint.
pub fn work(env: &Env, argument: u64) {
    let me = Worker::of(env, argument);
    let (station, buffer) = (me.station(), env.buffer(me.n));
    let mut next = ipc::receive(station.door(), Wait::NEVER);
    loop {
        station.add(Mark::Served);
        next = match next {
            Ok(rung) if rung.info.is_notification() => {
                station.set(Mark::Heard, station.get(Mark::Rung));
                ipc::receive(station.door(), Wait::NEVER)
            }
            Ok(message) => {
                let length = message.info.words().max(2);
                for i in 4..length {
                    buffer.0.set(i, buffer.0.get(i) + 1);
                }
                let first = [message.words[0].wrapping_add(1), message.badge, 0, 0];
                ipc::reply_wait(station.door(), Message::long(NATIVE, length, first))
            }
            // The caller has gone, or the owner has cancelled.
            Err(Error::NoReply | Error::Cancelled) => ipc::receive(station.door(), Wait::NEVER),
            Err(Error::Destroyed | Error::Stale | Error::NoCapability) => return,
            Err(error) => return me.wrong(Wrong::Refused, [error as u64, 1]),
        };
    }
}

/// Begins the server of a station in a domain of its own.
pub fn begin_foreign(server: &Worker, station: &Station, priority: u64) -> Result<(), Error> {
    let mut quotas = [0; Resource::COUNT];
    quotas[Resource::Tables as usize] = 8;
    domain::create(station.domain(), 4, OTHERS, quotas)?;
    domain::grant(station.domain(), station.door(), Slot(1), Rights::RECEIVE)?;
    let memory = server.place.env.cap("code");
    let page = Range { memory, first: 0, pages: 1, address: CODE };
    memory::map(station.code(), station.domain(), page, Rights::READ.or(Rights::EXECUTE))?;
    let spec = Spec { domain: station.domain(), priority, buffer: 0, handler: Slot::NONE };
    thread::create(server.thread(), spec)?;
    let instruction = Some(CODE);
    thread::set(server.thread(), Registers { instruction, ..Registers::default() })?;
    thread::migrate(server.thread(), server.n as u64 % server.place.cpus)?;
    thread::resume(server.thread())
}
