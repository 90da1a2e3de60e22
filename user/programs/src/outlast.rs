//! How long a thread owns a mutex that a more urgent one waits for, whose budget does not last so
//! long: it goes on without that.

use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::{reservation, system};
use sync::{InheritMutex, ThreadId};

/// The program: memory `shared`; capabilities `console`, `system`, and `waiter`, the reservation of
/// the thread that waits (reserve); argument `ms`, how much work the owner has.
pub fn main(env: &Env) {
    let mutex = InheritMutex::new(env.mem("shared").part(0, InheritMutex::WORDS));
    let owned = mutex.lock(ThreadId::current()).expect("it is free");
    let (begun, slot) = (Instant::now(), env.slots().fresh());
    // It does not run before it has its reservation.
    let spec = Spec::further(env, 1, 10);
    thread::start(env, 1, slot, spec, (wait, 0)).expect("a thread");
    reservation::run_on(slot, env.cap("waiter")).expect("its reservation");
    system::work(env.number("ms", 5) * 1_000_000);
    let time = begun.elapsed();
    owned.unlock().expect("it owns it");
    println!(env.console(), "owned it for {} ms", time.as_millis());
    for (name, slot) in env.caps().filter(|(name, _)| *name == "waiter") {
        if let Ok(usage) = reservation::usage(slot) {
            println!(env.console(), "{name}: budget exhausted {} times", usage.overruns);
        }
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

fn wait(env: &Env, _: u64) {
    let mutex = InheritMutex::new(env.mem("shared").part(0, InheritMutex::WORDS));
    let _owned = mutex.lock(ThreadId::current()).expect("it is handed over");
}
