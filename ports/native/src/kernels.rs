//! Every kernel under every locking.

use crate::archive;
use crate::board;
use crate::driver::{Drive, Driver, ENTRIES};
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

/// Something that is booted under any kernel.
pub trait Load {
    /// What drives it.
    type Driver;
    /// Boots it under the kernel `S`.
    fn boot<S: System<Port: Host>>(&self, hertz: u64) -> Self::Driver;
}

/// A client and a server on each of so many CPUs.
struct Pairs(u32);

impl Load for Pairs {
    type Driver = Vec<Box<dyn Drive>>;

    fn boot<S: System<Port: Host>>(&self, hertz: u64) -> Vec<Box<dyn Drive>> {
        let machines = board::boot::<S>(hertz, &archive::pairs(self.0, ENTRIES));
        machines.map(|machine| Box::new(Driver::<S>::new(machine)) as Box<dyn Drive>).collect()
    }
}

/// Boots a load under a kernel for one CPU.
pub fn boot_load<L: Load>(kernel: &str, hertz: u64, load: &L) -> Result<L::Driver, String> {
    boot_alone::<Native<Unlocked, false>, L>(kernel, hertz, load)
}

/// Boots pairs under a kernel and a locking on so many CPUs.
pub fn boot(
    kernel: &str,
    locking: &str,
    hertz: u64,
    cpus: u32,
) -> Result<Vec<Box<dyn Drive>>, String> {
    if locking.starts_with("none") && cpus > 1 {
        return Err(format!("locking `{locking}` is for 1 CPU, not {cpus}; ask for `big`"));
    }
    let pairs = Pairs(cpus);
    match locking {
        "none" => boot_load(kernel, hertz, &pairs),
        "none-several" => boot_guarded::<Native<Unlocked, true>, _>(kernel, hertz, &pairs),
        "big" => boot_guarded::<Native<Big<Pause, NODES>, true>, _>(kernel, hertz, &pairs),
        "fine" => boot_guarded::<Native<Fine<Pause, MOST_CPUS>, true>, _>(kernel, hertz, &pairs),
        "elided" => {
            boot_guarded::<Native<Elision<Rtm, Pause, NODES>, true>, _>(kernel, hertz, &pairs)
        }
        _ => {
            let known = LOCKINGS.map(|(name, _)| name).join(", ");
            Err(format!("there is no locking `{locking}`; take one of {known}"))
        }
    }
}

macro_rules! boot {
    ($boot:ident: $($kernel:ident),*) => {
        fn $boot<P: Host, L: Load>(
            kernel: &str,
            hertz: u64,
            load: &L,
        ) -> Result<L::Driver, String> {
            $(
                if kernel == <$kernel<P> as System>::NAME {
                    return Ok(load.boot::<$kernel<P>>(hertz));
                }
            )*
            Err(format!("there is no kernel `{kernel}`; take one of {}", KERNELS.join(", ")))
        }
    };
}

macro_rules! kernels {
    ($first:ident, $($other:ident),*) => {
        /// The names of all kernels.
        pub const KERNELS: &[&str] = &[
            <$first<Native<Unlocked, false>> as System>::NAME,
            $(<$other<Native<Unlocked, false>> as System>::NAME),*
        ];

        boot!(boot_alone: $first, $($other),*);

        // Each of these is compiled for each locking, which takes most of the time. Tests of this
        // crate need one; that each runs under each is tested by the laboratory, with the program.
        #[cfg(not(test))]
        boot!(boot_guarded: $first, $($other),*);
        #[cfg(test)]
        boot!(boot_guarded: $first);
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
