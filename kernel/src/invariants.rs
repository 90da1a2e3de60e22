//! Kernel invariants, for tests: what holds between any two entries.

mod futexes;
mod inherit;
mod trains;

use crate::access::{Exclusive, Life, Ref};
use crate::cpu::{Cpu, NEAR};
use crate::events::Machine;
use crate::list::{Linked, List};
use crate::object::capability::Capability;
use crate::object::deadlines::{NEVER, TimerEntry};
use crate::object::memory::Frames;
use crate::object::thread::{State, Wait, Waiting};
use crate::object::{Domain, Endpoint, Pooled, Thread};
use crate::pool::Pool;
use crate::port::{Context, Port, Space};
use crate::send_queue::Heap;
use crate::tree::{Leaf, NOTHING};
use abi::PRIORITIES;
use abi::call::RESTARTED;
use abi::object::Resource;
use core::sync::atomic::Ordering::Relaxed;
use policies::tree::NodeId;

/// Checks every invariant and panics with the first that does not hold.
pub fn check<P: Port>(machine: Machine<P>, all: &Exclusive<'_>) {
    let checker = Checker { machine, all };
    checker.threads();
    checker.ready_queues();
    checker.queues();
    futexes::check(machine, all);
    inherit::check(machine, all);
    if P::TRAINS {
        trains::check(&checker);
    }
    checker.deadlines();
    checker.changes();
    if !P::SMP {
        timer(machine.cpu);
    }
    if P::LENGTHS {
        checker.lengths();
    }
    machine.kernel.console.check();
    checker.domains();
    checker.capabilities();
    checker.mappings();
    checker.resources();
}

/// Checks the timer of a CPU that is outside the kernel and that no other one interrupts: it is not
/// late for the tick, for a deadline that is not deferred, or to look at those that are.
pub fn timer<P: Port>(cpu: &Cpu<P>) {
    // A decision that is left to an interrupt programs the timer.
    if cpu.resched.get() {
        return;
    }
    let ((armed, tick_at, floor), deadlines) = (cpu.programmed(), &cpu.deadlines);
    assert!(armed <= tick_at.saturating_add(NEAR), "the timer is late for the tick");
    // No priority lies behind the highest one.
    let exactly = if floor < PRIORITIES as i16 { deadlines.first_from(floor) } else { NEVER };
    assert!(armed <= exactly, "the timer is late for a deadline");
    let (tick, _) = cpu.tick_and_slice();
    let point = (cpu.port().now() / tick + 1) * tick;
    let looked_at = armed <= deadlines.first().max(point + NEAR);
    assert!(looked_at, "the timer is late for deferred deadlines");
}

/// The parent of a member of a heap: what its first sibling leads back to.
fn parent<P: Port>(endpoint: &Endpoint<P>, member: Ref<Thread<P>>) -> Option<Ref<Thread<P>>> {
    let mut at = member;
    loop {
        let back = at.node.open(endpoint).back.get()?;
        if back.node.open(endpoint).child.get() == Some(at) {
            return Some(back);
        }
        assert!(back != member, "siblings in a heap go round");
        at = back;
    }
}

/// The member of a heap that comes after `at` and all below it.
fn following<P: Port>(endpoint: &Endpoint<P>, at: Ref<Thread<P>>) -> Option<Ref<Thread<P>>> {
    let mut at = at;
    loop {
        if let Some(next) = at.node.open(endpoint).next.get() {
            return Some(next);
        }
        at = parent(endpoint, at)?;
    }
}

struct Checker<'a, 's, P: Port> {
    machine: Machine<P>,
    all: &'a Exclusive<'s>,
}

fn live<T>(pool: &'static Pool<T>) -> impl Iterator<Item = Ref<T>> {
    (0..pool.size())
        .filter_map(|index| pool.get(index))
        .filter(|object| object.life() != Life::Vacant)
}

/// Sums by object of a pool are found so many at a time.
const SUMS: u32 = 256;

/// Checks what is counted for each object of a pool that is not vacant. `count` goes through all
/// that is counted and says for which object, and how much: one pass, not one for each object.
fn tally<T>(
    pool: &'static Pool<T>,
    count: impl Fn(&mut dyn FnMut(Ref<T>, u64)),
    mut check: impl FnMut(Ref<T>, u64),
) {
    for first in (0..pool.size()).step_by(SUMS as usize) {
        let mut sums = [0; SUMS as usize];
        count(&mut |at, much| {
            if let Some(sum) = sums.get_mut(at.index().wrapping_sub(first) as usize) {
                *sum += much;
            }
        });
        for (index, sum) in (first..pool.size()).zip(sums) {
            let at = pool.get(index).filter(|at| at.life() != Life::Vacant);
            at.into_iter().for_each(|at| check(at, sum));
        }
    }
}

impl<P: Port> Checker<'_, '_, P> {
    fn threads(&self) {
        let threads = &self.machine.kernel.threads;
        for at in (0..threads.size()).filter_map(|index| threads.get(index)) {
            let thread = self.all.open(at);
            let in_heap = self.machine.kernel.variant.senders.heap
                && matches!(
                    (thread.state.get(), thread.wait.get()),
                    (State::Sending, Wait::Endpoint(_) | Wait::Train(_))
                );
            let linked = <Thread<P> as Linked<Waiting>>::links(thread).linked();
            assert!(!in_heap || !linked, "a sender is in a list beside its heap");
            let listed = thread.inherit.waits.get().is_some();
            let waits = linked || in_heap || (listed && thread.state.get() == State::Waiting);
            if at.life() == Life::Vacant {
                let linked = waits || listed || thread.queued() || thread.deadline.queued();
                assert!(!linked, "a destroyed thread is in a queue");
                assert!(thread.caller.get().is_none(), "a destroyed thread has a caller");
                continue;
            }
            if let Some(caller) = thread.caller.get() {
                let caller = self.all.open(caller);
                assert!(caller.state.get() == State::Calling, "a caller that does not call");
                assert!(caller.server.get() == Some(at), "a caller that has another server");
            }
            if thread.state.get() == State::Calling
                && let Some(server) = thread.server.get()
            {
                let right = self.all.open(server).caller.get();
                assert!(right == Some(at), "a server without its caller's reply right");
            }
            match (thread.state.get(), thread.wait.get()) {
                (State::Ready | State::Calling, _) => {
                    assert!(!waits, "a thread that does not wait is in a wait queue");
                }
                (State::Receiving, Wait::Nothing) => assert!(!waits, "a sleeper is in a queue"),
                _ => assert!(waits, "a waiting thread is in no queue"),
            }
            let deadline = thread.has(crate::object::thread::flag::DEADLINE);
            assert!(deadline == thread.deadline.queued(), "a deadline and its mark differ");
            assert!(!deadline || thread.state.get() != State::Ready, "a ready thread times out");
        }
    }

    fn ready_queues(&self) {
        let cpus = self.machine.kernel.cpus.get();
        for cpu in cpus {
            self.ready_queue(cpu);
        }
        self.machine.kernel.trees.each(|at, leaf, ready| {
            assert!(ready != leaf.is_left(), "a leaf is not as ready as its threads");
            self.standing_by(at, leaf);
            leaf.threads.each(|thread| {
                assert!(thread.leaf.get(self.all) == at, "a thread is queued in another leaf");
                let trees = &self.machine.kernel.trees;
                // A leaf that ends is left in steps.
                if leaf.home().is_some() {
                    inherit::queued_in(self.machine, self.all, (thread, at));
                }
                assert!(thread.runnable(), "a thread that cannot run is queued in a leaf");
                let away = trees.away_from(self.all, thread, at);
                let known = thread.away.get(self.all);
                // While threads are to follow a change of waits, what has changed is used still.
                let left = leaf.home().is_none() || self.machine.kernel.waits.has_followers();
                let gone = left || trees.home_of(known).is_none();
                assert!(known == away || gone, "a thread is away from another leaf than it says");
            });
        });
        for at in live(&self.machine.kernel.threads) {
            let thread = self.all.open(at);
            let on = cpus.iter().filter(|cpu| cpu.current.get() == at).count();
            assert!(on <= 1, "a thread runs on two CPUs");
            let queued = thread.queued() || thread.is_woken_remotely();
            let accounted = queued || on == 1 || cpus.iter().any(|cpu| cpu.idle == at);
            assert!(accounted || !thread.runnable(), "a runnable thread is not queued");
            let there = (thread.cpu.get() as usize) < cpus.len();
            assert!(there, "a thread belongs to a CPU that does not exist");
        }
    }

    /// Threads that stand by at a leaf are queued in another one, which they are lent, and are in
    /// the order of their places. The tree knows where no other ones are.
    fn standing_by(&self, at: u32, leaf: &Leaf<P>) {
        let lends = self.machine.kernel.trees.lend_any();
        assert!(lends || leaf.standing_by.is_empty(), "a thread stands by, and no leaf is lent");
        let mut before = i64::MIN;
        leaf.standing_by.each(|thread| {
            assert!(thread.beside.get(self.all) == at, "a thread stands by at another leaf");
            assert!(thread.queued(), "a thread stands by, and is not ready");
            assert!(thread.leaf.get(self.all) != at, "a thread stands by where it is queued");
            assert!(
                thread.away.get(self.all).node == at,
                "a thread stands by at no leaf of its own"
            );
            let [_, place] = thread.places.get(self.all);
            assert!(place > before, "threads that stand by are out of order");
            before = place;
        });
        let alone = leaf.threads.is_empty() && !leaf.standing_by.is_empty();
        let known = self.machine.kernel.trees.with(|tree| tree.is_stood_by(NodeId(at))).flatten();
        assert!(
            known.is_none_or(|known| known == alone),
            "a leaf is not stood by as the tree says"
        );
    }

    fn ready_queue(&self, cpu: &Cpu<P>) {
        let running = cpu.current.get();
        let current = self.all.open(running);
        // Another CPU may have stopped the thread: then this one was asked to leave it.
        let leaves = P::SMP && cpu.resched.get();
        assert!(current.runnable() || running == cpu.idle || leaves, "a blocked thread runs");
        let away = running != cpu.idle && current.cpu.get() != cpu.number;
        assert!(!away || leaves, "a thread runs on a CPU that it has left");
        let eager = self.machine.kernel.variant.eager && current.runnable();
        let queued = current.queued() || current.is_woken_remotely() || away || running == cpu.idle;
        assert!(queued || !eager, "a thread runs that eager queueing has not queued");
        cpu.ready.each(|level, at| {
            let thread = self.all.open(at);
            assert!(thread.priority.get() == i16::from(level), "queued at another priority");
            // Until the CPU that it runs on leaves it, it may wake others there and be queued
            // behind them; who destroys it takes it out again.
            let leaves = P::SMP && at.life() == Life::Dying && !thread.runnable();
            assert!(at.life() == Life::Live || leaves, "a destroyed thread is queued");
            assert!(thread.cpu.get() == cpu.number, "queued on another CPU");
            let bounded = thread.priority.get() <= cpu.highest.get();
            assert!(bounded, "queued above the highest that the CPU knows");
            // One that arrives is on its way, and so is the tick.
            let waits = at != running && thread.runnable() && !thread.is_woken_remotely();
            let ticks = cpu.ticks() || cpu.resched.get();
            assert!(!waits || ticks, "a thread waits where there is no tick");
        });
        cpu.remote_wakes.each(|at| {
            assert!(at.life() == Life::Live, "a destroyed thread arrives");
            assert!(at.cpu.get() == cpu.number, "arrives on another CPU");
        });
        // Nothing is mapped in the kernel's own domain.
        let own = self.all.open(cpu.idle).domain.get();
        if P::SMP
            && let Some(domain) = cpu.space.get()
            && domain != own
        {
            assert!(domain.life() != Life::Vacant, "a CPU has the tables of no domain loaded");
        }
    }

    fn queues(&self) {
        let sending = |found: &mut dyn FnMut(Ref<Endpoint<P>>, u64)| {
            self.sending(|wait| {
                if let Wait::Endpoint(at) = wait {
                    found(at, 1);
                }
            });
        };
        tally(&self.machine.kernel.endpoints, sending, |at, sending| {
            let endpoint: &Endpoint<P> = self.all.open(at);
            let here = |wait| matches!(wait, Wait::Endpoint(other) if other == at);
            self.senders(endpoint, sending, here);
            self.members(endpoint.receivers(), State::Receiving, here);
            let one = endpoint.senders.is_empty() || endpoint.receivers.is_empty();
            assert!(one, "senders and receivers wait on one endpoint");
            let attached = endpoint.attached.get().and_then(|weak| weak.get());
            let pending = attached.is_some_and(|at| self.all.open(at).bits.get() != 0);
            // Those who wait on an endpoint that is ending are woken, if not all of them yet.
            let ends = at.life() == Life::Dying;
            let idle = !pending || ends || endpoint.receivers.is_empty();
            assert!(idle, "signals that an endpoint receives are pending while a thread waits");
        });
        for at in live(&self.machine.kernel.notifications) {
            let notification = self.all.open(at);
            let here = |wait| matches!(wait, Wait::Notification(other) if other == at);
            self.members(notification.receivers(), State::Receiving, here);
            let idle = notification.bits.get() == 0 || notification.receivers.is_empty();
            assert!(idle, "signals are pending while a receiver waits");
        }
    }

    /// What each thread waits for that sends.
    fn sending(&self, mut found: impl FnMut(Wait<P>)) {
        let threads = live(&self.machine.kernel.threads).map(|at| self.all.open(at));
        let senders = threads.filter(|thread| thread.state.get() == State::Sending);
        senders.for_each(|thread| found(thread.wait.get()));
    }

    /// The threads that send to an endpoint, in a list or a heap: so many wait for it.
    fn senders(&self, endpoint: &Endpoint<P>, sending: u64, here: impl Fn(Wait<P>) -> bool) {
        self.members(endpoint.senders(), State::Sending, &here);
        let waits = |member: &Ref<Thread<P>>| {
            let thread = self.all.open(*member);
            thread.state.get() == State::Sending && here(thread.wait.get())
        };
        if self.machine.kernel.variant.senders.heap {
            let members = self.heap(endpoint, waits);
            assert!(members as u64 == sending, "a sender is in no heap");
        }
    }

    /// Each sleeper is among the deadlines of its CPU, a thread as urgent as it is.
    fn deadlines(&self) {
        let kernel = self.machine.kernel;
        let mut found = 0;
        for cpu in kernel.cpus.get() {
            cpu.deadlines.each(|sleeper, _, priority| {
                found += 1;
                let (owner, current) = match sleeper {
                    TimerEntry::Thread(thread) => {
                        (thread.cpu.get(), cpu.urgency_of_sleeper(thread))
                    }
                    TimerEntry::Timer(timer) if P::SMP => {
                        (self.all.open(timer).cpu.get(), priority)
                    }
                    TimerEntry::Timer(_) => (cpu.number, priority),
                };
                assert!(owner == cpu.number, "a deadline on another CPU");
                // A reservation that has become less urgent leaves deadlines where they were.
                let is_kept = kernel.trees.exist() && current < priority;
                // Those in what is about to become more urgent become so one by one.
                let is_early = kernel.trees.exist() && kernel.trees.is_to_change();
                let is_right = current == priority || is_kept || is_early;
                assert!(is_right, "a deadline at another priority");
            });
        }
        let threads = live(&kernel.threads).filter(|at| self.all.open(*at).deadline.queued());
        let timers = live(&kernel.timers).filter(|at| self.all.open(*at).deadline.queued());
        assert!(found == threads.count() + timers.count(), "a deadline is in no queue");
    }

    /// What is to become more urgent does so by a call that its thread issues again.
    fn changes(&self) {
        let trees = &self.machine.kernel.trees;
        for at in live(&self.machine.kernel.reservations) {
            let node = NodeId(self.all.open(at).node.get());
            let is_to_come = trees.exist() && trees.coming(node) != NOTHING;
            if let Some(by) = trees.comes_by(node).filter(|_| is_to_come) {
                let thread = self.all.open(by);
                assert!(thread.changes.get() == Some(node), "a change of a thread that makes none");
                let (number, _) = thread.context.call();
                assert!(number & RESTARTED != 0, "a change of a call that has ended");
            }
        }
    }

    /// The lengths that are kept for trace and statistics.
    fn lengths(&self) {
        let kernel = self.machine.kernel;
        for cpu in kernel.cpus.get() {
            let mut queued = 0;
            cpu.ready.each(|_, _| queued += 1);
            assert!(cpu.ready.length() == queued, "a ready queue is miscounted");
        }
        let endpoints = live(&kernel.endpoints).map(|at| self.all.open(at).queued.get());
        let trains = live(&kernel.trains).map(|at| self.all.open(at).queue.queued.get());
        let kept: u32 = endpoints.chain(trains).sum();
        let senders = live(&kernel.threads).filter(|at| {
            let thread = self.all.open(*at);
            thread.state.get() == State::Sending
        });
        assert!(kept as usize == senders.count(), "the senders of endpoints are miscounted");
    }

    /// Checks the heap of an endpoint's senders; returns how many there are.
    fn heap(&self, endpoint: &Endpoint<P>, waits: impl Fn(&Ref<Thread<P>>) -> bool) -> usize {
        let Some(root) = endpoint.root.get() else { return 0 };
        let mut members = 0;
        let mut next = Some(root);
        while let Some(at) = next {
            members += 1;
            assert!(waits(&at), "a member of a heap that waits for something else");
            let node = at.node.open(endpoint);
            for (below, what) in [(node.child.get(), "child"), (node.next.get(), "sibling")] {
                let Some(below) = below else { continue };
                let back = below.node.open(endpoint).back.get();
                assert!(back == Some(at), "a {what} in a heap that does not lead back");
                let above = if what == "child" { Some(at) } else { parent(endpoint, at) };
                let ordered = above.is_some_and(|above| Heap::before(endpoint, above, below));
                assert!(ordered, "a {what} in a heap that is served before its parent");
            }
            next = node.child.get().or_else(|| following(endpoint, at));
        }
        assert!(endpoint.receivers.is_empty(), "senders and receivers wait on one endpoint");
        members
    }

    fn members(
        &self,
        list: &List<Thread<P>, Waiting>,
        state: State,
        here: impl Fn(Wait<P>) -> bool,
    ) {
        list.each(|member| {
            let thread = self.all.open(member);
            assert!(thread.state.get() == state, "a member in another state");
            assert!(here(thread.wait.get()), "a member that waits for something else");
        });
    }

    fn domains(&self) {
        let kernel = self.machine.kernel;
        // A thread that is being destroyed counts until that is complete.
        let inside = |found: &mut dyn FnMut(Ref<Domain<P>>, u64)| {
            live(&kernel.threads).for_each(|thread| found(trains::home(self.all, thread), 1));
        };
        tally(&kernel.domains, inside, |at, inside| {
            // The idle threads are the kernel's own and not counted.
            let cpus = kernel.cpus.get().iter();
            let idle = cpus.filter(|cpu| self.all.open(cpu.idle).domain.get() == at).count();
            let count = u64::from(self.all.open(at).threads.get()) + idle as u64;
            assert!(count == inside, "a domain's threads are miscounted");
        });
        for at in live(&kernel.threads) {
            let domain = self.all.open(at).domain.get();
            assert!(domain.life() != Life::Vacant, "a thread outlives its domain");
        }
    }

    /// No capability with a current generation names a vacant slot.
    fn capabilities(&self) {
        let domains = &self.machine.kernel.domains;
        for at in (0..domains.size()).filter_map(|index| domains.get(index)) {
            for cell in self.all.open(at).slots {
                let capability = cell.get();
                let empty = matches!(capability, Capability::Empty);
                assert!(empty || at.life() != Life::Vacant, "a vacant domain has capabilities");
                assert!(!capability.names_vacant(), "a valid capability to a vacant slot");
            }
        }
    }

    fn mappings(&self) {
        let kernel = self.machine.kernel;
        for at in live(&kernel.mappings) {
            let mapping = self.all.open(at);
            let (Some(memory), Some(domain)) = (mapping.memory.get(), mapping.domain.get()) else {
                panic!("a mapping of nothing");
            };
            let there = memory.life() != Life::Vacant && domain.life() != Life::Vacant;
            assert!(there, "a mapping outlives its memory or its domain");
            let space = &self.all.open(domain).space;
            for page in [0, mapping.done.get().saturating_sub(1)] {
                let address = mapping.at.get() + page * P::PAGE;
                let mapped = page >= mapping.done.get() || space.is_mapped(kernel.port, address);
                assert!(mapped, "a mapping without its pages");
            }
            assert!(mapping.done.get() <= mapping.pages.get(), "more pages than a mapping has");
        }
    }

    /// What a domain is charged for is what it owns, plus what it gave to domains inside it; and
    /// the pools can keep what the quotas promise.
    fn resources(&self) {
        let kernel = self.machine.kernel;
        self.charged(&kernel.domains);
        self.charged(&kernel.threads);
        self.charged(&kernel.endpoints);
        self.charged(&kernel.notifications);
        self.charged(&kernel.interrupts);
        self.charged(&kernel.memories);
        self.charged(&kernel.mappings);
        self.charged(&kernel.timers);
        self.charged(&kernel.reservations);
        self.charged(&kernel.trains);
        self.charged(&kernel.activations);
        let given = |found: &mut dyn FnMut(Ref<Domain<P>>, u64)| self.given(Resource::Slots, found);
        tally(&kernel.domains, given, |at, given| {
            let domain = self.all.open(at);
            for resource in Resource::ALL {
                let fits = domain.quotas.used(resource) <= domain.quotas.limit(resource);
                assert!(fits, "a domain uses more than its quota");
            }
            let slots = u64::from(domain.limit.get()) + given;
            let used = u64::from(domain.quotas.used(Resource::Slots));
            assert!(used == slots, "a charge for slots differs from the table");
        });
        self.frames();
        self.tables();
        self.zeroed();
    }

    fn charged<T: Pooled<P>>(&self, pool: &'static Pool<T>) {
        let charges = |found: &mut dyn FnMut(Ref<Domain<P>>, u64)| {
            let owners = live(pool).filter_map(|at| self.all.open(at).owner().get());
            owners.for_each(|owner| found(owner, 1));
            self.given(T::RESOURCE, found);
        };
        tally(&self.machine.kernel.domains, charges, |domain, charges| {
            let used = self.all.open(domain).quotas.used(T::RESOURCE);
            assert!(u64::from(used) == charges, "a charge differs from what is owned");
        });
        let mut used = 0;
        for at in live(pool) {
            used += 1;
            let owner = self.all.open(at).owner().get();
            let there = owner.is_none_or(|owner| owner.life() != Life::Vacant);
            assert!(there, "an object outlives the domain that it is charged to");
        }
        assert!(pool.used() == used, "a pool's objects are miscounted");
    }

    /// What domains gave to those inside them: each such gift.
    fn given(&self, resource: Resource, found: &mut dyn FnMut(Ref<Domain<P>>, u64)) {
        for inner in live(&self.machine.kernel.domains).map(|at| self.all.open(at)) {
            let limit = inner.quotas.limit(resource).into();
            inner.owner().get().into_iter().for_each(|owner| found(owner, limit));
        }
    }

    /// What is zeroed of the free frames that come into use next is zero.
    fn zeroed(&self) {
        let kernel = self.machine.kernel;
        let threads = (0..kernel.threads.size()).filter_map(|index| kernel.threads.get(index));
        let buffers = threads
            .filter(|at| at.life() == Life::Vacant)
            .map(|at| self.all.open(at).fresh_buffer());
        for fresh in buffers.chain(kernel.frames.next()).chain(kernel.tables.next()) {
            assert!(fresh.is_as_told(kernel.port), "a frame that was zeroed is not zero");
        }
    }

    /// Every frame is free or in one memory object, and those that are promised are free.
    fn frames(&self) {
        let kernel = self.machine.kernel;
        let (mut taken, mut promised) = (0, 0);
        for at in live(&kernel.memories) {
            let memory = self.all.open(at);
            if let Some((first, number)) = memory.ports() {
                assert!(u32::from(first) + number <= 1 << 16, "ports beyond the last one");
                assert!(memory.mappings.is_empty(), "ports are mapped");
            }
            if let Frames::Indexed(index) = memory.frames.get() {
                let entries = kernel.port.frame(index).iter();
                let there = entries.filter(|entry| entry.load(Relaxed) != 0).count() as u32;
                assert!(u64::from(there) <= memory.pages.get(), "a frame beyond the memory's end");
                taken += there + 1;
                promised += memory.pages.get() as u32 - there;
            }
        }
        let charges = |found: &mut dyn FnMut(Ref<Domain<P>>, u64)| {
            let memories = live(&kernel.memories)
                .map(|at| self.all.open(at))
                .filter(|memory| matches!(memory.frames.get(), Frames::Indexed(_)));
            for memory in memories {
                let pages = memory.pages.get() + 1;
                memory.owner().get().into_iter().for_each(|owner| found(owner, pages));
            }
            self.given(Resource::Frames, found);
        };
        tally(&kernel.domains, charges, |domain, charges| {
            let used = self.all.open(domain).quotas.used(Resource::Frames);
            assert!(u64::from(used) == charges, "a charge differs from the frames");
        });
        let (size, used) = kernel.frames.size_and_used();
        assert!(used == taken, "a frame is lost, or in use and free");
        assert!(size - used >= promised + self.left(Resource::Frames), "a frame promised twice");
    }

    fn tables(&self) {
        let (size, used) = self.machine.kernel.tables.size_and_used();
        assert!(size - used >= self.left(Resource::Tables), "a page table promised twice");
    }

    /// What all domains together may still ask for.
    fn left(&self, resource: Resource) -> u32 {
        live(&self.machine.kernel.domains)
            .map(|at| &self.all.open(at).quotas)
            .map(|quotas| quotas.limit(resource) - quotas.used(resource))
            .sum()
    }
}
