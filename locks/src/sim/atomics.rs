//! Atomics whose accesses are steps of the simulation.

use super::{Access, step, transactions};
use core::sync::atomic::{self, Ordering};
use std::sync::Arc;

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident, $plain:ident, $value:ty) => {
        $(#[$doc])*
        pub struct $name {
            /// Makes the line a matter of this place's address.
            place: atomic::AtomicU8,
            value: Arc<atomic::$plain>,
        }

        impl $name {
            /// An atomic.
            pub fn new(value: $value) -> $name {
                let value = Arc::new(atomic::$plain::new(value));
                $name { place: atomic::AtomicU8::new(0), value }
            }

            /// Whether the access takes place: what unwinds does nothing any more.
            fn step(&self, access: Access) -> bool {
                if std::thread::panicking() {
                    return false;
                }
                step((&raw const self.place).addr() / 64, access);
                if access != Access::Load {
                    let (value, before) = (self.value.clone(), self.value.load(Ordering::SeqCst));
                    transactions::remember(move || value.store(before, Ordering::SeqCst));
                }
                true
            }

            /// Reads.
            pub fn load(&self, _: Ordering) -> $value {
                self.step(Access::Load);
                self.value.load(Ordering::SeqCst)
            }

            /// Writes.
            pub fn store(&self, value: $value, _: Ordering) {
                if self.step(Access::Store) {
                    self.value.store(value, Ordering::SeqCst);
                }
            }

            /// Writes and returns what was there.
            #[allow(dead_code, reason = "not every width is swapped")]
            pub fn swap(&self, value: $value, _: Ordering) -> $value {
                let before = self.value.load(Ordering::SeqCst);
                if !self.step(Access::Swap) {
                    return before;
                }
                self.value.swap(value, Ordering::SeqCst)
            }

            /// Adds and returns what was there.
            #[allow(dead_code, reason = "not every width is added to")]
            pub fn fetch_add(&self, value: $value, _: Ordering) -> $value {
                let before = self.value.load(Ordering::SeqCst);
                if !self.step(Access::Swap) {
                    return before;
                }
                self.value.fetch_add(value, Ordering::SeqCst)
            }
        }
    };
}

atomic! {
    /// 32 bits.
    AtomicU32, AtomicU32, u32
}
atomic! {
    /// 64 bits.
    AtomicU64, AtomicU64, u64
}
