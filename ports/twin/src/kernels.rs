//! The kernels by name.

use crate::board::Board;
use crate::hardware::Twin;
use crate::run::{End, Options};
use kernel::arena::Arena;
use kernel::boot::Archive;
use kernel::system::System;

macro_rules! kernels {
    ($($kernel:ident)*) => {
        /// Names of the kernels that the twin can run.
        pub const KERNELS: &[&str] = &[$(<kernel::system::$kernel<Twin> as System>::NAME),*];

        /// Runs the kernel of that name from boot to its end; `None`: there is none.
        pub fn run(
            options: &Options,
            twin: &'static Twin,
            archive: Archive,
            arena: &mut Arena,
        ) -> Option<End> {
            $(
                if options.kernel == kernel::system::$kernel::<Twin>::NAME {
                    type Kernel = kernel::system::$kernel<Twin>;
                    return Some(Board::<Kernel>::run(options, twin, archive, arena));
                }
            )*
            None
        }
    };
}

kernels! {
    Fastpath Slowpath DirectLazy DirectEager StrictLazy StrictEager IpcScan IpcOrdered IpcHeap
}
