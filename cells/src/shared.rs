//! Words that other CPUs may look at while they are not held: atomics where that happens, and
//! plain cells, which the compiler handles better, where everything is held at once.

#[cfg(feature = "shared")]
use crate::AtomicPtr;
#[cfg(feature = "shared")]
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

#[cfg(not(feature = "shared"))]
use crate::Cell;

#[cfg(all(feature = "shared", not(feature = "watched")))]
use crate::AtomicU32;
/// Watchers tell it from the atomics of locks.
#[cfg(all(feature = "shared", feature = "watched"))]
type AtomicU32 = crate::AtomicU32<true>;

/// Whether such words may be looked at while they are not held.
pub const SHARED: bool = cfg!(feature = "shared");

/// A value that fits into a word.
pub trait Word: Copy {
    /// As a word.
    fn raw(self) -> u32;
    /// The value that has become this word.
    fn of(raw: u32) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn raw(self) -> u32 {
        self
    }
    #[inline(always)]
    fn of(raw: u32) -> u32 {
        raw
    }
}

/// A word. A CPU that reads a value sees all that happened before it was set, also if others have
/// changed bits of it since.
#[cfg(not(feature = "shared"))]
pub struct Shared<T>(Cell<T>);

#[cfg(not(feature = "shared"))]
impl<T: Word> Shared<T> {
    /// A word with this value.
    #[inline(always)]
    pub fn new(value: T) -> Shared<T> {
        Shared(Cell::new(value))
    }

    /// Reads.
    #[inline(always)]
    pub fn get(&self) -> T {
        self.0.get()
    }

    /// Writes.
    #[inline(always)]
    pub fn set(&self, value: T) {
        self.0.set(value);
    }
}

#[cfg(not(feature = "shared"))]
impl Shared<u32> {
    /// Sets bits.
    #[inline(always)]
    pub fn insert(&self, bits: u32) {
        self.0.set(self.0.get() | bits);
    }

    /// Clears bits.
    #[inline(always)]
    pub fn remove(&self, bits: u32) {
        self.0.set(self.0.get() & !bits);
    }
}

/// A word. A CPU that reads a value sees all that happened before it was set, also if others have
/// changed bits of it since.
#[cfg(feature = "shared")]
pub struct Shared<T>(AtomicU32, core::marker::PhantomData<T>);

#[cfg(feature = "shared")]
impl<T: Word> Shared<T> {
    /// A word with this value.
    #[inline(always)]
    pub fn new(value: T) -> Shared<T> {
        Shared(AtomicU32::new(value.raw()), core::marker::PhantomData)
    }

    /// Reads.
    #[inline(always)]
    pub fn get(&self) -> T {
        T::of(self.0.load(Acquire))
    }

    /// Writes.
    #[inline(always)]
    pub fn set(&self, value: T) {
        self.0.store(value.raw(), Release);
    }
}

#[cfg(feature = "shared")]
impl Shared<u32> {
    /// Sets bits, also while other CPUs change others.
    #[inline(always)]
    pub fn insert(&self, bits: u32) {
        self.0.fetch_or(bits, Release);
    }

    /// Clears bits, also while other CPUs change others.
    #[inline(always)]
    pub fn remove(&self, bits: u32) {
        self.0.fetch_and(!bits, Release);
    }
}

/// A pointer to what lives for ever and was made before there were several CPUs. It orders nothing:
/// a CPU that reads it without holding its owner uses it to find a lock, and reads it again once it
/// has that lock, which then orders what it reads through it.
#[cfg(not(feature = "shared"))]
pub struct SharedPtr<T>(Cell<*mut T>);

#[cfg(not(feature = "shared"))]
impl<T> SharedPtr<T> {
    /// A pointer to nothing.
    #[inline(always)]
    pub const fn null() -> SharedPtr<T> {
        SharedPtr(Cell::new(core::ptr::null_mut()))
    }

    /// Reads.
    #[inline(always)]
    pub fn get(&self) -> *mut T {
        self.0.get()
    }

    /// Writes.
    #[inline(always)]
    pub fn set(&self, to: *mut T) {
        self.0.set(to);
    }
}

/// A pointer to what lives for ever and was made before there were several CPUs. It orders nothing:
/// a CPU that reads it without holding its owner uses it to find a lock, and reads it again once it
/// has that lock, which then orders what it reads through it.
#[cfg(feature = "shared")]
pub struct SharedPtr<T>(AtomicPtr<T>);

#[cfg(feature = "shared")]
impl<T> SharedPtr<T> {
    /// A pointer to nothing.
    #[inline(always)]
    pub const fn null() -> SharedPtr<T> {
        SharedPtr(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// Reads.
    #[inline(always)]
    pub fn get(&self) -> *mut T {
        self.0.load(Relaxed)
    }

    /// Writes.
    #[inline(always)]
    pub fn set(&self, to: *mut T) {
        self.0.store(to, Relaxed);
    }
}
