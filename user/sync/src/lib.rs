//! Mutexes and conditions over the kernel's futexes (S2H), and what is built of them.
//!
//! Each lies in [shared words](rt::Words) that its threads have: of a memory in the manifest, of a
//! mapping, of a message buffer. All words of a new one are 0, and a handle is made by every thread
//! for itself; it is two addresses. The words behind a mutex are what it protects, so no cell is
//! needed, and domains can share it ([`Scope::Shared`]).
//!
//! | | words | |
//! |---|---|---|
//! | [`Mutex`] | 1 and what it protects | one thread at a time |
//! | [`RecursiveMutex`] | 2 and what it protects | the same, and its owner may lock it again |
//! | [`InheritMutex`] | 2 and what it protects | the same, with priority inheritance; robust |
//! | [`CeilingMutex`] | 1 and what it protects | the same, with a priority ceiling |
//! | [`Condvar`] | 2 | waiting with a mutex until another thread has changed something |
//! | [`InheritCondition`] | 4 | the same with such a mutex, and with helpers that inherit |
//! | [`Semaphore`] | 4 | permits |
//! | [`RwLock`] | 7 and what it protects | one writer or any number of readers |
//! | [`Barrier`] | 5 | waiting until all have come |
//! | [`Queue`] | 7 and one for each place | values from thread to thread, in order |
//! | [`InheritQueue`] | 12 and its places | the same of a type, with helpers that inherit |
//! | [`InheritCalls`] | [so many](InheritCalls::words) | calls, whose server inherits |
//!
//! Locking a free mutex, and unlocking one that no thread waits for, is one compare-and-swap. A
//! waiting thread is handed the mutex by the one that unlocks it, in the order of arrival; so a
//! mutex is never taken past a thread that waits. The owner of an [`InheritMutex`]
//! and the helpers of an [`InheritCondition`] alone inherit priorities, and so what is built of
//! these.
#![no_std]
#![forbid(unsafe_code)]

mod barrier;
mod ceiling;
mod condvar;
mod futex;
mod identity;
mod inherit;
mod inherit_calls;
mod inherit_condition;
mod inherit_queue;
mod mutex;
mod queue;
mod recursive;
mod rwlock;
mod semaphore;
mod value;

pub use barrier::Barrier;
pub use ceiling::{CeilingGuard, CeilingMutex, Ceilings};
pub use condvar::Condvar;
pub use identity::ThreadId;
pub use inherit::{InheritGuard, InheritMutex};
pub use inherit_calls::{InheritCalls, Server};
pub use inherit_condition::{HelperId, InheritCondition};
pub use inherit_queue::{InheritQueue, Receiver, Sender};
pub use mutex::{Guard, Mutex};
pub use queue::Queue;
pub use recursive::{RecursiveGuard, RecursiveMutex};
pub use rt::futex::Scope;
pub use rwlock::{ReadGuard, RwLock, WriteGuard};
pub use semaphore::Semaphore;
pub use value::Value;
