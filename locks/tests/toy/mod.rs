//! A toy kernel over [`LockPolicy`]: endpoints pass messages on to threads in turn, and management
//! looks at everything. Whatever the interleaving, the outcome is that of one CPU doing all of it.

use locks::{Handoff, Holding, Kind, Line, LockPolicy, ObjectLock};
use std::thread::panicking;

/// Endpoints of a toy.
pub const ENDPOINTS: usize = 2;

/// Threads of a toy.
pub const THREADS: usize = 4;

/// A word of an object: several CPUs may touch it at once, and if they do, updates get lost.
pub trait Word: Sync {
    /// A word.
    fn new(value: u64) -> Self;
    /// Reads.
    fn get(&self) -> u64;
    /// Writes.
    fn set(&self, value: u64);
    /// Adds.
    fn add(&self, more: u64) {
        self.set(self.get() + more);
    }
}

/// What a CPU does in one section.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Thread `from` sends one message through `endpoint`.
    Send {
        /// Index of a thread.
        from: usize,
        /// Index of an endpoint.
        endpoint: usize,
    },
    /// Management looks at everything and marks it.
    Manage,
}

/// What can be seen of an object in the end: messages sent or passed on, received, marks.
pub type Shown = (u64, u64, u64);

struct Object<L, W> {
    lock: L,
    /// Whether a CPU is at it.
    busy: W,
    sent: W,
    received: W,
    marks: W,
}

/// A kernel with a few objects; endpoints lie below threads.
pub struct Toy<G: LockPolicy, W> {
    shared: G::Shared,
    objects: Vec<Line<Object<G::Object, W>>>,
}

/// One entry into the kernel.
struct Section<'k, G: LockPolicy> {
    shared: &'k G::Shared,
    local: &'k G::Local,
    kind: Kind,
    held: Held<'k, G>,
}

impl<G: LockPolicy> Drop for Section<'_, G> {
    fn drop(&mut self) {
        // What unwinds has lost its section already.
        if !panicking() {
            self.held.let_go();
            G::end(self.shared, self.local, self.kind);
        }
    }
}

/// What a section of this kernel holds.
type Held<'k, G> = <<G as LockPolicy>::Object as ObjectLock>::Holding<'k>;

/// An object that this CPU is at.
struct Busy<'k, L, W: Word>(&'k Object<L, W>);

impl<'k, L, W: Word> Busy<'k, L, W> {
    fn at(object: &'k Object<L, W>) -> Busy<'k, L, W> {
        assert_eq!(object.busy.get(), 0, "two CPUs are at one object");
        object.busy.set(1);
        Busy(object)
    }
}

impl<L, W: Word> Drop for Busy<'_, L, W> {
    fn drop(&mut self) {
        if !panicking() {
            self.0.busy.set(0);
        }
    }
}

/// Who receives from an endpoint that has passed on so many messages.
fn receiver(endpoint: usize, passed: u64) -> usize {
    ENDPOINTS + (endpoint + passed as usize) % THREADS
}

impl<G: LockPolicy, W: Word> Toy<G, W> {
    /// A kernel that the CPUs `0..cpus` enter.
    pub fn new(cpus: usize) -> Toy<G, W> {
        let word = || W::new(0);
        let objects = (0..ENDPOINTS + THREADS).map(|_| {
            Line::new(Object {
                lock: G::Object::new(),
                busy: word(),
                sent: word(),
                received: word(),
                marks: word(),
            })
        });
        Toy { shared: G::shared(cpus), objects: objects.collect() }
    }

    /// Does one step on a CPU; returns how its section began.
    pub fn step(&self, local: &G::Local, step: Step) -> Handoff {
        let kind = match step {
            Step::Send { .. } => Kind::Reader,
            Step::Manage => Kind::Writer,
        };
        let handoff = G::begin(&self.shared, local, kind);
        let held = Held::<G>::new(kind);
        let section = Section::<G> { shared: &self.shared, local, kind, held };
        match step {
            Step::Send { from, endpoint } => self.send(&section.held, ENDPOINTS + from, endpoint),
            Step::Manage => self.manage(),
        }
        handoff
    }

    fn send<'k>(&'k self, held: &Held<'k, G>, from: usize, endpoint: usize) {
        let passed = &self.objects[endpoint].sent;
        let plan = || receiver(endpoint, passed.get());
        let mut to = plan();
        loop {
            for index in [endpoint, from, to] {
                held.add(&self.objects[index].lock);
            }
            held.take::<G::Relax>();
            let again = plan();
            if again == to {
                break;
            }
            held.let_go();
            to = again;
        }
        let at = Busy::at(&self.objects[endpoint]);
        let sender = Busy::at(&self.objects[from]);
        let other = (to != from).then(|| Busy::at(&self.objects[to]));
        at.0.sent.add(1);
        sender.0.sent.add(1);
        other.as_ref().unwrap_or(&sender).0.received.add(1);
    }

    fn manage(&self) {
        let all: Vec<_> = self.objects.iter().map(|object| Busy::at(object)).collect();
        let (endpoints, threads) = all.split_at(ENDPOINTS);
        let sum = |of: &[Busy<'_, _, W>], what: fn(&Object<G::Object, W>) -> &W| {
            of.iter().map(|busy| what(busy.0).get()).sum::<u64>()
        };
        let passed = sum(endpoints, |object| &object.sent);
        assert_eq!(passed, sum(threads, |object| &object.sent), "a message was lost");
        assert_eq!(passed, sum(threads, |object| &object.received), "a message was lost");
        all.iter().for_each(|busy| busy.0.marks.add(1));
    }

    /// What everything came to.
    pub fn shown(&self) -> Vec<Shown> {
        let all = self.objects.iter();
        all.map(|one| (one.sent.get(), one.received.get(), one.marks.get())).collect()
    }
}

/// What everything must come to: the steps of all CPUs, done one after the other.
pub fn reference<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Vec<Shown> {
    let mut shown = vec![(0, 0, 0); ENDPOINTS + THREADS];
    for step in steps {
        match *step {
            Step::Send { from, endpoint } => {
                let to = receiver(endpoint, shown[endpoint].0);
                shown[endpoint].0 += 1;
                shown[ENDPOINTS + from].0 += 1;
                shown[to].1 += 1;
            }
            Step::Manage => shown.iter_mut().for_each(|object| object.2 += 1),
        }
    }
    shown
}
