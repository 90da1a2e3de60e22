//! A client that does to servers what it can: its calls time out, lie, come in floods, or end with
//! their thread. After each kind of attack every server must still answer an honest call. It sends
//! bare messages, since no typed client lies.

use abi::message::MAX_WORDS;
use rt::abi;
use rt::abi::call::Timeout;
use rt::thread::{self, Spec};
use rt::{Env, Error, Info, Message, Received, Rights, Slot, Wait, cap, ipc, println, system};

/// Nanoseconds within which an honest call must be answered.
const PATIENCE: u64 = 100_000_000;
/// Nanoseconds after which a server waits again.
const REST: u64 = 100_000;
/// Repetitions of an attack.
const TIMES: u64 = 12;

/// A server: its capability, an honest request, and whether the answer is right.
type Server = (&'static str, Message, fn(&Received) -> bool);

/// What is called, and what an honest call there is.
const SERVERS: [Server; 4] = [
    ("greeting", Message::short(1, [5]), |answer| {
        answer.info == Info::new(0, 2) && answer.words[0] == 25
    }),
    ("echo", Message::short(9, [7, 6, 5, 4]), |answer| {
        answer.info == Info::new(9, 4) && answer.words == [7, 6, 5, 4]
    }),
    ("count", Message::empty(1), |answer| answer.info == Info::new(0, 1)),
    ("pair", Message::short(0, [41]), |answer| answer.words[0] == 42),
];

/// An attack on a server: its name, and what one repetition does.
type Attack = (&'static str, fn(&Env, Slot, u64));

const ATTACKS: [Attack; 5] = [
    ("calls that do not wait", impatient),
    ("calls that time out", late),
    ("lies", lies),
    ("a flood", flood),
    ("callers that die", dying),
];

/// The client: capabilities to send to each of [`SERVERS`], `console`, `system`; a second thread.
pub fn main(env: &Env) {
    let console = env.console();
    let mut wrong = 0;
    for (attack, (name, strike)) in ATTACKS.into_iter().enumerate() {
        for (server, request, is_right) in SERVERS {
            let to = env.cap(server);
            for time in 0..TIMES {
                strike(env, to, time);
                system::sleep(REST);
            }
            let answer = ipc::call_within(to, request, Wait::until(system::clock() + PATIENCE));
            let held = answer.as_ref().is_ok_and(is_right);
            let verdict = if held { "ok" } else { "FAILED" };
            println!(console, "{verdict} `{server}` answers after {name}");
            if !held {
                println!(console, "{answer:?}");
                wrong |= 1 << attack;
            }
        }
    }
    let ended: Result<(), Error> = system::shutdown(env.cap("system"), wrong);
    println!(console, "cannot end the run: {ended:?}");
}

/// The caller has gone when the server gets its request.
fn impatient(_: &Env, to: Slot, time: u64) {
    let wait = Wait { receive: Timeout::Zero, ..Wait::NEVER };
    let _ = ipc::call_within(to, Message::short(1, [time]), wait);
}

/// The caller goes while the server has its request.
fn late(_: &Env, to: Slot, time: u64) {
    let until = Wait::until(system::clock() + 500 * (time + 1));
    let _ = ipc::call_within(to, Message::short(1, [time]), until);
}

/// Labels, lengths and words that no server expects; capabilities, and flags of the kernel.
fn lies(env: &Env, to: Slot, time: u64) {
    let wait = || Wait::until(system::clock() + REST);
    let words = [0, 1, 4, 5, MAX_WORDS, MAX_WORDS + 1, 255][time as usize % 7];
    for label in [0, 1, 2, 3, u32::MAX] {
        let lie = Message::long(label, words, [u64::MAX; 4]);
        let _ = ipc::call_within(to, lie, wait());
        let _ = ipc::send(to, lie, wait());
        env.buffer(0).offer(to, Rights::ALL);
        let _ = ipc::call_within(to, lie.with_capability(), wait());
        let info = Info(lie.info.0 | Info::FAULT | Info::NOTIFICATION);
        let _ = ipc::call_within(to, Message { info, ..lie }, wait());
    }
}

/// Requests as fast as can be, that wait for no answer.
fn flood(_: &Env, to: Slot, time: u64) {
    for number in 0..32 {
        let wait = Wait { receive: Timeout::Zero, ..Wait::until(system::clock() + REST) };
        let request = Message::short(1, [time, number]);
        let _ = ipc::call_within(to, request, wait);
        let _ = ipc::send(to, request, Wait::ZERO);
    }
}

/// A caller is destroyed at some instant around its call.
fn dying(env: &Env, to: Slot, time: u64) {
    let slot = env.slots().fresh();
    let spec = Spec::further(env, 1, 90);
    thread::start(env, 1, slot, spec, (call_on, to.word())).expect("a thread");
    system::sleep(1_000 * (time + 1));
    cap::destroy(slot).expect("the thread is there");
}

/// Calls the server in a slot, again and again.
fn call_on(_: &Env, to: u64) {
    while ipc::call(Slot(to as u32), Message::short(1, [to])).is_ok() {}
}
