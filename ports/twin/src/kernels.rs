//! The kernels by name. Each is there once, with trace points.

use crate::board::Board;
use crate::hardware::Hardware;
use crate::locking::Locking;
use crate::port::Twin;
use crate::run::{End, Options};
use kernel::arena::Arena;
use kernel::boot::Archive;
use kernel::locks::Unlocked;
use kernel::system::{System, Traced};

macro_rules! kernels {
    ($(#[$doc:meta])* $run:ident, $(#[$about:meta])* $names:ident: $($kernel:ident)*) => {
        $(#[$about])*
        pub const $names: &[&str] =
            &[$(<kernel::system::$kernel<Twin<Unlocked>> as System>::NAME),*];

        $(#[$doc])*
        pub fn $run<G: Locking>(
            options: &'static Options,
            hardware: &'static Hardware,
            archive: Archive,
            arena: &mut Arena,
        ) -> Option<End> {
            $(
                if options.kernel == kernel::system::$kernel::<Twin<G>>::NAME {
                    let twin = Twin::of(hardware);
                    type Kernel<G> = Traced<kernel::system::$kernel<Twin<G>>>;
                    return Some(Board::<G, Kernel<G>>::run(options, twin, archive, arena));
                }
            )*
            None
        }
    };
}

kernels! {
    /// Runs the kernel of that name from boot to its end; `None`: there is none.
    run,
    /// Names of the kernels that the twin can run on one CPU.
    KERNELS:
    Fastpath Slowpath DirectLazy DirectEager StrictLazy StrictEager IpcScan IpcOrdered IpcHeap
    Tree
}

// Each of these is compiled once more for each locking: one of every kind of path. How senders are
// queued has no part in locking.
kernels! {
    /// As [`run`], under a locking.
    run_locked,
    /// Names of the kernels that the twin can run under a locking.
    LOCKED_KERNELS:
    Fastpath StrictEager Tree
}
