//! Threads.
//!
//! ```text
//!            send, no receiver                receive, no sender
//!   Sending <--------------------- Ready ------------------------> Receiving
//!      |        (a call goes on to) |  ^ \ call                        |
//!      +--------------------------->+  |  +--------> Calling           |
//!                                      +----------------+<-------------+
//!                                        reply, message, timeout, error
//! ```
//!
//! A ready thread that waits for a mutex or condition is `Waiting` until it owns the mutex.
//!
//! A suspended thread keeps its state and is not run; a blocked one that becomes ready while
//! suspended waits for `resume`.

use super::inherit::{ByVisit, Inherit};
use super::waiter::Waiter;
use super::{Activation, Domain, Endpoint, Notification, Pooled, Train, Weak};
use crate::access::{Link, Look, OfCpu, OfQueue, Peek, Ref, Steady};
use crate::cost::{CostEvent, Queue};
use crate::frames::Fresh;
use crate::leaf::LeafRef;
use crate::list::{Linked, Links};
use crate::object::deadlines;
use crate::port::{CachePadding, Context, Lock, Port};
use crate::tlb::{Shootdown, Ticket};
use abi::call::ThreadState;
use abi::object::Resource;
use abi::{Info, Status};
use cells::{Cell, Shared, Word};
use core::mem::offset_of;
use locks::ObjectLock;
use policies::tree::NodeId;

/// Selects the links of the ready queue.
pub struct Running;
/// Selects the links of the queue of the object that a thread waits for.
pub struct Waiting;
/// Selects the links of the queue of threads that stand by at a leaf.
pub struct StandingBy;
/// Selects the links of the queue of threads that came to a CPU from others.
pub struct RemoteWake;

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It can run, unless suspended.
    Ready,
    /// Blocked in the send half of an operation, in an endpoint's queue of senders.
    Sending,
    /// Blocked in the receive half: in a queue of receivers, or asleep.
    Receiving,
    /// Blocked until its call or fault is answered.
    Calling,
    /// Blocked until it owns a mutex, in the queue of that or of a condition.
    Waiting,
}

impl State {
    /// As programs and the trace see it.
    #[inline(always)]
    pub fn shown(self) -> ThreadState {
        match self {
            State::Ready => ThreadState::Ready,
            State::Sending => ThreadState::Sending,
            State::Receiving => ThreadState::Receiving,
            State::Calling => ThreadState::Calling,
            State::Waiting => ThreadState::Waiting,
        }
    }
}

/// What a thread is doing, as a word that its CPU reads without holding the thread. A thread that
/// becomes ready may run from that instant on, so that is written once, behind all else.
pub struct StateWord(Shared<State>);

impl StateWord {
    fn new(state: State) -> StateWord {
        StateWord(Shared::new(state))
    }

    /// The state.
    #[inline(always)]
    pub fn get(&self) -> State {
        self.0.get()
    }

    /// Blocks the thread, or makes it wait for something else:
    /// `Entry::wait_in` checks by whom.
    #[inline(always)]
    pub fn wait_in(&self, state: State) {
        debug_assert!(state != State::Ready, "a ready thread waits for nothing");
        self.0.set(state);
    }

    /// Ends a wait. Nothing more is written to the thread.
    #[inline(always)]
    pub fn become_ready(&self) {
        debug_assert!(self.get() != State::Ready, "a thread becomes ready twice");
        self.0.set(State::Ready);
    }

    /// Readies a pool slot for the next thread.
    pub fn reset(&self) {
        self.0.set(State::Ready);
    }
}

impl Look for StateWord {
    type Seen = State;
    #[inline(always)]
    fn look(&self) -> State {
        self.get()
    }
}

impl Word for State {
    #[inline(always)]
    fn raw(self) -> u32 {
        self as u32
    }
    #[inline(always)]
    fn of(raw: u32) -> State {
        match raw & 7 {
            0 => State::Ready,
            1 => State::Sending,
            2 => State::Receiving,
            3 => State::Calling,
            _ => State::Waiting,
        }
    }
}

/// Reasons why the fast path must not touch a thread.
pub mod flag {
    /// Its context holds all registers: it was interrupted, or issues its call again.
    pub const FULL: u32 = 1;
    /// It is suspended.
    pub const SUSPENDED: u32 = 2;
    /// It is in the queue of deadlines.
    pub const DEADLINE: u32 = 4;
    /// Its call is a fault: the message is in `fault`, the answer changes no register.
    pub const FAULT: u32 = 8;
    /// It serves an endpoint: those that wait for its answers lend it their priorities.
    pub const SERVES: u32 = 16;
    /// It sends or calls, and lends its priority to servers until that ends.
    pub const LENDS: u32 = 32;
    /// It has stopped at a fault that none handles: to all that wait for it, it has ended.
    pub const ENDED: u32 = 64;
}

/// What a job of a thread begins with, where a tree decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// The thread is ready.
    Awake,
    /// What it first waits for: until then it starts up.
    Started,
    /// The same, but it is ready since that has come: an interrupt went first, and it looks again.
    Again,
}

/// The turn among its equals that a thread had when its urgency was raised for a time: it has that
/// turn again where it comes back to, unless it has ended meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The level of the ready queue, or the leaf, that it belongs to.
    pub level: u32,
    /// Where a tree decides, nanoseconds that are used of its slice, less what the leaf that it is
    /// in had had when it came there, modulo 2^64. Elsewhere the slice goes on: 0, or
    /// [`Turn::OVER`].
    pub used: u64,
}

impl Turn {
    /// The thread has the urgency that is its own.
    pub const NONE: Turn = Turn { level: u32::MAX, used: 0 };
    /// Where it comes back to, its equals go first.
    pub const OVER: u64 = u64::MAX;

    /// Whether it is [`Turn::NONE`].
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.level == Turn::NONE.level
    }
}

/// A thread's place in a heap of senders.
pub struct Node<P: Port> {
    /// First child.
    pub child: Cell<Option<Ref<Thread<P>>>>,
    /// Next sibling.
    pub next: Cell<Option<Ref<Thread<P>>>>,
    /// Previous sibling, or the parent of a first child.
    pub back: Cell<Option<Ref<Thread<P>>>>,
    /// When it joined the heap.
    pub arrival: Cell<u64>,
}

impl<P: Port> Node<P> {
    fn new() -> Node<P> {
        let [child, next, back] = [const { Cell::new(None) }; 3];
        Node { child, next, back, arrival: Cell::new(0) }
    }
}

/// What a thread in state [`State::Sending`] or [`State::Receiving`] waits for. Which it is stands
/// in a word of its own, for a debugger.
#[repr(u64)]
pub enum Wait<P: Port> {
    /// Nothing, or time.
    Nothing,
    /// An endpoint.
    Endpoint(Ref<Endpoint<P>>),
    /// A notification.
    Notification(Ref<Notification<P>>),
    /// A stack of a train.
    Train(Ref<Train<P>>),
}

impl<P: Port> Clone for Wait<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Port> Copy for Wait<P> {}

/// What a blocked sender does once its message is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// It goes on.
    Nothing,
    /// It waits for the reply.
    Reply,
    /// It goes on to the receive half of the operation in its context.
    Receive,
}

/// The message of a blocked sender; its words stay where they are.
#[derive(Clone, Copy)]
pub struct Outgoing {
    /// Descriptor.
    pub info: Info,
    /// Badge of the capability that it was sent through.
    pub badge: u64,
    /// What follows.
    pub then: Continuation,
}

/// What can be reached by a thread's name.
#[repr(C)]
pub struct Header<P: Port> {
    /// Guards it, but for what its CPU alone touches.
    pub lock: Lock<P>,
    /// What it is doing. Its CPU looks at that in look-ups without holding the thread.
    pub state: Peek<StateWord, Thread<P>>,
    /// Bits of [`flag`].
    flags: Peek<Shared<u32>, Thread<P>>,
    /// Effective priority, 0 to 255, which all queues and decisions go by; the idle thread has -1.
    pub priority: Steady<i16>,
    /// The CPU that it belongs to.
    pub cpu: Steady<u32>,
    /// Ticks left of its time slice.
    pub slice: OfCpu<u32>,
    /// The domain that it runs in: its own, or one that it has entered.
    pub domain: Steady<Ref<Domain<P>>>,
    /// The thread whose call it has received and not yet answered: the reply right.
    pub caller: Peek<Link<Thread<P>>, Thread<P>>,
    running: Links<Thread<P>>,
    waiting: Links<Thread<P>>,
    remote_wake: Links<Thread<P>>,
    /// Its place in a heap of senders.
    pub node: OfQueue<Node<P>, Endpoint<P>>,
    /// Its place in the queue of deadlines.
    pub deadline: deadlines::Node<P>,
    /// The frame of its message buffer.
    pub buffer: u64,
    /// Priority that it was given.
    pub base_priority: Steady<i16>,
    /// Priority that it has by itself: the one that it was given, or its ceiling.
    pub own_priority: Steady<i16>,
    /// Its reservation, or none: its priority says when it runs.
    pub reservation: OfCpu<LeafRef>,
    /// The leaf that it is queued in, while it is queued.
    pub leaf: OfCpu<u32>,
    /// The place of the turnstile in its slot among those of a visit.
    of_visit: Links<Thread<P>>,
    /// The leaf that those lend it that wait for what it owns or helps.
    pub lent: OfCpu<LeafRef>,
    /// Its own leaf, or that of its caller, while it is queued in a lent one.
    pub away: OfCpu<LeafRef>,
    standing_by: Links<Thread<P>>,
    /// The leaf that it stands by at, while it does.
    pub beside: OfCpu<u32>,
    /// The number of its place in the leaf that it is queued in, and in the one that it stands by
    /// at: the lower one goes first. Kept while leaves are lent.
    pub places: OfCpu<[i64; 2]>,
    /// The turn that it has again when it falls back.
    pub turn: OfCpu<Turn>,
    /// Where a tree decides: what a job of its begins with.
    pub begins: OfCpu<Begins>,
}

/// A thread. Its context comes first, so that entry code finds both at one address.
#[repr(C)]
pub struct Thread<P: Port> {
    /// Saved registers.
    pub context: P::Context,
    pub(super) header: Header<P>,
    /// The thread that holds the reply right for its own call; `None` while the right is in a slot.
    pub server: Cell<Option<Ref<Thread<P>>>>,
    /// How many of its reply rights were moved to slots; such a right is for one call.
    pub calls: Cell<u64>,
    /// The slot in which it accepts the capability of the message that is being transferred.
    pub accepts: Cell<u32>,
    /// The CPU that it ran on last; another than its own only until it has been left there.
    pub last_cpu: Cell<u32>,
    /// What it waits for, but for a mutex or condition.
    pub wait: Cell<Wait<P>>,
    /// Its message while it is [`State::Sending`], or in a fault.
    pub outgoing: Cell<Outgoing>,
    /// Words of a fault message.
    pub fault: Cell<[u64; 4]>,
    /// Where its faults are reported.
    pub handler: Cell<Option<Weak<Endpoint<P>>>>,
    /// Badge of its fault messages.
    pub handler_badge: Cell<u64>,
    /// Steps that are taken to zero the frame of its buffer, while the thread does not exist.
    pub zeroing: Cell<usize>,
    /// Address of the message buffer in its domain; 0: it has none.
    pub buffer_at: Cell<u64>,
    _padding: CachePadding<P>,
    owner: Cell<Option<Ref<Domain<P>>>>,
    /// Whether other CPUs may still hold its message buffer, when it is destroyed.
    pub shootdown: Shootdown,
    /// How far its system call came: pages whose rights it has changed, or rows and their sum.
    pub protected: Cell<u64>,
    /// The node of the tree that its system call is about to make more urgent.
    pub changes: Cell<Option<NodeId>>,
    /// What its system call waits for, once it has changed all that it changes.
    pub ticket: Cell<Option<Ticket>>,
    /// The name of the last thread here that was given one, and which of all threads here it was.
    /// Nothing need be written when the next one is made.
    pub name: Cell<(u64, [u64; 2])>,
    /// What it waits for as [`State::Waiting`].
    pub futex: Waiter,
    /// Its part in inheriting mutexes.
    pub inherit: Inherit<P>,
    /// What it has entered last, while it is in another domain than its own.
    pub inside: Cell<Option<Ref<Activation<P>>>>,
}

impl<P: Port> Header<P> {
    fn new(domain: Ref<Domain<P>>, buffer: u64) -> Header<P> {
        Header {
            lock: Lock::<P>::new(),
            state: Peek::new(StateWord::new(State::Ready)),
            flags: Peek::new(Shared::new(flag::SUSPENDED)),
            priority: Steady::new(0),
            cpu: Steady::new(0),
            slice: OfCpu::new(0),
            domain: Steady::new(domain),
            caller: Peek::new(Link::new()),
            running: Links::new(),
            waiting: Links::new(),
            remote_wake: Links::new(),
            node: OfQueue::new(Node::new()),
            deadline: deadlines::Node::new(),
            buffer,
            base_priority: Steady::new(0),
            own_priority: Steady::new(0),
            reservation: OfCpu::new(LeafRef::NONE),
            leaf: OfCpu::new(0),
            of_visit: Links::new(),
            lent: OfCpu::new(LeafRef::NONE),
            away: OfCpu::new(LeafRef::NONE),
            standing_by: Links::new(),
            beside: OfCpu::new(0),
            places: OfCpu::new([0; 2]),
            turn: OfCpu::new(Turn::NONE),
            begins: OfCpu::new(Begins::Awake),
        }
    }

    /// Its [`flag`] bits.
    #[inline(always)]
    pub fn flags(&self) -> u32 {
        self.flags.get()
    }

    /// Whether any of these [`flag`] bits is set.
    #[inline(always)]
    pub fn has(&self, bits: u32) -> bool {
        self.flags() & bits != 0
    }

    /// Whether it could run now.
    #[inline(always)]
    pub fn runnable(&self) -> bool {
        self.state.get() == State::Ready && !self.has(flag::SUSPENDED)
    }

    /// Whether it is in the ready queue.
    #[inline(always)]
    pub fn queued(&self) -> bool {
        self.running.linked()
    }

    /// Whether it is ready in a second leaf too.
    #[inline(always)]
    pub fn stands_by(&self) -> bool {
        self.standing_by.linked()
    }

    /// Whether it has come to its CPU from another one and is not queued there yet.
    #[inline(always)]
    pub fn is_woken_remotely(&self) -> bool {
        P::SMP && self.remote_wake.linked()
    }
}

impl<P: Port> Thread<P> {
    /// Where a debugger finds what it is doing.
    pub const STATE: usize = offset_of!(Self, header) + offset_of!(Header<P>, state);
    /// Where it finds its flags.
    pub const FLAGS: usize = offset_of!(Self, header) + offset_of!(Header<P>, flags);
    /// Where it finds the domain that it runs in.
    pub const DOMAIN: usize = offset_of!(Self, header) + offset_of!(Header<P>, domain);
    /// Where it finds the instant of its deadline.
    pub const DEADLINE: usize =
        offset_of!(Self, header) + offset_of!(Header<P>, deadline) + deadlines::Node::<P>::AT;

    /// A thread for a vacant pool slot, with the frame of its message buffer.
    pub fn new(domain: Ref<Domain<P>>, buffer: u64) -> Thread<P> {
        let outgoing = Outgoing { info: Info(0), badge: 0, then: Continuation::Nothing };
        Thread {
            context: P::Context::new(),
            header: Header::new(domain, buffer),
            server: Cell::new(None),
            calls: Cell::new(0),
            accepts: Cell::new(0),
            last_cpu: Cell::new(0),
            wait: Cell::new(Wait::Nothing),
            outgoing: Cell::new(outgoing),
            fault: Cell::new([0; 4]),
            handler: Cell::new(None),
            handler_badge: Cell::new(0),
            zeroing: Cell::new(0),
            buffer_at: Cell::new(0),
            _padding: CachePadding::<P>::default(),
            owner: Cell::new(None),
            shootdown: Shootdown::new(),
            protected: Cell::new(0),
            changes: Cell::new(None),
            ticket: Cell::new(None),
            name: Cell::new((0, [0; 2])),
            futex: Waiter::new(),
            inherit: Inherit::new(),
            inside: Cell::new(None),
        }
    }

    /// Readies a pool slot for the next thread.
    pub fn reset(&self) {
        self.state.open(self).reset();
        self.futex.reset();
    }

    /// Blocks it, or makes it wait for something else:
    /// `Entry::wait_in` checks by which thread.
    #[inline(always)]
    pub fn wait_in(&self, state: State) {
        self.state.open(self).wait_in(state);
    }

    /// Ends its wait. Nothing more is written to it.
    #[inline(always)]
    pub fn become_ready(&self) {
        self.state.open(self).become_ready();
    }

    /// It holds the reply right of this caller, or of none.
    #[inline(always)]
    pub fn set_caller(&self, caller: Option<Ref<Thread<P>>>) {
        self.caller.open(self).set(caller);
    }

    /// Gives it these [`flag`] bits and no others.
    pub fn mark(&self, bits: u32) {
        self.flags.open(self).set(bits);
    }

    /// Sets [`flag`] bits.
    #[inline(always)]
    pub fn set(&self, bits: u32) {
        self.flags.open(self).insert(bits);
    }

    /// Clears [`flag`] bits.
    #[inline(always)]
    pub fn clear(&self, bits: u32) {
        self.flags.open(self).remove(bits);
    }

    /// Makes it issue its system call again when it runs next, with all registers set.
    pub fn issue_again(&self, number: u64, args: [u64; 6]) {
        self.context.restart(number, args);
        self.set(flag::FULL);
    }

    /// The frame of the message buffer of a thread that does not exist yet.
    pub fn fresh_buffer(&self) -> Fresh<'_> {
        Fresh::new(self.buffer, &self.zeroing)
    }

    /// Leaves the status of a system call that brings nothing else.
    #[inline(always)]
    pub fn finish(&self, status: Status) {
        P::cost(CostEvent::Status(status.0));
        self.context.set_results(status, 0, Info(0));
    }
}

/// A step on the ready queue that a thread is in, which is that of its CPU.
#[inline(always)]
fn step_at_home<P: Port>(member: Ref<Thread<P>>, step: CostEvent) {
    match P::SMP {
        true => P::cost_at(member.cpu.get(), step),
        false => P::cost(step),
    }
}

impl<P: Port> Linked<Running> for Thread<P> {
    #[inline(always)]
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.running
    }

    #[inline(always)]
    fn joins(member: Ref<Self>) {
        step_at_home(member, CostEvent::Link(Queue::Ready, member.index()));
    }

    #[inline(always)]
    fn leaves(member: Ref<Self>) {
        step_at_home(member, CostEvent::Unlink(Queue::Ready, member.index()));
    }
}

impl<P: Port> Linked<Waiting> for Thread<P> {
    #[inline(always)]
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.waiting
    }

    #[inline(always)]
    fn joins(member: Ref<Self>) {
        P::cost(CostEvent::Link(Queue::Waiting, member.index()));
    }

    #[inline(always)]
    fn leaves(member: Ref<Self>) {
        P::cost(CostEvent::Unlink(Queue::Waiting, member.index()));
    }
}

impl<P: Port> Linked<StandingBy> for Thread<P> {
    #[inline(always)]
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.standing_by
    }
}

impl<P: Port> Linked<RemoteWake> for Thread<P> {
    #[inline(always)]
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.remote_wake
    }
}

impl<P: Port> Pooled<P> for Thread<P> {
    const RESOURCE: Resource = Resource::Threads;
    fn owner(&self) -> &Cell<Option<Ref<Domain<P>>>> {
        &self.owner
    }
}

impl<P: Port> Linked<ByVisit> for Thread<P> {
    #[inline(always)]
    fn links(header: &Header<P>) -> &Links<Self> {
        &header.of_visit
    }
}
