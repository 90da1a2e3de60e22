//! The suite's partner in another domain. It answers requests on `work`.

use rt::{Env, Error, Message, Slot, Status, Wait};
use rt::{cap, ipc};

/// Answers with each word one higher.
pub const ECHO: u32 = 1;
/// Takes a capability; answers with its rights.
pub const TAKE: u32 = 2;
/// Sends a greeting through the capability that it took; answers with the status.
pub const USE: u32 = 3;
/// Answers no caller any more.
pub const KEEP: u32 = 4;
/// Answers with the badge of the caller.
pub const BADGE: u32 = 5;
/// Fills the vector registers with word 0 and answers.
pub const FILL: u32 = 6;
/// Tries to use a slot number that means something to the caller.
pub const FORGE: u32 = 7;

/// The word of a greeting.
pub const GREETING: u64 = 0x6869;

/// The partner: capability `work` (receive), memory `shared` (read only).
pub fn main(env: &Env) {
    let work = env.cap("work");
    let mut slots = env.slots();
    let mut taken = Slot::NONE;
    let mut accepting = slots.fresh();
    env.buffer(0).accept(accepting);
    let mut next = ipc::receive(work, Wait::NEVER);
    while let Ok(message) = next {
        let first = message.words[0];
        let answer = match message.info.label() {
            ECHO => Message::short(ECHO, message.words.map(|word| word.wrapping_add(1))),
            TAKE => {
                taken = accepting;
                accepting = slots.fresh();
                env.buffer(0).accept(accepting);
                let rights = cap::inspect(taken).map_or(u64::MAX, |held| u64::from(held.rights.0));
                Message::short(TAKE, [rights])
            }
            USE => {
                let greeting = Message::short(0, [GREETING]);
                Message::short(USE, [code(ipc::send(taken, greeting, Wait::ZERO))])
            }
            BADGE => Message::short(BADGE, [message.badge]),
            FILL => {
                rt::arch::simd_write(first);
                Message::empty(FILL)
            }
            FORGE => {
                let slot = Slot(first as u32);
                Message::short(FORGE, [code(ipc::send(slot, Message::empty(0), Wait::ZERO))])
            }
            _ => break,
        };
        next = ipc::reply_wait(work, answer);
    }
}

/// A result as a number: 0, or the error.
fn code(result: Result<(), Error>) -> u64 {
    result.map_or_else(|error| Status::failed(error).0, |()| Status::OK.0)
}
