//! The elevator (S0-39): a chain of threads with ascending priorities, each blocked on the one
//! before, below a server that is higher than all.
//!
//! Thread n, when it is woken: (1) sends to the server, which runs, so that n is put into the ready
//! queue; (2) the server waits again, so that n goes on; (3) wakes thread n + 1 and waits, either
//! by a call or by a send and a receive from the one before in one operation. When the last one
//! waits too, a lazy ready queue holds all of them, blocked, and the next look-up drops them. Each
//! form of a bare message counts here, hence no typed calls.

use super::crowd::{Crowd, MOST, nth, unpack};
use super::{Sampler, numbers, settle};
use abi::Info;
use rt::{Env, Slot, Words, ipc};

/// Metrics and forms of the third step: a call, and a send with a receive.
const CALL: u64 = 1;
const SEND: u64 = 2;

const PLAIN: Info = Info::new(0, 2);

/// Capabilities `server`, `top` (send, receive) and those of the sampler; memory `control`; a
/// quota for the threads and doors; arguments `sweep` (numbers of threads) and `forms`.
pub fn main(env: &Env) {
    let mut sampler = Sampler::open(env);
    let mut crowd = Crowd::new(env);
    crowd.grow(MOST as u64, ride);
    crowd.join(1, 252, serve, 0);
    let control = env.mem("control");
    let mut driven = false;
    for form in numbers(env, "forms") {
        for threads in numbers(env, "sweep") {
            set(control, threads, form);
            if !driven {
                crowd.join(2, 1, drive, u64::from(crowd.doors.0) << 16);
                driven = true;
            }
            settle();
            sampler.sample(form as u16, threads as u16);
        }
    }
    sampler.done(env);
}

fn set(control: Words, threads: u64, form: u64) {
    control.set(0, threads | form << 16);
}

/// The server: takes what comes.
fn serve(env: &Env, _: u64) {
    let server = env.cap("server");
    loop {
        ipc::receive_short(server).status.result().expect("a message");
    }
}

/// The lowest thread: sends the elevator up, and after calls down again.
fn drive(env: &Env, argument: u64) {
    let ((_, doors), top, control) = (unpack(argument), env.cap("top"), env.mem("control"));
    loop {
        let word = control.get(0);
        let (threads, form) = (word & 0xffff, word >> 16);
        let up = ipc::send_short(nth(doors, 1), PLAIN, [threads, form]);
        up.status.result().expect("the first one waits");
        if form == CALL {
            ipc::send_short(top, Info::new(0, 0), []).status.result().expect("the last one waits");
        }
    }
}

/// A thread of the chain.
fn ride(env: &Env, argument: u64) {
    let (n, doors) = unpack(argument);
    let (own, next) = (nth(doors, n), nth(doors, n + 1));
    let (server, top) = (env.cap("server"), env.cap("top"));
    let mut woken = ipc::receive_short(own);
    loop {
        woken.status.result().expect("the thread before");
        let [threads, form, ..] = woken.words;
        ipc::send_short(server, Info::new(0, 0), []).status.result().expect("the server waits");
        woken = match (form, n == threads) {
            (SEND, true) => ipc::receive_short(own),
            (SEND, false) => ipc::exchange_short(next, own, PLAIN, [threads, form]),
            (_, last) => {
                let down = match last {
                    true => ipc::receive_short(top),
                    false => ipc::call_short(next, PLAIN, [threads, form]),
                };
                down.status.result().expect("the way down");
                back(n, own)
            }
        };
    }
}

/// Lets the caller go on, if there is one, and waits again.
fn back(n: u64, own: Slot) -> rt::arch::Outcome {
    match n {
        1 => ipc::receive_short(own),
        _ => ipc::reply_wait_short(own, Info::new(0, 0), []),
    }
}
