//! A panic unwinds where programs run in the simulation's process: what the thread held stays as on
//! machines, where no destructor runs.

use rt::arch::{self, Machine, Outcome, hosted};
use rt::futex::Scope;
use rt::{Info, Rights, Status, Words};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use sync::{CeilingMutex, Ceilings, InheritMutex, Mutex, RecursiveMutex, RwLock, ThreadId};

const BASE: u64 = 0x1_0000;

/// Some memory, and a kernel that grants all.
struct Grants([AtomicU64; 128]);

impl Machine for Grants {
    fn call(&self, _: u64, _: [u64; 6], _: [u64; 4]) -> Outcome {
        Outcome { status: Status::OK, badge: 5, info: Info(5), words: [5; 4] }
    }

    fn reach(&self, address: u64, _: Rights, _: bool) -> Option<&'static AtomicU64> {
        let machine: &'static Grants = &MEMORY;
        machine.0.get((address.checked_sub(BASE)? / 8) as usize)
    }
}

static MEMORY: Grants = Grants([const { AtomicU64::new(0) }; 128]);

#[test]
fn what_a_panic_unwinds_past_stays_locked() {
    hosted::remember_panics();
    arch::install(Some(&MEMORY));
    let all: Words = arch::buffer(BASE).0;
    let words = |at, len| all.part(at, len);
    let me = ThreadId::current();
    let state = || MEMORY.0.each_ref().map(|word| word.load(std::sync::atomic::Ordering::Relaxed));
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let plain = Mutex::new(words(0, 2), Scope::Domain);
        let recursive = RecursiveMutex::new(words(8, 4), Scope::Domain);
        let inheriting = InheritMutex::new(words(16, 4));
        let ceiling = CeilingMutex::new(words(24, 2), 9, Scope::Domain);
        let written = RwLock::new(words(32, 8), Scope::Domain);
        let read = RwLock::new(words(48, 8), Scope::Domain);
        let ceilings = Ceilings::of(me);
        let _held = (
            plain.lock(me).unwrap(),
            (recursive.lock(me).unwrap(), recursive.lock(me).unwrap()),
            inheriting.lock(me).unwrap(),
            ceiling.lock(&ceilings).unwrap(),
            written.write(me, rt::Wait::NEVER).unwrap(),
            read.read(me, rt::Wait::NEVER).unwrap(),
        );
        let held = state();
        std::panic::panic_any(held);
    }));
    assert!(ended.unwrap_err().downcast_ref() == Some(&state()), "a panic has given locks up");
    let _ = hosted::message_of_panic();
    arch::install(None);
}
