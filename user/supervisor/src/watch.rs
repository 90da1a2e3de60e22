//! The watching thread. It is more urgent than all programs, so that it runs also when one of them
//! keeps the supervisor from the CPU, and does little: it looks which heartbeats are missing, notes
//! who ran meanwhile, and tells the supervisor, which is as urgent as the manifest says.

use abi::supervision::{NUDGE, Silence, WATCH, WATCH_LEAF};
use rt::thread::{self, Spec};
use rt::{Env, Message, Slot, Wait, ipc, reservation, system};

use crate::beats::{Beats, NEVER};
use crate::holder::Holders;
use crate::policy::each;

/// The argument with its priority.
const PRIORITY: &str = "watch_priority";
/// Its number among the threads of the program.
const THREAD: usize = 2;
/// The machine's capability, which tells who runs.
const SYSTEM: &str = "system";
/// How soon it tells a supervisor again that does not listen yet.
const AGAIN: u64 = 1_000_000;

/// Starts it, if any child has a heartbeat.
pub fn start(env: &Env, slot: Slot) -> Option<Beats> {
    let beats = Beats::open(env)?;
    beats.reset();
    let spec = Spec::further(env, THREAD, env.number(PRIORITY, 0));
    let started = thread::start(env, THREAD, slot, spec, (watch, 0));
    started.expect("the manifest has room for the thread that watches");
    thread::name(slot, "watcher").expect("that is a name");
    if let Some(leaf) = env.find_cap(WATCH_LEAF) {
        reservation::run_on(slot, leaf).expect("the leaf is the supervisor's own");
    }
    Some(beats)
}

fn watch(env: &Env, _: u64) {
    let Some(beats) = Beats::open(env) else { return };
    let [watch, nudge, system] = [WATCH, NUDGE, SYSTEM].map(|name| env.cap(name));
    let holders = Holders::new(env, system);
    loop {
        let mut wait = NEVER;
        if !beats.is_entered() {
            let silent = beats.look();
            for child in each(silent) {
                let by = holders.of(child);
                beats.note(child, Silence { seen: system::clock(), by });
            }
            wait = beats.next();
            if beats.silent().is_some() {
                // It fails while the supervisor does not wait.
                let _ = ipc::send(nudge, Message::empty(0), Wait::ZERO);
                wait = wait.min(system::clock() + AGAIN);
            }
        }
        let wait = if wait == NEVER { Wait::NEVER } else { Wait::until(wait) };
        // The supervisor has worked, or it is time.
        let _ = ipc::receive(watch, wait);
    }
}
