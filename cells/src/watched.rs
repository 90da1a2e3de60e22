//! Cells and atomics that tell a watcher of the host thread before they are touched.

use core::cell;
use core::fmt;
use core::sync::atomic::{self, Ordering};
use std::thread_local;

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read and written at once.
    Exchange,
}

/// An access that is about to happen.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The first byte.
    pub at: *const u8,
    /// How many.
    pub bytes: usize,
    /// What is done.
    pub kind: Kind,
    /// Of an atomic, at which CPUs may be at once: how it orders memory.
    pub order: Option<Ordering>,
    /// Whether it is at a word that is looked at while it is not held ([`Shared`](crate::Shared)).
    pub shared: bool,
}

impl Access {
    /// Whether it is at an atomic.
    pub fn is_atomic(&self) -> bool {
        self.order.is_some()
    }
}

/// The watcher that is told.
pub trait Watcher {
    /// An access is about to happen; it happens when this returns, and not if it unwinds.
    fn touch(&self, access: Access);
}

thread_local! {
    static WATCHER: cell::Cell<Option<&'static dyn Watcher>> = const { cell::Cell::new(None) };
}

/// Sets the watcher that is told of this host thread's accesses, if any; returns the one before.
pub fn watch(watcher: Option<&'static dyn Watcher>) -> Option<&'static dyn Watcher> {
    WATCHER.replace(watcher)
}

#[inline(always)]
fn touch<T>(at: &T, kind: Kind, order: Option<Ordering>, shared: bool) {
    if let Some(watcher) = WATCHER.get() {
        let at = (&raw const *at).cast();
        tell(watcher, Access { at, bytes: size_of::<T>(), kind, order, shared });
    }
}

#[cold]
#[inline(never)]
fn tell(watcher: &dyn Watcher, access: Access) {
    watcher.touch(access);
}

/// [`core::cell::Cell`].
#[derive(Default)]
pub struct Cell<T>(cell::Cell<T>);

impl<T> Cell<T> {
    /// A cell with this value.
    #[inline(always)]
    pub const fn new(value: T) -> Cell<T> {
        Cell(cell::Cell::new(value))
    }

    /// Writes.
    #[inline(always)]
    pub fn set(&self, value: T) {
        touch(self, Kind::Write, None, false);
        self.0.set(value);
    }

    /// Writes, and returns what was there.
    #[inline(always)]
    pub fn replace(&self, value: T) -> T {
        touch(self, Kind::Exchange, None, false);
        self.0.replace(value)
    }
}

impl<T: Copy> Cell<T> {
    /// Reads.
    #[inline(always)]
    pub fn get(&self) -> T {
        touch(self, Kind::Read, None, false);
        self.0.get()
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for Cell<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

impl<T: Default> Cell<T> {
    /// Reads, and leaves the default.
    #[inline(always)]
    pub fn take(&self) -> T {
        self.replace(T::default())
    }
}

macro_rules! atomic {
    ($(#[$doc:meta])* $name:ident, $value:ty) => {
        $(#[$doc])*
        #[derive(Default)]
        pub struct $name<const SHARED: bool = false>(atomic::$name);

        impl<const SHARED: bool> $name<SHARED> {
            /// An atomic with this value.
            #[inline(always)]
            pub const fn new(value: $value) -> $name<SHARED> {
                $name(atomic::$name::new(value))
            }

            /// Reads.
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $value {
                touch(self, Kind::Read, Some(order), SHARED);
                self.0.load(order)
            }

            /// Writes.
            #[inline(always)]
            pub fn store(&self, value: $value, order: Ordering) {
                touch(self, Kind::Write, Some(order), SHARED);
                self.0.store(value, order);
            }

            /// Writes, and returns what was there.
            #[inline(always)]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                touch(self, Kind::Exchange, Some(order), SHARED);
                self.0.swap(value, order)
            }

            /// Adds, and returns what was there.
            #[inline(always)]
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                touch(self, Kind::Exchange, Some(order), SHARED);
                self.0.fetch_add(value, order)
            }

            /// Sets bits, and returns what was there.
            #[inline(always)]
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                touch(self, Kind::Exchange, Some(order), SHARED);
                self.0.fetch_or(value, order)
            }

            /// Keeps these bits alone, and returns what was there.
            #[inline(always)]
            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                touch(self, Kind::Exchange, Some(order), SHARED);
                self.0.fetch_and(value, order)
            }
        }
    };
}

atomic! {
    /// [`core::sync::atomic::AtomicU32`].
    AtomicU32, u32
}
atomic! {
    /// [`core::sync::atomic::AtomicU64`].
    AtomicU64, u64
}

/// [`core::sync::atomic::AtomicPtr`].
pub struct AtomicPtr<T>(atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    /// An atomic with this value.
    #[inline(always)]
    pub const fn new(value: *mut T) -> AtomicPtr<T> {
        AtomicPtr(atomic::AtomicPtr::new(value))
    }

    /// Reads.
    #[inline(always)]
    pub fn load(&self, order: Ordering) -> *mut T {
        touch(self, Kind::Read, Some(order), true);
        self.0.load(order)
    }

    /// Writes.
    #[inline(always)]
    pub fn store(&self, value: *mut T, order: Ordering) {
        touch(self, Kind::Write, Some(order), true);
        self.0.store(value, order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Keeps what it is told.
    struct Seen(Mutex<Vec<(usize, Kind, Option<Ordering>)>>);

    impl Watcher for Seen {
        fn touch(&self, access: Access) {
            let mut seen = self.0.lock().expect("no panic while it was held");
            seen.push((access.bytes, access.kind, access.order));
        }
    }

    #[test]
    fn each_access_is_told_before_it_happens() {
        static SEEN: Seen = Seen(Mutex::new(Vec::new()));
        let (cell, word) = (Cell::new(1u16), <AtomicU32>::new(1));
        assert!(watch(Some(&SEEN)).is_none());
        cell.set(cell.get() + 1);
        assert_eq!(cell.take(), 2);
        word.fetch_or(2, Ordering::Relaxed);
        word.store(word.load(Ordering::Acquire), Ordering::Release);
        assert!(watch(None).is_some());
        assert_eq!(cell.get(), 0);
        let seen = SEEN.0.lock().expect("no thread panicked").clone();
        let plain = |kind| (2, kind, None);
        let atomic = |kind, order| (4, kind, Some(order));
        assert_eq!(
            seen,
            [
                plain(Kind::Read),
                plain(Kind::Write),
                plain(Kind::Exchange),
                atomic(Kind::Exchange, Ordering::Relaxed),
                atomic(Kind::Read, Ordering::Acquire),
                atomic(Kind::Write, Ordering::Release),
            ]
        );
    }
}
