//! The four send queues against a list in the order of arrival.

use super::{leak, threads};
use crate::support::board::{body, whole};
use crate::support::heap;
use crate::support::host::Host;
use kernel::access::Ref;
use kernel::object::{Endpoint, Thread};
use kernel::send_queue::{Fifo, Heap, Ordered, Scan, SendQueue, Senders};
use proptest::prelude::*;
use std::cmp::Reverse;

/// Threads; more than priorities, so that there are equals.
const THREADS: usize = 12;

/// What happens to a queue.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A thread joins, if it is not there.
    Join(usize),
    /// The next one is served.
    Serve,
    /// A thread leaves, if it is there.
    Leave(usize),
    /// A thread's priority changes.
    Change(usize, i16),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let priority = 0..4_i16;
    let event = prop_oneof![
        6 => (0..THREADS).prop_map(Event::Join),
        3 => Just(Event::Serve),
        2 => (0..THREADS).prop_map(Event::Leave),
        2 => (0..THREADS, priority).prop_map(|(thread, priority)| Event::Change(thread, priority)),
    ];
    prop::collection::vec(event, 0..200)
}

/// A queue and what it should be.
struct Pair {
    endpoint: &'static Endpoint<Host>,
    threads: Vec<Ref<Thread<Host>>>,
    queue: Senders<Host>,
    is_empty: fn(&Endpoint<Host>) -> bool,
    /// Whether priorities count.
    orders: bool,
    /// In the order of arrival.
    model: Vec<usize>,
}

impl Pair {
    fn new<Q: SendQueue>(orders: bool) -> Pair {
        let threads = threads(THREADS as u32);
        threads.iter().zip(0..).for_each(|(at, index)| body(*at).priority.set(&whole(), index % 3));
        let (endpoint, queue) = (leak(Endpoint::new()), Senders::of::<Q>());
        let is_empty = Q::is_empty::<Host>;
        Pair { endpoint, threads, queue, is_empty, orders, model: Vec::new() }
    }

    fn priority(&self, thread: usize) -> i16 {
        body(self.threads[thread]).priority.get()
    }

    fn first(&self) -> Option<usize> {
        let mut order = self.model.clone();
        if self.orders {
            order.sort_by_key(|thread| Reverse(self.priority(*thread)));
        }
        order.first().copied()
    }

    /// As the core does it: a thread in a sorted queue leaves it and joins again.
    fn change(&mut self, thread: usize, priority: i16) {
        let queued = self.queue.sorted && self.model.contains(&thread);
        if queued {
            self.leave(thread);
        }
        body(self.threads[thread]).priority.set(&whole(), priority);
        if queued {
            self.join(thread);
        }
    }

    fn join(&mut self, thread: usize) {
        (self.queue.insert)(self.endpoint, self.threads[thread]);
        self.model.push(thread);
    }

    fn leave(&mut self, thread: usize) {
        (self.queue.remove)(self.endpoint, self.threads[thread]);
        self.model.retain(|other| *other != thread);
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Join(thread) if !self.model.contains(&thread) => self.join(thread),
            Event::Leave(thread) if self.model.contains(&thread) => self.leave(thread),
            Event::Serve => {
                if let Some(first) = self.first() {
                    self.leave(first);
                }
            }
            Event::Change(thread, priority) => self.change(thread, priority),
            Event::Join(_) | Event::Leave(_) => {}
        }
    }

    fn agree(&self) {
        let first = (self.queue.first)(self.endpoint).map(|at| at.index() as usize);
        assert_eq!(first, self.first(), "another is served first");
        assert_eq!((self.is_empty)(self.endpoint), self.model.is_empty());
        let mut members = 0;
        self.endpoint.senders().each(|_| members += 1);
        members += heap::consistent(self.endpoint);
        assert_eq!(members, self.model.len(), "members");
    }

    /// Serves all that are left, each in turn.
    fn drain(&mut self) {
        while let Some(first) = self.first() {
            self.leave(first);
            self.agree();
        }
    }
}

fn follow<Q: SendQueue>(orders: bool, events: &[Event]) {
    let mut pair = Pair::new::<Q>(orders);
    for event in events {
        pair.happens(*event);
        pair.agree();
    }
    pair.drain();
}

proptest! {
    #[test]
    fn first_come_first_served(events in events()) {
        follow::<Fifo>(false, &events);
    }

    #[test]
    fn a_scan_serves_the_highest(events in events()) {
        follow::<Scan>(true, &events);
    }

    #[test]
    fn a_sorted_queue_serves_the_highest(events in events()) {
        follow::<Ordered>(true, &events);
    }

    #[test]
    fn a_heap_serves_the_highest(events in events()) {
        follow::<Heap>(true, &events);
    }
}

/// Equals are served in the order of arrival, among lower and higher ones.
#[test]
fn equals_are_served_in_turn() {
    fn order<Q: SendQueue>(orders: bool) -> Vec<usize> {
        let mut pair = Pair::new::<Q>(orders);
        (0..9).for_each(|thread| pair.join(thread));
        let mut served = Vec::new();
        while let Some(first) = (pair.queue.first)(pair.endpoint) {
            served.push(first.index() as usize);
            pair.leave(first.index() as usize);
        }
        served
    }
    assert_eq!(order::<Fifo>(false), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    for served in [order::<Scan>(true), order::<Ordered>(true), order::<Heap>(true)] {
        assert_eq!(served, [2, 5, 8, 1, 4, 7, 0, 3, 6]);
    }
}

/// A priority that is set while a thread waits counts from then on. In a sorted queue the thread
/// then stands behind its new equals; in one that is scanned it keeps its place among them.
#[test]
fn a_queued_thread_changes_its_priority() {
    fn first<Q: SendQueue>() -> Option<u32> {
        let mut pair = Pair::new::<Q>(true);
        pair.change(1, 5);
        pair.join(0);
        pair.join(1);
        pair.change(0, 5);
        (pair.queue.first)(pair.endpoint).map(|at| at.index())
    }
    assert_eq!((first::<Scan>(), first::<Ordered>(), first::<Heap>()), (Some(0), Some(1), Some(1)));
}
