//! The scheduling tree as the kernel keeps it: the pure tree of the crate `policies`, and for each
//! of its leaves the threads that are ready to use it.

use crate::access::{Owner, Ref};
use crate::arena::Arena;
use crate::leaf::LeafRef;
use crate::list::List;
use crate::object::thread::{Running, StandingBy};
use crate::object::{Notification, Thread, Weak};
use crate::port::Port;
use abi::PRIORITIES;
use cells::Cell;
use policies::tree::{Events, Frame, Node, NodeId, PlainLeaf, Tree, TreeCpu, TreeError};
use section::init;

mod begins;
mod beside;
mod decide;
mod lent;
mod turns;

/// The time that a thread in a class of service curves runs at least, in nanoseconds (S4-05).
const QUANTUM: u64 = 1_000_000;

/// Callers that are followed from a thread to the one whose leaf it uses.
pub const DONATIONS: usize = 8;
/// In place of a CPU: the node is not in use.
const NOWHERE: u32 = u32::MAX;
/// In place of a CPU: the node is in the class that all CPUs share.
const ANYWHERE: u32 = u32::MAX - 1;

/// How urgent a change is that makes nothing more urgent.
pub(crate) const NOTHING: i16 = -1;
/// How urgent a deadline is that interrupts whatever runs.
pub const ANY: i16 = u8::MAX as i16;

/// Where a node runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// On this CPU.
    Cpu(u32),
    /// On any CPU: it is in the class that all of them share.
    Any,
}

impl Home {
    /// Its CPU, if it has one of its own.
    pub fn cpu(self) -> Option<u32> {
        match self {
            Home::Cpu(cpu) => Some(cpu),
            Home::Any => None,
        }
    }

    /// Whether a thread of this CPU can be in it.
    #[inline(always)]
    pub fn is_of(self, cpu: u32) -> bool {
        self == Home::Any || self == Home::Cpu(cpu)
    }
}

/// What the kernel keeps of a node of the tree. Classes have no threads.
pub struct Leaf<P: Port> {
    /// The threads that are ready to run on its time. The first one does.
    pub threads: List<Thread<P>, Running>,
    /// Threads that are queued in another leaf, which is lent to them, and are ready here too.
    pub standing_by: List<Thread<P>, StandingBy>,
    /// Which of the nodes that were in this place it is.
    stamp: Cell<u64>,
    /// The CPU whose tree it is in.
    cpu: Cell<u32>,
    /// The thread whose time slice it is, where several threads share the leaf.
    holder: Cell<Option<Ref<Thread<P>>>>,
    /// CPU time that the leaf had had when that slice began; modulo 2^64, since part of a slice can
    /// be used in other leaves.
    slice_from: Cell<u64>,
    /// How urgent a change to come makes all that is in it, at least, or [`NOTHING`]: the deadlines
    /// of its threads become so before, one by one.
    coming: Cell<i16>,
    /// The thread whose call makes that change.
    by: Cell<Option<Weak<Thread<P>>>>,
    /// The next thread to look at, by its place in the pool.
    pub(crate) next: Cell<u32>,
    /// What is signalled when a deadline is missed or the budget is used up.
    monitor: Cell<Option<Weak<Notification<P>>>>,
    /// With which bits: for a miss, for an overrun.
    bits: Cell<[u64; 2]>,
}

impl<P: Port> Leaf<P> {
    fn new() -> Leaf<P> {
        let (stamp, cpu) = (Cell::new(0), Cell::new(NOWHERE));
        let (holder, slice_from) = (Cell::new(None), Cell::new(0));
        let (monitor, bits) = (Cell::new(None), Cell::new([0; 2]));
        let (coming, by, next) = (Cell::new(NOTHING), Cell::new(None), Cell::new(0));
        Leaf {
            threads: List::new(),
            standing_by: List::new(),
            stamp,
            cpu,
            holder,
            slice_from,
            coming,
            by,
            next,
            monitor,
            bits,
        }
    }

    /// Where it runs, if it is in use.
    #[inline(always)]
    pub fn home(&self) -> Option<Home> {
        match self.cpu.get() {
            NOWHERE => None,
            ANYWHERE => Some(Home::Any),
            cpu => Some(Home::Cpu(cpu)),
        }
    }
}

/// The tree and its leaves, touched only while all of the kernel is held.
pub struct Trees<P: Port> {
    tree: core::cell::Cell<Option<&'static mut Tree<'static>>>,
    leaves: &'static [Leaf<P>],
    /// How many CPUs there are, whose roots are the first nodes, before the class that they share.
    cpus: u32,
    /// The first leaf of threads without a reservation. Those of a CPU's priorities follow each
    /// other, behind all nodes.
    plain: u32,
    /// The time slice of threads that share a leaf, in nanoseconds.
    slice: u64,
    /// Where accounts are left: an address and pages.
    accounts: Cell<[u64; 2]>,
    /// How many threads are lent leaves, and how many are to follow a change of waits: these may be
    /// queued in a leaf that they are lent no longer.
    lent: Cell<u32>,
    /// Whether threads may be lent any.
    lends: Cell<bool>,
    /// The numbers of the first and of the last place that was given.
    places: Cell<[i64; 2]>,
    /// How many nodes a change is to come of that makes them more urgent.
    to_come: Cell<u32>,
    /// Whether there may be some, or one has moved, and no decision was made since.
    followed: Cell<bool>,
}

/// How large a tree is.
#[derive(Clone, Copy)]
pub struct Sizes {
    /// CPUs, each with a root.
    pub cpus: usize,
    /// Nodes that programs and the manifest can make.
    pub reservations: usize,
}

/// What a thread runs on by itself.
enum Own {
    /// Its reservation.
    Leaf(u32),
    /// The leaf of its priority.
    Priority(i16),
    /// Its reservation, which any CPU may run: so it is not lent.
    Shared(u32),
    /// Its reservation is gone, or of another CPU: the leaf of the lowest priority.
    Lowest,
}

impl<P: Port> Trees<P> {
    /// No tree: for kernels that schedule without one.
    #[init]
    pub fn none(_arena: &mut Arena, _sizes: Sizes, _slice: u64) -> Option<Trees<P>> {
        Some(Trees {
            tree: core::cell::Cell::new(None),
            leaves: &[],
            cpus: 0,
            plain: 0,
            slice: 0,
            accounts: Cell::new([0; 2]),
            lent: Cell::new(0),
            lends: Cell::new(false),
            places: Cell::new([0; 2]),
            to_come: Cell::new(0),
            followed: Cell::new(false),
        })
    }

    /// A tree with this time slice in nanoseconds. Threads without a reservation share a leaf for
    /// each priority. `None`: the RAM does not suffice.
    #[init]
    pub fn carve(arena: &mut Arena, sizes: Sizes, slice: u64) -> Option<Trees<P>> {
        let Sizes { cpus, reservations } = sizes;
        let nodes = cpus + 1 + reservations;
        let places = nodes + cpus * PRIORITIES;
        let leaves: &'static [Leaf<P>] = arena.slice(places, |_, _| Some(Leaf::new()))?;
        let first_plain = nodes as u32;
        let nodes = arena.own(nodes, |_, _| Some(Node::vacant()))?;
        let frames = arena.own(reservations, |_, _| Some(Frame::EMPTY))?;
        let states = arena.own(cpus + 1, |_, _| Some(TreeCpu::NEW))?;
        let plain = arena.own(cpus * PRIORITIES, |_, _| Some(PlainLeaf::NEW))?;
        let tree = Tree::new(nodes, frames, states, slice, QUANTUM);
        let mut tree = Some(tree.with_plain(plain));
        let tree = arena.own(1, |_, _| tree.take())?.first_mut()?;
        leaves[tree.shared().0 as usize].cpu.set(ANYWHERE);
        for cpu in 0..cpus {
            leaves[tree.root(cpu).0 as usize].cpu.set(cpu as u32);
            for priority in 0..=u8::MAX {
                let NodeId(leaf) = tree.plain_leaf(cpu, priority);
                leaves[leaf as usize].cpu.set(cpu as u32);
            }
        }
        let tree = core::cell::Cell::new(Some(tree));
        let (accounts, lent) = (Cell::new([0; 2]), Cell::new(0));
        Some(Trees {
            tree,
            leaves,
            cpus: cpus as u32,
            plain: first_plain,
            slice,
            accounts,
            lent,
            lends: Cell::new(false),
            places: Cell::new([0; 2]),
            to_come: Cell::new(0),
            followed: Cell::new(false),
        })
    }

    /// Whether this kernel has one.
    pub fn exist(&self) -> bool {
        P::TREE && self.cpus > 0
    }

    /// Where accounts are left at the end: an address and pages, none if that is not asked for.
    pub fn accounts(&self) -> [u64; 2] {
        self.accounts.get()
    }

    /// Accounts will be left in these pages.
    pub fn leave_accounts(&self, base: u64, pages: u64) {
        self.accounts.set([base, pages]);
    }

    /// How many roots there are: one for each CPU, and behind them the class that all share.
    pub fn roots(&self) -> u32 {
        if self.cpus > 0 { self.cpus + 1 } else { 0 }
    }

    /// Does something with the tree. `None`: this kernel has none.
    #[inline(always)]
    pub fn with<R>(&self, work: impl FnOnce(&mut Tree<'static>) -> R) -> Option<R> {
        if !P::TREE {
            return None;
        }
        let tree = self.tree.take()?;
        let result = work(tree);
        self.tree.set(Some(tree));
        Some(result)
    }

    /// The leaf of threads of this priority that have no reservation.
    #[inline(always)]
    fn of_priority(&self, cpu: u32, priority: i16) -> u32 {
        self.plain + cpu * PRIORITIES as u32 + u32::from(priority as u8)
    }

    /// How urgent the deadlines of a thread are: as its priority, or its reservation, below the
    /// root of its CPU; or as the priority whose leaf it is lent. Those of a thread that is lent a
    /// reservation, or owes an answer, are as urgent as any, since that goes by what its callers
    /// have.
    ///
    /// This goes by the thread's own state and the place of its reservation, so that what changes
    /// it is known: `Leaf::coming`.
    pub fn urgency_of_sleeper(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> i16 {
        if thread.caller.get().is_some() {
            return ANY;
        }
        let (lent, reservation) = (thread.lent.get(owner), thread.reservation.get(owner));
        let priority = match lent.node.checked_sub(self.plain) {
            _ if lent.is_none() => 0,
            Some(number) => (number as u8).into(),
            None => ANY,
        };
        let own = match reservation.is_none() {
            true => thread.own_priority.get(),
            false => self.urgency_of_reserved(reservation, thread.cpu.get()),
        };
        own.max(priority)
    }

    /// The same of one with a reservation: if that is gone, or of another CPU, as the lowest.
    #[cold]
    #[inline(never)]
    fn urgency_of_reserved(&self, leaf: LeafRef, cpu: u32) -> i16 {
        if self.home_of(leaf).is_none_or(|home| !home.is_of(cpu)) {
            return 0;
        }
        let node = NodeId(leaf.node);
        self.urgency_of_instants(node).max(self.urgency_to_come(node))
    }

    /// Whether a change is to come that makes something more urgent.
    pub(crate) fn is_to_change(&self) -> bool {
        self.to_come.get() > 0
    }

    /// How urgent a change to come makes a node itself, or [`NOTHING`]. A thread that cannot run
    /// does not issue its call again: its change does not come, or is begun anew.
    pub(crate) fn coming(&self, NodeId(at): NodeId) -> i16 {
        let place = self.leaf(at);
        let by = self.comes_by(NodeId(at));
        if place.coming.get() != NOTHING && !by.is_some_and(|by| by.runnable()) {
            self.set_coming(NodeId(at), NOTHING, None);
        }
        place.coming.get()
    }

    /// The thread whose call makes a node more urgent.
    pub(crate) fn comes_by(&self, NodeId(at): NodeId) -> Option<Ref<Thread<P>>> {
        self.leaf(at).by.get().and_then(Weak::get)
    }

    /// A change is to come of a node that makes it as urgent as this, by a call of a thread; or
    /// none, or none any more.
    pub(crate) fn set_coming(&self, NodeId(at): NodeId, urgency: i16, by: Option<Ref<Thread<P>>>) {
        self.leaf(at).by.set(by.map(Weak::new));
        let before = self.leaf(at).coming.replace(urgency);
        let more = u32::from(urgency != NOTHING);
        self.to_come.set(self.to_come.get() + more - u32::from(before != NOTHING));
    }

    /// How urgent instants of threads in a node are.
    pub(crate) fn urgency_of_instants(&self, node: NodeId) -> i16 {
        let urgency = self.with(|tree| tree.urgency_of_instants(node));
        urgency.flatten().unwrap_or(ANY).min(ANY)
    }

    /// How urgent a change to come makes what is in a node, or [`NOTHING`].
    pub(crate) fn urgency_to_come(&self, node: NodeId) -> i16 {
        if self.to_come.get() == 0 {
            return NOTHING;
        }
        self.with(|tree| tree.path(node).map(|at| self.coming(at)).max())
            .flatten()
            .unwrap_or(NOTHING)
    }

    /// How urgent a deadline is at least that interrupts what a CPU runs: a thread that is, or was
    /// last, in this leaf.
    #[inline(always)]
    pub fn urgency_of_running(&self, cpu: u32, leaf: u32) -> i16 {
        match leaf.checked_sub(self.plain) {
            Some(number) => (number as u8).into(),
            None => self.urgency_of_node(cpu),
        }
    }

    #[cold]
    #[inline(never)]
    fn urgency_of_node(&self, cpu: u32) -> i16 {
        let priority = self.with(|tree| tree.priority_of_running(cpu as usize));
        priority.unwrap_or(-1).min(u8::MAX.into())
    }

    /// Whether this is a leaf of threads that have no reservation.
    pub fn is_plain(&self, leaf: u32) -> bool {
        leaf >= self.plain
    }

    /// Where the leaf with this name runs, if it is still there.
    #[inline(always)]
    pub fn home_of(&self, leaf: LeafRef) -> Option<Home> {
        let place = self.leaves.get(leaf.node as usize)?;
        place.home().filter(|_| place.stamp.get() == leaf.stamp)
    }

    /// Whether any CPU may run this node.
    #[inline(always)]
    pub fn is_shared(&self, node: u32) -> bool {
        self.leaf(node).cpu.get() == ANYWHERE
    }

    /// A CPU that is to decide again for the class that all share, each once.
    pub fn take_asked(&self) -> Option<u32> {
        self.with(Tree::take_asked).flatten().map(|cpu| cpu as u32)
    }

    /// A CPU stops running a thread of this leaf: if another one has the leaf, it looks again.
    pub fn leave_to_others(&self, leaf: u32, cpu: u32) {
        self.with(|tree| tree.leaves_to_others(NodeId(leaf), cpu as usize));
    }

    /// The leaf whose time a thread runs on. One with a reservation runs on that. One without,
    /// while it owes an answer, runs on the reservation of the first caller that has one; where no
    /// caller has, at the highest priority among itself and its callers. Callers of other CPUs,
    /// those whose reservation any CPU may run, and those behind [`DONATIONS`] others are left out.
    /// If the thread is lent a leaf that is more urgent, or one of those callers, it uses that.
    #[inline(always)]
    pub fn leaf_of(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> u32 {
        if self.lend_any() {
            return self.lent_leaf_of(owner, thread);
        }
        self.own_leaf_of(owner, thread)
    }

    /// The same without what is lent along waits.
    #[inline(always)]
    pub fn own_leaf_of(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> u32 {
        let cpu = thread.cpu.get();
        let (mut payer, mut priority) = (thread, 0);
        for _ in 0..=DONATIONS {
            match self.own_time(owner, payer) {
                Own::Leaf(leaf) => return leaf,
                Own::Shared(leaf) if payer == thread => return leaf,
                Own::Shared(_) => {}
                Own::Priority(own) => priority = own.max(priority),
                Own::Lowest if payer == thread => break,
                Own::Lowest => {}
            }
            match payer.caller.get().filter(|caller| caller.cpu.get() == cpu) {
                Some(caller) => payer = caller,
                None => break,
            }
        }
        self.of_priority(cpu, priority)
    }

    /// A thread with a reservation ends: its job does not go on for another one.
    pub fn end_job(&self, owner: &impl Owner, thread: Ref<Thread<P>>, now: u64) {
        self.end_job_of(thread.reservation.get(owner), now);
    }

    /// Whether a thread that owes `caller` an answer uses the leaf that this one uses, while no
    /// leaf is lent.
    #[inline(always)]
    pub fn lends(
        &self,
        owner: &impl Owner,
        caller: Ref<Thread<P>>,
        thread: Ref<Thread<P>>,
    ) -> bool {
        let both_by_priority = thread.reservation.get(owner).is_none()
            && caller.reservation.get(owner).is_none()
            && caller.caller.get().is_none();
        let lends = match both_by_priority {
            true => thread.own_priority.get() <= caller.own_priority.get(),
            false => caller.leaf.get(owner) == self.own_leaf_of(owner, thread),
        };
        debug_assert_eq!(lends, caller.leaf.get(owner) == self.leaf_of(owner, thread));
        lends
    }

    /// What a thread runs on where nobody lends it anything.
    #[inline(always)]
    fn own_time(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> Own {
        let reservation = thread.reservation.get(owner);
        if reservation.is_none() {
            return Own::Priority(thread.own_priority.get());
        }
        match self.home_of(reservation) {
            Some(Home::Any) => Own::Shared(reservation.node),
            Some(home) if home.is_of(thread.cpu.get()) => Own::Leaf(reservation.node),
            _ => Own::Lowest,
        }
    }

    /// A node in this class is in use from now on.
    pub fn begin(&self, NodeId(node): NodeId, NodeId(class): NodeId) {
        self.leaf(node).cpu.set(self.leaf(class).cpu.get());
    }

    /// A node is not in use any more: its name is void.
    pub fn end(&self, NodeId(node): NodeId) {
        let place = self.leaf(node);
        if place.home().is_some() {
            place.stamp.set(place.stamp.get() + 1);
            place.cpu.set(NOWHERE);
            self.set_coming(NodeId(node), NOTHING, None);
            place.monitor.set(None);
            place.holder.set(None);
            place.slice_from.set(0);
        }
    }

    /// From now on a notification is signalled when a node misses a deadline, which is as urgent as
    /// this level, or uses up its budget, with these bits; zero stands for no signal.
    ///
    /// # Errors
    /// There is no such node, or it is a root.
    pub fn watch(
        &self,
        node: NodeId,
        monitor: Option<Weak<Notification<P>>>,
        [missed, overran]: [u64; 2],
        (level, now): (u16, u64),
    ) -> Result<(), TreeError> {
        let wanted = Events {
            missed: monitor.is_some() && missed > 0,
            overran: monitor.is_some() && overran > 0,
        };
        let watched = self.with(|tree| tree.watch(node, wanted, level, now));
        watched.unwrap_or(Err(TreeError::NoSuchNode))?;
        let place = self.leaf(node.0);
        place.monitor.set(monitor);
        place.bits.set([missed, overran]);
        Ok(())
    }

    /// Takes the most urgent notice that a CPU is to tell, if its monitor is still there: what to
    /// signal with which bits.
    pub fn take_notice(&self, cpu: u32) -> Option<(Ref<Notification<P>>, u64)> {
        let (NodeId(node), seen) = self.with(|tree| tree.take_notice(cpu as usize))??;
        let place = self.leaf(node);
        let [missed, overran] = place.bits.get();
        let bits = if seen.missed { missed } else { 0 } | if seen.overran { overran } else { 0 };
        Some((place.monitor.get()?.get()?, bits))
    }

    /// The name of a node.
    pub fn name(&self, NodeId(node): NodeId) -> LeafRef {
        LeafRef { node, stamp: self.leaf(node).stamp.get() }
    }

    /// The leaf at a place.
    #[inline(always)]
    pub fn leaf(&self, at: u32) -> &'static Leaf<P> {
        let leaves: &'static [Leaf<P>] = self.leaves;
        &leaves[at as usize]
    }

    /// Adds a thread to the leaf that it uses, behind the others. Whether the leaf was empty.
    #[inline(always)]
    pub fn join(&self, owner: &impl Owner, leaf: u32, thread: Ref<Thread<P>>) -> bool {
        let threads = &self.leaf(leaf).threads;
        let was_empty = threads.is_empty();
        thread.leaf.set(owner, leaf);
        threads.push_back(thread);
        was_empty
    }

    /// Adds a thread to the leaf of `first`, before that one: it takes over the rest of its time
    /// slice.
    #[inline(always)]
    pub fn join_before(&self, owner: &impl Owner, thread: Ref<Thread<P>>, first: Ref<Thread<P>>) {
        let leaf = first.leaf.get(owner);
        let place = self.leaf(leaf);
        thread.leaf.set(owner, leaf);
        place.threads.push_front(thread);
        if place.holder.get() == Some(first) {
            place.holder.set(Some(thread));
        }
    }

    /// A thread takes the place of another one in its leaf, and the rest of its time slice.
    #[inline(always)]
    pub fn replace(&self, owner: &impl Owner, from: Ref<Thread<P>>, to: Ref<Thread<P>>) {
        let leaf = from.leaf.get(owner);
        let place = self.leaf(leaf);
        to.leaf.set(owner, leaf);
        place.threads.replace(from, to);
        if place.holder.get() == Some(from) {
            place.holder.set(Some(to));
        }
    }

    /// Takes a thread out of the leaf that it is in, and says which. Whether that is empty now.
    #[inline(always)]
    pub fn leave(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> (u32, bool) {
        let leaf = thread.leaf.get(owner);
        let threads = &self.leaf(leaf).threads;
        threads.remove(thread);
        (leaf, threads.is_empty())
    }

    /// Whether a CPU has to decide anew since this node became ready, or was changed.
    #[inline(always)]
    pub fn preempts(&self, node: u32) -> bool {
        self.with(|tree| tree.preempts(NodeId(node))).unwrap_or(false)
    }

    /// Calls `visit` for each leaf with what the tree thinks of it: whether it is ready.
    pub fn each(&self, mut visit: impl FnMut(u32, &Leaf<P>, bool)) {
        for (at, leaf) in (0..).zip(self.leaves) {
            let ready = self
                .with(|tree| tree.policy(NodeId(at)).is_none().then(|| tree.is_ready(NodeId(at))));
            if let Some(Some(ready)) = ready {
                visit(at, leaf, ready);
            }
        }
    }
}
