//! A condition and its mutex are of one scope: the kernel is told one for both.

use rt::abi::call::Call;
use rt::abi::futex::SCOPE_SHIFT;
use rt::arch::{self, Machine, Outcome};
use rt::futex::Scope;
use rt::{Error, Info, Rights, Status, Wait, Words};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use sync::{Condvar, Guard, Mutex, ThreadId};

const BASE: u64 = 0x1_0000;
const MUTEX: usize = 0;
const CONDITION: usize = 2;
/// The thread's ids in its domain and among all.
const OWN: [u64; 2] = [5, 6];

/// Some memory, and a kernel in which a wait ends at once: the mutex is owned again.
struct Kernel {
    memory: [AtomicU64; 8],
    /// The number of the last call, without that for the ids.
    called: AtomicU64,
}

impl Machine for Kernel {
    fn call(&self, number: u64, _: [u64; 6], _: [u64; 4]) -> Outcome {
        if number & 0xff != Call::Fact as u64 {
            self.called.store(number, Relaxed);
            let shared = number >> SCOPE_SHIFT & 1;
            self.memory[MUTEX].store(OWN[shared as usize], Relaxed);
        }
        Outcome { status: Status::OK, badge: OWN[0], info: Info(OWN[1]), words: [0; 4] }
    }

    fn reach(&self, address: u64, _: Rights, _: bool) -> Option<&'static AtomicU64> {
        let machine: &'static Kernel = &KERNEL;
        machine.memory.get((address.checked_sub(BASE)? / 8) as usize)
    }
}

static KERNEL: Kernel =
    Kernel { memory: [const { AtomicU64::new(0) }; 8], called: AtomicU64::new(0) };

type Waits = fn(&Condvar, &mut Guard) -> Result<(), Error>;

#[test]
fn a_condition_is_used_with_mutexes_of_its_scope() {
    arch::install(Some(&KERNEL));
    let words: Words = arch::buffer(BASE).0;
    let me = ThreadId::current();
    let state = || KERNEL.memory.each_ref().map(|word| word.load(Relaxed));
    let scopes = [Scope::Domain, Scope::Shared];
    let waits: [Waits; 3] = [
        |condition, guard| condition.wait(guard),
        |condition, guard| condition.wait_within(guard, Wait::ZERO),
        // It is so until the wait has ended.
        |condition, guard| {
            let before = KERNEL.called.load(Relaxed);
            condition.wait_while(guard, Wait::NEVER, |_| KERNEL.called.load(Relaxed) == before)
        },
    ];
    for (of_mutex, of_condition) in
        [0, 1].into_iter().flat_map(|one| [0, 1].map(|other| (one, other)))
    {
        for wait in waits {
            KERNEL.called.store(0, Relaxed);
            let mutex = Mutex::new(words.part(MUTEX, 1), scopes[of_mutex]);
            let condition = Condvar::new(words, CONDITION, scopes[of_condition]);
            let mut guard = mutex.lock(me).expect("it is free");
            let owned = state();
            assert_eq!(owned[MUTEX], OWN[of_mutex]);
            let ended = wait(&condition, &mut guard);
            let called = KERNEL.called.load(Relaxed);
            if of_mutex == of_condition {
                assert_eq!(ended, Ok(()));
                assert_eq!(called & 0xff, Call::CondWait as u64);
                assert_eq!(called >> SCOPE_SHIFT & 1, of_mutex as u64, "the scope of both");
            } else {
                assert_eq!((ended, called), (Err(Error::InvalidArgument), 0));
            }
            assert_eq!(state(), owned, "the mutex is owned, and nothing else has changed");
            drop(guard);
            assert_eq!(state(), [0; 8], "and is given up at last");
        }
    }
    arch::install(None);
}
