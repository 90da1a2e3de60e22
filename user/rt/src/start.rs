//! How a program begins and ends.

use crate::{Env, system};

/// Exit status of a run that a panicking program ended.
pub const PANIC_STATUS: u64 = 100;

/// Runs a program in the environment at an address.
pub fn run(environment: u64, main: fn(&Env)) -> ! {
    let env = Env::at(environment);
    #[cfg(target_os = "none")]
    panic::remember(environment);
    main(&env);
    exit()
}

/// Ends the thread: it waits for ever.
pub fn exit() -> ! {
    loop {
        system::sleep_until(u64::MAX);
    }
}

/// On a bare machine a program has its address space to itself, and the handler of its panics
/// gets no argument: here alone the environment's address is kept aside.
#[cfg(target_os = "none")]
mod panic {
    use crate::{Env, PANIC_STATUS, arch, error, exit, println, system};
    use abi::message::PANIC;
    use core::sync::atomic::{AtomicU64, Ordering};

    static ENVIRONMENT: AtomicU64 = AtomicU64::new(0);

    pub fn remember(environment: u64) {
        ENVIRONMENT.store(environment, Ordering::Relaxed);
    }

    /// Says what happened and ends the run. Without the right to do that it is a fault, which the
    /// program's handler takes, or the kernel tells.
    #[panic_handler]
    fn panic(info: &core::panic::PanicInfo) -> ! {
        let env = Env::at(ENVIRONMENT.load(Ordering::Relaxed));
        println!(env.console(), "{}: {info}", env.name());
        if let Some(place) = info.location() {
            error!(env.log(), "panicked at {place}: {}", info.message());
        }
        if let Some(system) = env.find_cap("system") {
            let _ = system::shutdown(system, PANIC_STATUS);
        }
        let place = info.location().map_or(0, |place| core::ptr::from_ref(place).addr());
        arch::panicked(PANIC + place as u64);
        exit()
    }
}
