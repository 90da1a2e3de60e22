//! The kernels in this image. All by default; a deployment build names one as its only feature.

use crate::paging::Image;
use crate::port::X86;
use crate::pvh::StartInfo;
use crate::{run as run_kernel, uart};
use kernel::system::System;
use section::init;

macro_rules! kernels {
    ($($feature:literal $kernel:ident;)*) => {
        /// Runs the kernel called `wanted`.
        #[init]
        pub fn run(wanted: &str, info: StartInfo, image: &Image, counter: u64) -> ! {
            $(
                #[cfg(feature = $feature)]
                {
                    use kernel::system::$kernel;
                    if wanted == <$kernel<X86> as System>::NAME {
                        run_kernel::<$kernel<X86>>(info, image, counter)
                    }
                }
            )*
            uart::write(b"this image has the kernels: ");
            $(
                #[cfg(feature = $feature)]
                uart::write(concat!($feature, " ").as_bytes());
            )*
            panic!("no such kernel in this image")
        }

        /// The kernel to run when the command line names none.
        pub const DEFAULT: &str = {
            let names: &[&str] = &[$(#[cfg(feature = $feature)] $feature,)*];
            assert!(!names.is_empty(), "an image needs at least one kernel");
            names[0]
        };
    };
}

kernels! {
    "fastpath" Fastpath;
    "slowpath" Slowpath;
    "direct-lazy" DirectLazy;
    "direct-eager" DirectEager;
    "strict-lazy" StrictLazy;
    "strict-eager" StrictEager;
    "ipc-scan" IpcScan;
    "ipc-ordered" IpcOrdered;
    "ipc-heap" IpcHeap;
    "tree" Tree;
}
