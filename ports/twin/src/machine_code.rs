//! Programs that are machine code of the host, such as those in C: the very executables that other
//! machines run.
//!
//! They run on this process's processor, at the addresses that they have in their domain, as far as
//! pages are mapped there (`window.rs`), and on their own stack. The host sends a signal for what
//! they try: its handler runs on the thread's coroutine, where it waits until the kernel has done
//! what there is to do. A page that is used for the first time is mapped; a system call, a fault
//! and work are what they are for any program.

mod device;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod x86_64;

pub use device::Step;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use x86_64::watch_calls;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub use x86_64::{begin, stopped};

use crate::hardware::Hardware;
use crate::memory::HOST;
use crate::port::Twin;
use crate::window;
use abi::message::{PANIC, PANIC_RANGE};
use abi::{PAGE, Rights};
use kernel::locks::Unlocked;
use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;
use twin_protocol::Options;

/// The system call by which such a program computes: it stays in the machine.
pub const WORK: u64 = u64::from_le_bytes(*b"\xffGIUWORK");

/// How often this process begins anew to have the addresses free by which panics tell their place.
const ATTEMPTS: usize = 16;
/// How far those go that are used: programs are smaller.
const PANICS: u64 = 1 << 28;

/// Keeps the addresses free by which panics tell their place. Where the host has put something
/// there, which it does by chance, this process begins anew.
pub fn keep_panics_free() {
    const { assert!(PANICS <= PANIC_RANGE) };
    let attempts = env::args_os().count();
    if !window::keep_free(PANIC..PANIC + PANICS) && attempts < ATTEMPTS {
        let again = Command::new("/proc/self/exe").args(env::args_os().skip(1)).arg("again").exec();
        eprintln!("error: cannot begin anew: {again}");
    }
}

/// Refuses programs that are machine code, if the options ask for them and this host has no way to
/// run them.
pub fn check(options: &Options) -> Result<(), String> {
    if !options.machine_code {
        return Ok(());
    }
    if (check as fn(&Options) -> Result<(), String> as usize as u64) < HOST {
        return Err("the simulation lies where programs in C are to be: link it with -pie".into());
    }
    watch_calls().map_err(|error| {
        format!("programs in C need a host with Linux 5.11 or later on x86_64: {error}")
    })
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn watch_calls() -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Units of the host's time, without any of the machine's, after which a program does not come
/// back; how long they are, in microseconds.
const LONGEST: u32 = 10;
const UNIT: libc::suseconds_t = 500_000;

/// From now on the host tells how much time it gives to this process, or no longer.
pub fn tell_time(on: bool) {
    let value = libc::timeval { tv_sec: 0, tv_usec: if on { UNIT } else { 0 } };
    let timer = libc::itimerval { it_interval: value, it_value: value };
    // SAFETY: the timer is a valid one, and what it had before is not wanted.
    let set = unsafe { libc::setitimer(libc::ITIMER_VIRTUAL, &timer, ptr::null_mut()) };
    assert_eq!(set, 0, "a timer of the host's");
}

impl Hardware {
    /// A unit of the host's time has passed. Whether the running thread does not come back.
    fn loses_patience(&self) -> bool {
        let me = self.here();
        me.patience.set(me.patience.get() + 1);
        me.patience.get() > LONGEST
    }

    /// The running thread uses a page. False: it may not, or it cannot be there.
    fn bring(&self, address: u64, rights: Rights) -> bool {
        let (me, page) = (self.here(), address / PAGE);
        let port = Twin::<Unlocked>::of(self);
        let found = me.tlb.page(port, me.root.get(), page, rights);
        let window = self.window.as_ref().expect("machine code runs");
        found.is_some_and(|(frame, rights)| window.map(page, frame.as_ptr().addr(), rights))
    }

    /// The running thread goes on with the pages that it may use now.
    fn open_window(&self) {
        let window = self.window.as_ref().expect("machine code runs");
        window.open(self.running.get(), self.here().root.get());
    }
}

#[cfg(all(test, target_arch = "x86_64", target_os = "linux"))]
mod tests;
