//! Locks of single objects, taken in an order that excludes deadlock (S1-09).

use crate::handoff::Handoff;
use crate::lock_policy::Kind;
use crate::relax::Relax;
use crate::ticket::Ticket;
use core::cell::Cell;

/// The most objects that one section holds.
pub const MOST: usize = 6;

/// How often a section plans what it will hold, while others keep changing that: interrupts are off
/// all the while.
pub const PLANS: u32 = 8;

/// The lock in every object of a kernel: `()` where sections guard the kernel as a whole.
pub trait ObjectLock: Sync + Sized + 'static {
    /// What a section holds of these.
    type Holding<'k>: Holding<'k, Self>;
    /// A lock that is free.
    fn new() -> Self;
    /// Waits until the lock is this CPU's.
    fn acquire<R: Relax>(&self) -> Handoff;
    /// Lets the next one have it.
    fn release(&self);
}

/// What a section holds. It belongs to one CPU, and is empty again when the section ends.
pub trait Holding<'k, L> {
    /// Of a section that begins.
    fn new(kind: Kind) -> Self;
    /// What the section may do.
    fn kind(&self) -> Kind;
    /// Changes what the section may do, while it holds nothing.
    fn become_kind(&self, kind: Kind);
    /// Adds a lock to those that [`Holding::take`] takes, unless it is among them: at most
    /// [`MOST`].
    fn add(&self, lock: &'k L);
    /// Takes the locks that were added, in the order of their addresses.
    fn take<R: Relax>(&self);
    /// Whether this lock is among them.
    fn has(&self, lock: &L) -> bool;
    /// Releases them, and forgets which they were.
    fn let_go(&self);

    /// Holds what `look` plans to, which looks without holding anything: `add` adds the locks of a
    /// plan, and once they are taken `look` must plan the same again. A different plan means that
    /// another CPU got on, and is tried next. `None`: there is nothing to plan, or after [`PLANS`]
    /// plans it still changes; nothing is held then.
    #[inline(always)]
    fn take_planned<R: Relax, P: PartialEq>(
        &self,
        look: impl Fn() -> Option<P>,
        add: impl Fn(&Self, &P),
    ) -> Option<P> {
        let mut planned = look();
        for _ in 0..PLANS {
            let plan = planned?;
            add(self, &plan);
            self.take::<R>();
            planned = look();
            if planned.as_ref() == Some(&plan) {
                return planned;
            }
            self.let_go();
        }
        None
    }
}

impl ObjectLock for () {
    type Holding<'k> = ();
    #[inline(always)]
    fn new() {}
    #[inline(always)]
    fn acquire<R: Relax>(&self) -> Handoff {
        Handoff::NONE
    }
    #[inline(always)]
    fn release(&self) {}
}

/// A section that guards everything may touch everything.
impl Holding<'_, ()> for () {
    #[inline(always)]
    fn new(_kind: Kind) {}
    #[inline(always)]
    fn kind(&self) -> Kind {
        Kind::Writer
    }
    #[inline(always)]
    fn become_kind(&self, _kind: Kind) {}
    #[inline(always)]
    fn add(&self, _lock: &()) {}
    #[inline(always)]
    fn take<R: Relax>(&self) {}
    #[inline(always)]
    fn has(&self, _lock: &()) -> bool {
        true
    }
    #[inline(always)]
    fn let_go(&self) {}
}

impl ObjectLock for Ticket {
    type Holding<'k> = Ordered<'k, Ticket>;
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

/// Locks in the order of their addresses.
pub struct Ordered<'k, L> {
    kind: Cell<Kind>,
    count: Cell<usize>,
    locks: [Cell<Option<&'k L>>; MOST],
}

#[inline(always)]
fn address<L>(lock: &L) -> usize {
    core::ptr::from_ref(lock).addr()
}

impl<'k, L> Ordered<'k, L> {
    #[inline(always)]
    fn locks(&self) -> impl DoubleEndedIterator<Item = &'k L> + '_ {
        self.locks[..self.count.get().min(MOST)].iter().filter_map(Cell::get)
    }
}

impl<'k, L: ObjectLock> Holding<'k, L> for Ordered<'k, L> {
    #[inline(always)]
    fn new(kind: Kind) -> Self {
        let locks = [const { Cell::new(None) }; MOST];
        Ordered { kind: Cell::new(kind), count: Cell::new(0), locks }
    }

    #[inline(always)]
    fn kind(&self) -> Kind {
        self.kind.get()
    }

    #[inline(always)]
    fn become_kind(&self, kind: Kind) {
        debug_assert!(self.count.get() == 0, "a section that holds objects changes its kind");
        self.kind.set(kind);
    }

    #[inline(always)]
    fn add(&self, lock: &'k L) {
        let count = self.count.get();
        assert!(count < MOST, "a section holds more than {MOST} objects");
        let mut at = count;
        while at > 0 {
            let Some(before) = self.locks[at - 1].get() else { break };
            if address(before) <= address(lock) {
                if address(before) == address(lock) {
                    return self.close(at, count);
                }
                break;
            }
            self.locks[at].set(Some(before));
            at -= 1;
        }
        self.locks[at].set(Some(lock));
        self.count.set(count + 1);
    }

    #[inline(always)]
    fn take<R: Relax>(&self) {
        for lock in self.locks() {
            lock.acquire::<R>();
        }
    }

    fn has(&self, lock: &L) -> bool {
        self.locks().any(|held| address(held) == address(lock))
    }

    #[inline(always)]
    fn let_go(&self) {
        for lock in self.locks().rev() {
            lock.release();
        }
        self.count.set(0);
    }
}

impl<L> Ordered<'_, L> {
    /// Closes the gap that was made for a lock that is there already.
    #[cold]
    fn close(&self, gap: usize, end: usize) {
        for at in gap..end {
            self.locks[at].set(self.locks[at + 1].get());
        }
    }
}
