//! In which order blocked senders are served.
//!
//! First come first served is O(1) and blind to priority (S0-12). The three orders by priority
//! put the work at different places: a scan on every receive (S0-26), a sorted insertion (S0-27),
//! a pairing heap (S0-28). Equal priorities are served in the order of arrival by all.

use crate::access::Ref;
use crate::cost::{CostEvent, Queue};
use crate::object::{Endpoint, Thread};
use crate::port::Port;

/// A send queue's operations.
pub trait SendQueue: 'static {
    /// Whether priorities say which thread is served next, so that a change of one may.
    const BY_PRIORITY: bool = true;
    /// Whether a thread's place depends on its priority when it joins.
    const SORTED: bool = false;
    /// Whether threads form a heap rather than a list.
    const HEAP: bool = false;
    /// Adds a thread that is in no queue: here at the end of the list.
    #[inline(always)]
    fn insert<P: Port>(endpoint: &Endpoint<P>, thread: Ref<Thread<P>>) {
        endpoint.senders().push_back(thread);
    }
    /// Whether no sender waits.
    #[inline(always)]
    fn is_empty<P: Port>(endpoint: &Endpoint<P>) -> bool {
        endpoint.senders.is_empty()
    }
    /// The sender that is served next.
    fn first<P: Port>(endpoint: &Endpoint<P>) -> Option<Ref<Thread<P>>>;
    /// The same, seen without holding the endpoint; outer `None`: that takes a search.
    #[inline(always)]
    fn peek<P: Port>(endpoint: Ref<Endpoint<P>>) -> Option<Option<Ref<Thread<P>>>> {
        Some(endpoint.senders.head())
    }
    /// Removes a thread that is in the queue: here a list.
    #[inline(always)]
    fn remove<P: Port>(endpoint: &Endpoint<P>, thread: Ref<Thread<P>>) {
        endpoint.senders().remove(thread);
    }
}

/// A send queue's operations as values, for code that all kernels in an image share.
pub struct Senders<P: Port> {
    /// See [`SendQueue::SORTED`].
    pub sorted: bool,
    /// See [`SendQueue::BY_PRIORITY`].
    pub by_priority: bool,
    /// Whether senders form a heap rather than a list.
    pub heap: bool,
    /// See [`SendQueue::insert`].
    pub insert: fn(&Endpoint<P>, Ref<Thread<P>>),
    /// See [`SendQueue::first`].
    pub first: fn(&Endpoint<P>) -> Option<Ref<Thread<P>>>,
    /// See [`SendQueue::remove`].
    pub remove: fn(&Endpoint<P>, Ref<Thread<P>>),
}

impl<P: Port> Senders<P> {
    /// The operations of one kind of queue.
    pub fn of<Q: SendQueue>() -> Senders<P> {
        Senders {
            sorted: Q::SORTED,
            by_priority: Q::BY_PRIORITY,
            heap: Q::HEAP,
            insert: Q::insert::<P>,
            first: Q::first::<P>,
            remove: Q::remove::<P>,
        }
    }
}

fn priority<P: Port>(thread: Ref<Thread<P>>) -> i16 {
    thread.priority.get()
}

/// First come, first served (S0-12).
pub struct Fifo;

impl SendQueue for Fifo {
    const BY_PRIORITY: bool = false;

    #[inline(always)]
    fn first<P: Port>(endpoint: &Endpoint<P>) -> Option<Ref<Thread<P>>> {
        endpoint.senders.head()
    }
}

/// Inserted in O(1); a receive looks at all, O(n) (S0-26).
pub struct Scan;

impl SendQueue for Scan {
    fn peek<P: Port>(endpoint: Ref<Endpoint<P>>) -> Option<Option<Ref<Thread<P>>>> {
        endpoint.senders.is_empty().then_some(None)
    }

    #[inline(always)]
    fn first<P: Port>(endpoint: &Endpoint<P>) -> Option<Ref<Thread<P>>> {
        let mut best = endpoint.senders.head()?;
        endpoint.senders().each(|thread| {
            P::cost(CostEvent::Scan);
            if priority(thread) > priority(best) {
                best = thread;
            }
        });
        Some(best)
    }
}

/// Kept in descending priority: O(n) to insert, O(1) to serve (S0-27).
pub struct Ordered;

impl SendQueue for Ordered {
    const SORTED: bool = true;

    #[inline(always)]
    fn insert<P: Port>(endpoint: &Endpoint<P>, thread: Ref<Thread<P>>) {
        let behind = |other: Ref<Thread<P>>| {
            P::cost(CostEvent::Compare);
            priority(other) < priority(thread)
        };
        endpoint.senders().insert_before(thread, behind);
    }

    #[inline(always)]
    fn first<P: Port>(endpoint: &Endpoint<P>) -> Option<Ref<Thread<P>>> {
        endpoint.senders.head()
    }
}

/// A pairing heap through the threads themselves: O(1) to insert, O(log n) amortised to remove
/// (S0-28). Ties go by the order of arrival.
pub struct Heap;

impl Heap {
    /// Whether one thread is served before another.
    pub(crate) fn before<P: Port>(
        endpoint: &Endpoint<P>,
        one: Ref<Thread<P>>,
        other: Ref<Thread<P>>,
    ) -> bool {
        let arrival = |thread: Ref<Thread<P>>| thread.node.open(endpoint).arrival.get();
        match one.priority.get().cmp(&other.priority.get()) {
            core::cmp::Ordering::Equal => arrival(one) < arrival(other),
            order => order.is_gt(),
        }
    }

    /// Makes the later of two roots the first child of the other, which is returned.
    fn meld<P: Port>(
        endpoint: &Endpoint<P>,
        one: Ref<Thread<P>>,
        other: Ref<Thread<P>>,
    ) -> Ref<Thread<P>> {
        P::cost(CostEvent::Meld);
        let first = Heap::before(endpoint, one, other);
        let (root, child) = if first { (one, other) } else { (other, one) };
        let (above, below) = (root.node.open(endpoint), child.node.open(endpoint));
        let old = above.child.replace(Some(child));
        below.next.set(old);
        below.back.set(Some(root));
        if let Some(old) = old {
            old.node.open(endpoint).back.set(Some(child));
        }
        root
    }

    /// Melds a row of siblings into one root: in pairs from the left, then from the right.
    fn gather<P: Port>(
        endpoint: &Endpoint<P>,
        first: Option<Ref<Thread<P>>>,
    ) -> Option<Ref<Thread<P>>> {
        let mut row = first;
        let mut pairs: Option<Ref<Thread<P>>> = None;
        while let Some(one) = row {
            let other = Heap::detach(endpoint, one);
            let pair = match other {
                Some(other) => {
                    row = Heap::detach(endpoint, other);
                    Heap::meld(endpoint, one, other)
                }
                None => {
                    row = None;
                    one
                }
            };
            pair.node.open(endpoint).next.set(pairs);
            pairs = Some(pair);
        }
        let mut root = Heap::take(endpoint, &mut pairs)?;
        while let Some(pair) = Heap::take(endpoint, &mut pairs) {
            root = Heap::meld(endpoint, root, pair);
        }
        Some(root)
    }

    /// Cuts a node from its siblings and returns the next one.
    fn detach<P: Port>(endpoint: &Endpoint<P>, thread: Ref<Thread<P>>) -> Option<Ref<Thread<P>>> {
        thread.node.open(endpoint).back.set(None);
        thread.node.open(endpoint).next.take()
    }

    fn take<P: Port>(
        endpoint: &Endpoint<P>,
        row: &mut Option<Ref<Thread<P>>>,
    ) -> Option<Ref<Thread<P>>> {
        let first = (*row)?;
        *row = first.node.open(endpoint).next.take();
        Some(first)
    }
}

impl SendQueue for Heap {
    const SORTED: bool = true;
    const HEAP: bool = true;

    fn insert<P: Port>(endpoint: &Endpoint<P>, thread: Ref<Thread<P>>) {
        P::cost(CostEvent::Link(Queue::Waiting, thread.index()));
        let arrival = endpoint.arrivals.get();
        endpoint.arrivals.set(arrival + 1);
        thread.node.open(endpoint).arrival.set(arrival);
        let root = match endpoint.root.get() {
            Some(root) => Heap::meld(endpoint, root, thread),
            None => thread,
        };
        endpoint.root.open(endpoint).set(Some(root));
    }

    #[inline(always)]
    fn is_empty<P: Port>(endpoint: &Endpoint<P>) -> bool {
        endpoint.root.get().is_none()
    }

    #[inline(always)]
    fn first<P: Port>(endpoint: &Endpoint<P>) -> Option<Ref<Thread<P>>> {
        endpoint.root.get()
    }

    #[inline(always)]
    fn peek<P: Port>(endpoint: Ref<Endpoint<P>>) -> Option<Option<Ref<Thread<P>>>> {
        Some(endpoint.root.get())
    }

    fn remove<P: Port>(endpoint: &Endpoint<P>, thread: Ref<Thread<P>>) {
        P::cost(CostEvent::Unlink(Queue::Waiting, thread.index()));
        let node = thread.node.open(endpoint);
        let children = Heap::gather(endpoint, node.child.take());
        let root = if endpoint.root.get() == Some(thread) {
            children
        } else {
            let next = node.next.take();
            if let Some(back) = node.back.take() {
                // The thread before it is its parent if it is the first child, else a sibling.
                let before = back.node.open(endpoint);
                let link =
                    if before.child.get() == Some(thread) { &before.child } else { &before.next };
                link.set(next);
                if let Some(next) = next {
                    next.node.open(endpoint).back.set(Some(back));
                }
            }
            match (endpoint.root.get(), children) {
                (Some(root), Some(children)) => Some(Heap::meld(endpoint, root, children)),
                (root, children) => root.or(children),
            }
        };
        endpoint.root.open(endpoint).set(root);
    }
}
