//! Small servers for the shell to play with.

use rt::{Env, Message, Wait, ipc, system};

/// Nanoseconds between two counts.
const STEP: u64 = 1_000_000;

/// Answers each message on `echo` with the same words.
pub fn main(env: &Env) {
    ipc::serve(env.cap("echo"), |message| {
        let words = message.info.words().min(4);
        Message::long(message.info.label(), words, message.words)
    });
}

/// Counts, and tells each caller on `count` how far it has come.
pub fn counter(env: &Env) {
    let on = env.cap("count");
    let mut count = 0;
    let mut next = system::clock() + STEP;
    loop {
        match ipc::receive(on, Wait::until(next)) {
            // The client may be gone by now.
            Ok(_) => drop(ipc::reply(Message::short(0, [count]))),
            Err(rt::Error::Timeout) => {
                count += 1;
                next += STEP;
            }
            Err(_) => return,
        }
    }
}
