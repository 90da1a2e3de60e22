//! The ways to guard a kernel, as types that the core is generic over.

use crate::big_reader::BigReader;
use crate::clh::{Clh, Seat};
use crate::elided::{Counts, Elided, ElidedSeat};
use crate::handoff::Handoff;
use crate::line::Line;
use crate::object::ObjectLock;
use crate::relax::Relax;
use crate::ticket::Ticket;
use crate::transactions::Transactions;
use core::marker::PhantomData;

/// What a section is going to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Messages and interrupts: touches objects that it holds singly.
    Reader,
    /// Management: may touch everything, and alone frees objects.
    Writer,
}

/// Of no size, and of a line's alignment.
type CachePadding = [Line<()>; 0];

/// A way to guard the kernel.
///
/// A section is one entry: [`LockPolicy::begin`] before any object is touched, [`LockPolicy::end`]
/// behind the last and before the hardware part of a switch. Interrupts are off in between.
pub trait LockPolicy: 'static {
    /// Name in reports.
    const NAME: &'static str;
    /// Whether sections happen as if one after the other. Then readers, too, may touch
    /// everything, and objects have no locks.
    const EXCLUSIVE: bool;
    /// Whether a section may be undone. Then everything but memory waits until its end (S1-11).
    const SPECULATIVE: bool;
    /// How CPUs wait.
    type Relax: Relax;
    /// State of the kernel.
    type Shared: Sync + 'static;
    /// State of a CPU, touched by that CPU alone.
    type Local: 'static;
    /// Lock of an object.
    type Object: ObjectLock;
    /// Of no size: in an object it sees to it that no other shares its lines, where that matters.
    type CachePadding: Default + 'static;

    /// State of a kernel that the CPUs `0..cpus` enter.
    fn shared(cpus: usize) -> Self::Shared;
    /// State of a CPU, made once for each.
    fn local(cpu: usize) -> Self::Local;
    /// Whether the section that this CPU is in may still be undone.
    #[inline(always)]
    fn is_speculating(_local: &Self::Local) -> bool {
        false
    }
    /// What became of this CPU's attempts to do without the lock, if it makes any.
    #[inline(always)]
    fn counts(_local: &Self::Local) -> Option<&Counts> {
        None
    }
    /// Whether another CPU waits for the end of this section, which keeps all others out.
    fn is_waited_for(shared: &Self::Shared, local: &Self::Local) -> bool;
    /// Begins a section.
    fn begin(shared: &Self::Shared, local: &Self::Local, kind: Kind) -> Handoff;
    /// Ends the section that began with the same arguments.
    fn end(shared: &Self::Shared, local: &Self::Local, kind: Kind);
}

/// No CPU ever waits for another one.
pub struct Never;

impl Relax for Never {
    fn relax() {
        unreachable!("one CPU waits for itself");
    }
}

/// One CPU, interrupts off in the kernel: nothing to guard (S1-02).
pub struct Unlocked;

impl LockPolicy for Unlocked {
    const NAME: &'static str = "none";
    const EXCLUSIVE: bool = true;
    const SPECULATIVE: bool = false;
    type Relax = Never;
    type Shared = ();
    type Local = ();
    type Object = ();
    type CachePadding = ();

    fn shared(cpus: usize) {
        assert!(cpus <= 1, "a kernel without locks cannot have {cpus} CPUs");
    }
    fn local(_cpu: usize) {}
    #[inline(always)]
    fn is_waited_for(_shared: &(), _local: &()) -> bool {
        false
    }
    #[inline(always)]
    fn begin(_shared: &(), _local: &(), _kind: Kind) -> Handoff {
        Handoff::NONE
    }
    #[inline(always)]
    fn end(_shared: &(), _local: &(), _kind: Kind) {}
}

/// One queue lock around everything (S1-03), for at most `NODES - 1` CPUs.
pub struct Big<R, const NODES: usize>(PhantomData<R>);

impl<R: Relax, const NODES: usize> LockPolicy for Big<R, NODES> {
    const NAME: &'static str = "big";
    const EXCLUSIVE: bool = true;
    const SPECULATIVE: bool = false;
    type Relax = R;
    type Shared = Clh<NODES>;
    type Local = Seat;
    type Object = ();
    type CachePadding = CachePadding;

    fn shared(cpus: usize) -> Clh<NODES> {
        assert!(cpus < NODES, "a queue lock with {NODES} nodes cannot guard {cpus} CPUs");
        Clh::new()
    }
    fn local(cpu: usize) -> Seat {
        Clh::<NODES>::seat(cpu)
    }
    #[inline(always)]
    fn is_waited_for(shared: &Clh<NODES>, local: &Seat) -> bool {
        shared.is_queued_behind(local)
    }
    #[inline(always)]
    fn begin(shared: &Clh<NODES>, local: &Seat, _kind: Kind) -> Handoff {
        shared.acquire::<R>(local)
    }
    #[inline(always)]
    fn end(shared: &Clh<NODES>, local: &Seat, _kind: Kind) {
        shared.release(local);
    }
}

/// A lock in each object, and a big-reader lock around them that writers take whole (S1-08).
pub struct Fine<R, const CPUS: usize>(PhantomData<R>);

impl<R: Relax, const CPUS: usize> LockPolicy for Fine<R, CPUS> {
    const NAME: &'static str = "fine";
    const EXCLUSIVE: bool = false;
    const SPECULATIVE: bool = false;
    type Relax = R;
    type Shared = BigReader<CPUS>;
    /// The CPU.
    type Local = usize;
    type Object = Ticket;
    type CachePadding = CachePadding;

    fn shared(cpus: usize) -> BigReader<CPUS> {
        BigReader::new(cpus)
    }
    fn local(cpu: usize) -> usize {
        cpu
    }
    #[inline(always)]
    fn is_waited_for(shared: &BigReader<CPUS>, _local: &usize) -> bool {
        shared.is_waited_for()
    }
    #[inline(always)]
    fn begin(shared: &BigReader<CPUS>, local: &usize, kind: Kind) -> Handoff {
        match kind {
            Kind::Reader => shared.read::<R>(*local),
            Kind::Writer => shared.write::<R>(),
        }
    }
    #[inline(always)]
    fn end(shared: &BigReader<CPUS>, local: &usize, kind: Kind) {
        match kind {
            Kind::Reader => shared.read_end(*local),
            Kind::Writer => shared.write_end(),
        }
    }
}

/// The big lock, left out by the transactions of `T` where readers succeed with them (S1-10).
/// Writers take the lock at once: no transaction holds what they do.
pub struct Elision<T, R, const NODES: usize>(PhantomData<(T, R)>);

impl<T: Transactions, R: Relax, const NODES: usize> LockPolicy for Elision<T, R, NODES> {
    const NAME: &'static str = "elided";
    const EXCLUSIVE: bool = true;
    const SPECULATIVE: bool = T::AVAILABLE;
    type Relax = R;
    type Shared = Elided<T, NODES>;
    type Local = ElidedSeat;
    type Object = ();
    type CachePadding = CachePadding;

    fn shared(cpus: usize) -> Elided<T, NODES> {
        assert!(cpus < NODES, "a queue lock with {NODES} nodes cannot guard {cpus} CPUs");
        Elided::new()
    }
    fn local(cpu: usize) -> ElidedSeat {
        Elided::<T, NODES>::seat(cpu)
    }
    #[inline(always)]
    fn is_speculating(local: &ElidedSeat) -> bool {
        T::AVAILABLE && !local.holds_lock()
    }
    #[inline(always)]
    fn counts(local: &ElidedSeat) -> Option<&Counts> {
        Some(local.counts())
    }
    #[inline(always)]
    fn is_waited_for(shared: &Elided<T, NODES>, local: &ElidedSeat) -> bool {
        local.holds_lock() && shared.is_waited_for(local)
    }
    #[inline(always)]
    fn begin(shared: &Elided<T, NODES>, local: &ElidedSeat, kind: Kind) -> Handoff {
        match kind {
            Kind::Reader => shared.begin::<R>(local),
            Kind::Writer => shared.acquire::<R>(local),
        }
    }
    #[inline(always)]
    fn end(shared: &Elided<T, NODES>, local: &ElidedSeat, _kind: Kind) {
        shared.end(local);
    }
}
