//! Every kernel under every locking.

use crate::board;
use crate::driver::Drive;
use crate::port::{Host, Native};
use kernel::boot::MOST_CPUS;
use kernel::system::{
    DirectEager, DirectLazy, Fastpath, IpcHeap, IpcOrdered, IpcScan, Slowpath, StrictEager,
    StrictLazy, System,
};
use locks::{Big, Elision, Fine, Pause, Unlocked};
use rtm::Rtm;

/// Nodes of a queue lock: one more than CPUs, and a power of two.
const NODES: usize = (MOST_CPUS + 1).next_power_of_two();

/// How the kernel is guarded, by name.
pub const LOCKINGS: [(&str, &str); 5] = [
    ("none", "no lock, a kernel for one CPU"),
    ("none-several", "no lock, but the code for several CPUs, on one"),
    ("big", "one queue lock"),
    ("fine", "locks of single objects under a big-reader lock"),
    ("elided", "transactions over one queue lock, where the processor has them"),
];

/// Boots a kernel under a locking on so many CPUs.
pub fn boot(
    kernel: &str,
    locking: &str,
    hertz: u64,
    cpus: u32,
) -> Result<Vec<Box<dyn Drive>>, String> {
    if locking.starts_with("none") && cpus > 1 {
        return Err(format!("locking `{locking}` is for 1 CPU, not {cpus}; ask for `big`"));
    }
    match locking {
        "none" => boot_on::<Native<Unlocked, false>>(kernel, hertz, cpus),
        "none-several" => boot_on::<Native<Unlocked, true>>(kernel, hertz, cpus),
        "big" => boot_on::<Native<Big<Pause, NODES>, true>>(kernel, hertz, cpus),
        "fine" => boot_on::<Native<Fine<Pause, MOST_CPUS>, true>>(kernel, hertz, cpus),
        "elided" => boot_on::<Native<Elision<Rtm, Pause, NODES>, true>>(kernel, hertz, cpus),
        _ => {
            let known = LOCKINGS.map(|(name, _)| name).join(", ");
            Err(format!("there is no locking `{locking}`; take one of {known}"))
        }
    }
}

macro_rules! kernels {
    ($($kernel:ident),*) => {
        /// The names of all kernels.
        pub const KERNELS: &[&str] =
            &[$(<$kernel<Native<Unlocked, false>> as System>::NAME),*];

        fn boot_on<P: Host>(
            kernel: &str,
            hertz: u64,
            cpus: u32,
        ) -> Result<Vec<Box<dyn Drive>>, String> {
            $(
                if kernel == <$kernel<P> as System>::NAME {
                    return Ok(board::boot::<$kernel<P>>(hertz, cpus));
                }
            )*
            Err(format!("there is no kernel `{kernel}`; take one of {}", KERNELS.join(", ")))
        }
    };
}

kernels!(
    Fastpath,
    Slowpath,
    DirectLazy,
    DirectEager,
    StrictLazy,
    StrictEager,
    IpcScan,
    IpcOrdered,
    IpcHeap
);
