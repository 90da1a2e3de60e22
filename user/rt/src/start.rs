//! How a program begins and ends.

use crate::{Env, Message, Slot, Wait, ipc, system};
use abi::supervision::ENDED;

pub use abi::message::PANIC_STATUS;

/// Runs a program in the environment at an address.
pub fn run(environment: u64, main: fn(&Env)) -> ! {
    let env = Env::at(environment);
    #[cfg(target_os = "none")]
    panic::remember(environment);
    main(&env);
    tell_end(&env);
    exit()
}

#[cfg(all(target_os = "none", feature = "alloc"))]
pub(crate) use panic::environment;
/// The program's function has returned: its supervisor, if there is one, is told.
pub(crate) fn tell_end(env: &Env) {
    let supervisor = env.fault_handler();
    if supervisor != Slot::NONE {
        // A program whose supervisor does not listen just ends.
        let _ = ipc::send(supervisor, Message::empty(ENDED), Wait::NEVER);
    }
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
    use crate::panicked::Panicked;
    use crate::{Env, Why, arch, error, exit, println, system};
    use abi::message::PANIC;
    use core::sync::atomic::{AtomicU64, Ordering};

    static ENVIRONMENT: AtomicU64 = AtomicU64::new(0);

    /// The program's environment.
    pub fn environment() -> Env {
        Env::at(ENVIRONMENT.load(Ordering::Relaxed))
    }

    pub fn remember(environment: u64) {
        ENVIRONMENT.store(environment, Ordering::Relaxed);
    }

    /// Says what happened and ends the run. Without the right to do that it is a fault, which the
    /// program's handler takes, or the kernel tells.
    #[panic_handler]
    fn panic(info: &core::panic::PanicInfo) -> ! {
        let env = environment();
        if let Some(why) = Why::of_panic(env, info.message()) {
            println!(env.console(), "{}: {why}", env.name());
            error!(env.panics(), "{why}");
        }
        println!(env.console(), "{}: {info}", env.name());
        if let Some(place) = info.location() {
            let (file, place) = (place.file(), [place.line(), place.column()]);
            error!(env.panics(), "{}", Panicked { reason: info.message(), file, place });
        }
        let place = info.location().map_or(0, |place| core::ptr::from_ref(place).addr() as u64);
        if let Some(system) = env.find_cap("system") {
            let _ = system::shutdown_in_panic(system, place);
        }
        arch::panicked(PANIC + place);
        exit()
    }
}
