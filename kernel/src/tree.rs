//! The scheduling tree as the kernel keeps it: the pure tree of the crate `policies`, and for each
//! of its leaves the threads that are ready to use it.

use crate::access::{Owner, Ref};
use crate::arena::Arena;
use crate::leaf::LeafRef;
use crate::list::List;
use crate::object::Thread;
use crate::object::thread::Running;
use crate::port::Port;
use abi::PRIORITIES;
use cells::Cell;
use policies::tree::{Frame, Node, NodeId, Share, Tree, TreeCpu};
use section::init;

/// The time that a thread in a class of service curves runs at least, in nanoseconds (S4-05).
const QUANTUM: u64 = 1_000_000;

/// What the kernel keeps of a node that is a leaf.
pub struct Leaf<P: Port> {
    /// The threads that are ready to run on its time. The first one does.
    pub threads: List<Thread<P>, Running>,
    /// Which of the leaves that were in this place it is.
    stamp: Cell<u32>,
    /// The CPU whose tree it is in.
    cpu: Cell<u32>,
    /// CPU time that it had had when the turn of its first thread began.
    turn: Cell<u64>,
}

impl<P: Port> Leaf<P> {
    fn new() -> Leaf<P> {
        let [stamp, cpu] = [const { Cell::new(0) }; 2];
        Leaf { threads: List::new(), stamp, cpu, turn: Cell::new(0) }
    }
}

/// The tree and its leaves, touched only while all of the kernel is held.
pub struct Trees<P: Port> {
    tree: core::cell::Cell<Option<&'static mut Tree<'static>>>,
    leaves: &'static [Leaf<P>],
    /// How many CPUs there are, whose roots are the first nodes.
    cpus: u32,
    /// The time slice of threads that share a leaf, in nanoseconds.
    slice: u64,
}

/// What a CPU is to run, and until when.
pub struct Chosen<P: Port> {
    /// The thread; none: the CPU idles.
    pub thread: Option<Ref<Thread<P>>>,
    /// The instant of the next decision, if nothing happens before.
    pub until: u64,
}

impl<P: Port> Trees<P> {
    /// No tree: for kernels that schedule without one.
    #[init]
    pub fn none(_arena: &mut Arena, _cpus: usize, _slice: u64) -> Option<Trees<P>> {
        Some(Trees { tree: core::cell::Cell::new(None), leaves: &[], cpus: 0, slice: 0 })
    }

    /// A tree for so many CPUs, with this time slice in nanoseconds. Threads share a leaf for each
    /// priority. `None`: the RAM does not suffice.
    #[init]
    pub fn carve(arena: &mut Arena, cpus: usize, slice: u64) -> Option<Trees<P>> {
        let nodes = cpus * (1 + PRIORITIES);
        let leaves = arena.slice(nodes, |_, _| Some(Leaf::new()))?;
        let nodes = arena.own(nodes, |_, _| Some(Node::vacant()))?;
        let frames = arena.own(0, |_, _| Some(Frame::EMPTY))?;
        let states = arena.own(cpus, |_, _| Some(TreeCpu::NEW))?;
        let mut tree = Some(Tree::new(nodes, frames, states, slice, QUANTUM));
        let tree = arena.own(1, |_, _| tree.take())?.first_mut()?;
        for cpu in 0..cpus {
            for priority in 0..PRIORITIES {
                let share = Share::Priority(priority as u16);
                let NodeId(leaf) = tree.create(tree.root(cpu), None, share).ok()?;
                leaves[leaf as usize].cpu.set(cpu as u32);
            }
        }
        let tree = core::cell::Cell::new(Some(tree));
        Some(Trees { tree, leaves, cpus: cpus as u32, slice })
    }

    /// Does something with the tree. `None`: this kernel has none.
    #[inline(always)]
    pub fn with<R>(&self, work: impl FnOnce(&mut Tree<'static>) -> R) -> Option<R> {
        let tree = self.tree.take()?;
        let result = work(tree);
        self.tree.set(Some(tree));
        Some(result)
    }

    /// The leaf of threads of this priority that have no reservation.
    #[inline(always)]
    fn of_priority(&self, cpu: u32, priority: i16) -> u32 {
        self.cpus + cpu * PRIORITIES as u32 + u32::from(priority as u8)
    }

    /// Whether a leaf is still the one that was named, and of this CPU.
    #[inline(always)]
    fn is_valid(&self, leaf: LeafRef, cpu: u32) -> bool {
        let place = self.leaves.get(leaf.node as usize);
        place.is_some_and(|place| place.stamp.get() == leaf.stamp && place.cpu.get() == cpu)
    }

    /// The leaf whose time a thread runs on: the one that is lent to it, or that of its priority.
    #[inline(always)]
    pub fn leaf_of(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> u32 {
        let cpu = thread.cpu.get();
        let lent = thread.charged.get(owner);
        if self.is_valid(lent, cpu) {
            return lent.node;
        }
        self.of_priority(cpu, thread.base_priority.get())
    }

    /// The name of a leaf.
    #[inline(always)]
    pub fn name(&self, leaf: u32) -> LeafRef {
        let stamp = self.leaves.get(leaf as usize).map_or(0, |place| place.stamp.get());
        LeafRef { node: leaf, stamp }
    }

    /// The leaf at a place.
    #[inline(always)]
    pub fn leaf(&self, at: u32) -> &'static Leaf<P> {
        let leaves: &'static [Leaf<P>] = self.leaves;
        &leaves[at as usize]
    }

    /// Adds a thread to the leaf that it uses, at the end or as the `FIRST`. Whether the leaf
    /// was empty.
    #[inline(always)]
    pub fn join<const FIRST: bool>(
        &self,
        owner: &impl Owner,
        leaf: u32,
        thread: Ref<Thread<P>>,
    ) -> bool {
        let threads = &self.leaf(leaf).threads;
        let was_empty = threads.is_empty();
        thread.leaf.set(owner, leaf);
        if FIRST {
            threads.push_front(thread);
        } else {
            threads.push_back(thread);
        }
        was_empty
    }

    /// Takes a thread out of the leaf that it is in, and says which. Whether that is empty now.
    #[inline(always)]
    pub fn leave(&self, owner: &impl Owner, thread: Ref<Thread<P>>) -> (u32, bool) {
        let leaf = thread.leaf.get(owner);
        let threads = &self.leaf(leaf).threads;
        threads.remove(thread);
        (leaf, threads.is_empty())
    }

    /// Puts the first of several threads of a leaf behind the others. Whether there are several.
    pub fn rotate(&self, leaf: u32, now: u64) -> bool {
        let place = self.leaf(leaf);
        let Some(first) = place.threads.head().filter(|first| !place.threads.holds_only(*first))
        else {
            return false;
        };
        place.threads.move_back(first);
        let cpu = place.cpu.get() as usize;
        let service = self.with(|tree| {
            tree.account(cpu, now);
            tree.service(NodeId(leaf))
        });
        place.turn.set(service.unwrap_or(0));
        true
    }

    /// Decides for a CPU. What the tree says is checked: a leaf of that CPU, whose first thread can
    /// run.
    #[inline(always)]
    pub fn choose(&self, cpu: u32, now: u64) -> Chosen<P> {
        let Some((pick, service)) = self.with(|tree| {
            let pick = tree.pick(cpu as usize, now);
            (pick, pick.leaf.map_or(0, |leaf| tree.service(leaf)))
        }) else {
            return Chosen { thread: None, until: u64::MAX };
        };
        let place = pick.leaf.and_then(|leaf| self.leaves.get(leaf.0 as usize));
        let Some(place) = place else { return Chosen { thread: None, until: pick.until } };
        let first = place.threads.head();
        let until = match first.filter(|first| !place.threads.holds_only(*first)) {
            Some(_) => self.share_turns(place, service, now).min(pick.until),
            None => pick.until,
        };
        let runs = |thread: &Ref<Thread<P>>| thread.runnable() && thread.cpu.get() == cpu;
        Chosen { thread: place.threads.head().filter(runs), until }
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

    /// When the turn of a leaf's first thread ends; the next one's begins if that was before.
    #[cold]
    fn share_turns(&self, place: &Leaf<P>, service: u64, now: u64) -> u64 {
        let mut left = self.slice.saturating_sub(service.saturating_sub(place.turn.get()));
        if left == 0 {
            if let Some(first) = place.threads.head() {
                place.threads.move_back(first);
            }
            place.turn.set(service);
            left = self.slice;
        }
        now.saturating_add(left)
    }
}
