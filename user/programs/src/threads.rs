//! As many threads as the quota allows: each answers one message, then all are destroyed. A
//! bare message is enough to see that each lives, hence no typed calls.

use rt::thread::{self, Spec};
use rt::{Env, Error, Message, Slot, Wait, cap, ipc, print, println, system};

/// Capabilities `console`, `system` and `roll-call` (send, receive); memory `stacks`, with
/// `stack` bytes for each thread.
pub fn main(env: &Env) {
    let console = env.console();
    let (created, refusal) = create_all(env);
    println!(console, "created {created} threads, then: {refusal:?}");
    let answered = call_all(env, created);
    let destroyed = env.slots().take(created).filter(|slot| cap::destroy(*slot).is_ok()).count();
    println!(console, "{answered} answered, {destroyed} destroyed");
    let again = thread::create(env.slots().fresh(), spec(env));
    let expected = env.number("threads", 0) as usize;
    let whole = [created, answered, destroyed] == [expected; 3];
    let held = [
        ("as many threads as the quota allows", created == expected),
        ("one more is refused for the quota", refusal == Some(Error::QuotaExceeded)),
        ("each answers one message", answered == expected),
        ("all are destroyed", whole),
        ("then there is room for another", again.is_ok()),
    ];
    for (what, held) in held {
        print!(console, "{}", if held { "ok " } else { "FAILED " });
        println!(console, "{what}");
    }
    let status = u64::from(!held.iter().all(|(_, held)| *held));
    system::shutdown(env.cap("system"), status).expect("the run ends");
}

fn spec(env: &Env) -> Spec {
    let priority = env.number("priority", 0);
    Spec { domain: Slot::NONE, priority, buffer: 0, handler: Slot::NONE }
}

/// Creates and starts threads until one is refused; their number, and why.
fn create_all(env: &Env) -> (usize, Option<Error>) {
    let (stacks, words) = (env.mem("stacks"), env.number("stack", 1024) as usize / 8);
    for (n, slot) in env.slots().enumerate() {
        let started =
            thread::start_on(env, stacks.part(n * words, words), slot, spec(env), (answer, 0));
        if let Err(error) = started {
            return (n, Some(error));
        }
    }
    (env.slots().count(), None)
}

/// A thread: answers one message with what it got plus one.
fn answer(env: &Env, _: u64) {
    if let Ok(message) = ipc::receive(env.cap("roll-call"), Wait::NEVER) {
        // It may be that no thread waits any more.
        let _ = ipc::reply(Message::short(0, [message.words[0] + 1]));
    }
}

/// Calls until each thread has answered once; how many did.
fn call_all(env: &Env, threads: usize) -> usize {
    let to = env.cap("roll-call");
    let right = |n: &u64| {
        let answer = ipc::call(to, Message::short(0, [*n]));
        answer.is_ok_and(|answer| answer.words[0] == n + 1)
    };
    (0..threads as u64).filter(right).count()
}
