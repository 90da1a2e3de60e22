//! Locks of single objects, taken in an order that excludes deadlock (S1-09).

use crate::guarding::Guarding;
use crate::handoff::Handoff;
use crate::relax::Relax;
use crate::ticket::Ticket;

/// The lock in every object of a kernel: `()` where sections guard the kernel as a whole.
pub trait ObjectLock: Sync + 'static {
    /// Whether there is nothing to take.
    const EMPTY: bool;
    /// A lock that is free.
    fn new() -> Self;
    /// Waits until the lock is this CPU's.
    fn acquire<R: Relax>(&self) -> Handoff;
    /// Lets the next one have it.
    fn release(&self);
}

impl ObjectLock for () {
    const EMPTY: bool = true;
    #[inline(always)]
    fn new() {}
    #[inline(always)]
    fn acquire<R: Relax>(&self) -> Handoff {
        Handoff::NONE
    }
    #[inline(always)]
    fn release(&self) {}
}

impl ObjectLock for Ticket {
    const EMPTY: bool = false;
    #[inline(always)]
    fn new() -> Ticket {
        Ticket::new()
    }
    #[inline(always)]
    fn acquire<R: Relax>(&self) -> Handoff {
        Ticket::acquire::<R>(self)
    }
    #[inline(always)]
    fn release(&self) {
        Ticket::release(self);
    }
}

#[inline(always)]
fn address<L>(lock: &L) -> usize {
    core::ptr::from_ref(lock).addr()
}

/// Puts two locks into order.
#[inline(always)]
fn sort<'k, L>(a: &mut &'k L, b: &mut &'k L) {
    if address(*b) < address(*a) {
        core::mem::swap(a, b);
    }
}

/// One to three locks, held; dropping it releases them.
#[must_use = "dropping it releases the locks"]
pub struct Ordered<'k, L: ObjectLock, const N: usize>([&'k L; N]);

impl<'k, L: ObjectLock, const N: usize> Ordered<'k, L, N> {
    /// Takes different locks in the order of their addresses.
    #[inline(always)]
    pub fn acquire<R: Relax>(mut locks: [&'k L; N]) -> Ordered<'k, L, N> {
        const { assert!(N >= 1 && N <= 3, "a step touches one to three objects") };
        if !L::EMPTY {
            match &mut locks[..] {
                [a, b] => sort(a, b),
                [a, b, c] => {
                    sort(a, b);
                    sort(b, c);
                    sort(a, b);
                }
                _ => {}
            }
        }
        Ordered::take::<R>(locks)
    }

    /// Takes locks that are in order.
    #[inline(always)]
    fn take<R: Relax>(locks: [&'k L; N]) -> Ordered<'k, L, N> {
        if !L::EMPTY {
            let ordered = locks.windows(2).all(|pair| address(pair[0]) < address(pair[1]));
            assert!(ordered, "objects are locked twice, or out of order");
            for lock in locks {
                lock.acquire::<R>();
            }
        }
        Ordered(locks)
    }
}

impl<'k, L: ObjectLock> Ordered<'k, L, 3> {
    /// Takes `first`, which lies below the others, then these in order: for pools that are laid
    /// out so, which saves most of the sorting.
    #[inline(always)]
    pub fn above<R: Relax>(first: &'k L, mut a: &'k L, mut b: &'k L) -> Ordered<'k, L, 3> {
        if !L::EMPTY {
            sort(&mut a, &mut b);
        }
        Ordered::take::<R>([first, a, b])
    }
}

impl<L: ObjectLock, const N: usize> Drop for Ordered<'_, L, N> {
    #[inline(always)]
    fn drop(&mut self) {
        if !L::EMPTY {
            for lock in self.0.iter().rev() {
                lock.release();
            }
        }
    }
}

/// Plans, holds what the plan names, and plans again until the plan stands: between planning and
/// holding another CPU may have changed what the plan was made of.
///
/// `plan` reads nothing but what may be read without a lock. Each further round means that
/// another CPU got on.
#[inline(always)]
pub fn settled<G: Guarding, P: PartialEq, H>(
    plan: impl Fn() -> P,
    hold: impl Fn(&P) -> H,
) -> (P, H) {
    let mut planned = plan();
    loop {
        let held = hold(&planned);
        if G::EXCLUSIVE {
            return (planned, held);
        }
        let again = plan();
        if again == planned {
            return (planned, held);
        }
        drop(held);
        planned = again;
    }
}
