//! The rules of messages and of who runs next, as plainly as they can be said: S0-08's table,
//! first come first served endpoints, reply rights and timeouts. No queue of ready threads: where
//! the rules ask for the highest ready thread, any of the highest will do.

use abi::call::Timeout;
use abi::{Error, Info, Status};
use std::collections::{BTreeSet, VecDeque};

/// A thread's number.
pub type Id = usize;

/// Where a thread can wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An endpoint.
    Endpoint(usize),
    /// A notification.
    Notification(usize),
    /// Nowhere: it sleeps.
    Nowhere,
}

/// The send half of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// There is none.
    Nothing,
    /// The thread whose reply right is held.
    Caller,
    /// An endpoint, through a capability with this badge.
    Endpoint(usize, u64),
}

/// The receive half of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// There is none.
    Nothing,
    /// The reply to the call.
    Reply,
    /// Whoever comes there.
    Place(Place),
}

/// Whether a tick's end has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// It has not.
    No,
    /// It is so near that the interrupt of a deadline may have served it.
    Perhaps,
    /// It has.
    Yes,
}

/// How long a half may block.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Kind.
    pub timeout: Timeout,
    /// Deadline of [`Timeout::At`].
    pub until: u64,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Send half.
    pub to: To,
    /// Receive half.
    pub from: From,
    /// Descriptor.
    pub info: Info,
    /// Words.
    pub words: [u64; 4],
    /// Limits of both halves.
    pub limits: [Limit; 2],
}

/// What a thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It can run.
    Ready,
    /// It waits for a receiver.
    Sending(usize),
    /// It waits for a message.
    Receiving(Place),
    /// It waits for a reply.
    Calling,
}

/// What a system call returned: status, badge, descriptor, and words if it is a message.
pub type Outcome = (Status, u64, Info, Option<[u64; 4]>);

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// What it is doing.
    pub doing: Doing,
    /// Somebody has stopped it.
    pub suspended: bool,
    /// Its priority.
    pub priority: i64,
    /// Whose reply right it holds.
    pub caller: Option<Id>,
    /// When it gives up.
    pub until: Option<u64>,
    /// What its last call returned, once it did.
    pub outcome: Option<Outcome>,
    operation: Option<Operation>,
}

/// An endpoint or a notification.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// Threads that wait to send.
    pub senders: VecDeque<Id>,
    /// Threads that wait to receive.
    pub receivers: VecDeque<Id>,
    /// Signals that are not received yet.
    pub bits: u64,
}

/// The thread that is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    This(Id),
    Highest,
}

/// The system.
#[derive(Clone, Debug)]
pub struct Model {
    /// Threads.
    pub threads: Vec<Thread>,
    /// Endpoints.
    pub endpoints: Vec<Queue>,
    /// Notifications.
    pub notifications: Vec<Queue>,
    /// The endpoint to which the notification of this number is attached.
    pub attached: Vec<Option<usize>>,
    /// The time.
    pub now: u64,
    next: Next,
    decide: bool,
    /// A decision is still to be made, behind the next interrupt.
    left: bool,
}

/// How a receive half came out.
enum Received {
    Blocked,
    Done,
    From(Id),
    Chained(Id),
}

impl Model {
    /// Ready threads of these priorities.
    pub fn new(priorities: &[u8], endpoints: usize, attached: Vec<Option<usize>>) -> Model {
        let thread = |priority: &u8| Thread {
            doing: Doing::Ready,
            suspended: false,
            priority: i64::from(*priority),
            caller: None,
            until: None,
            outcome: None,
            operation: None,
        };
        Model {
            threads: priorities.iter().map(thread).collect(),
            endpoints: vec![Queue::default(); endpoints],
            notifications: vec![Queue::default(); attached.len()],
            attached,
            now: 0,
            next: Next::Highest,
            decide: false,
            left: false,
        }
    }

    fn runnable(&self, id: Id) -> bool {
        self.threads[id].doing == Doing::Ready && !self.threads[id].suspended
    }

    /// The highest threads that can run, without `except`.
    fn highest(&self, except: Option<Id>) -> BTreeSet<Id> {
        let ready = |id: &Id| self.runnable(*id) && Some(*id) != except;
        let ids = (0..self.threads.len()).filter(ready);
        let top = ids.clone().map(|id| self.threads[id].priority).max();
        ids.filter(|id| Some(self.threads[*id].priority) == top).collect()
    }

    fn above(&self, id: Id) -> BTreeSet<Id> {
        let mut highest = self.highest(None);
        highest.retain(|other| self.threads[*other].priority > self.threads[id].priority);
        highest
    }

    /// The threads that may run now; empty: none can.
    pub fn candidates(&self) -> BTreeSet<Id> {
        match self.next {
            Next::This(id) if self.runnable(id) => {
                let above = self.above(id);
                if self.decide && !above.is_empty() { above } else { BTreeSet::from([id]) }
            }
            _ => self.highest(None),
        }
    }

    fn begin(&mut self, me: Id) {
        (self.next, self.decide) = (Next::This(me), false);
    }

    fn finish(&mut self, id: Id, status: Status) {
        self.threads[id].outcome = Some((status, 0, Info(0), None));
    }

    fn wake_if_higher(&mut self, id: Id) {
        let Next::This(current) = self.next else { panic!("no candidate") };
        if self.runnable(id) && self.threads[id].priority > self.threads[current].priority {
            self.next = Next::This(id);
        }
    }

    fn wake_at_once(&mut self, id: Id) {
        if self.runnable(id) {
            self.next = Next::This(id);
        }
    }

    /// The current thread blocks, and `to` takes over if it can.
    fn hand_over(&mut self, to: Option<Id>) {
        self.next = match to {
            Some(id) if self.runnable(id) => Next::This(id),
            _ => Next::Highest,
        };
    }

    fn expired(&self, limit: Limit) -> bool {
        match limit.timeout {
            Timeout::Never => false,
            Timeout::Zero => true,
            Timeout::At => limit.until <= self.now,
        }
    }

    fn limit(&mut self, id: Id, limit: Limit) {
        let until = (limit.timeout == Timeout::At).then_some(limit.until);
        self.threads[id].until = until;
    }

    /// Ends whatever a thread is blocked in.
    fn cancel(&mut self, id: Id, error: Error) {
        let status = match self.threads[id].doing {
            Doing::Ready => return,
            Doing::Sending(endpoint) => {
                self.endpoints[endpoint].senders.retain(|other| *other != id);
                Status::failed(error)
            }
            Doing::Receiving(place) => {
                if let Some(queue) = self.queue(place) {
                    queue.receivers.retain(|other| *other != id);
                }
                Status::failed_in_receive(error)
            }
            Doing::Calling => {
                for server in &mut self.threads {
                    server.caller = server.caller.filter(|caller| *caller != id);
                }
                Status::failed_in_receive(error)
            }
        };
        self.threads[id].doing = Doing::Ready;
        self.threads[id].until = None;
        self.finish(id, status);
        self.decide |= !self.threads[id].suspended;
    }

    fn queue(&mut self, place: Place) -> Option<&mut Queue> {
        match place {
            Place::Endpoint(at) => Some(&mut self.endpoints[at]),
            Place::Notification(at) => Some(&mut self.notifications[at]),
            Place::Nowhere => None,
        }
    }

    fn deliver(&mut self, to: Id, badge: u64, info: Info, words: [u64; 4]) {
        let thread = &mut self.threads[to];
        thread.doing = Doing::Ready;
        thread.until = None;
        thread.outcome = Some((Status::OK, badge, info, Some(words)));
    }

    fn give_reply_right(&mut self, caller: Id, server: Id) {
        if let Some(old) = self.threads[server].caller {
            self.cancel(old, Error::Abandoned);
        }
        self.threads[server].caller = Some(caller);
        self.threads[caller].doing = Doing::Calling;
    }

    fn refused(&self, me: Id, operation: &Operation) -> Option<Error> {
        let replies = operation.to == To::Caller && operation.from == From::Nothing;
        if replies && self.threads[me].caller.is_none() {
            return Some(Error::NoReply);
        }
        let To::Endpoint(endpoint, _) = operation.to else { return None };
        if operation.from == From::Place(Place::Endpoint(endpoint)) {
            return Some(Error::SelfSend);
        }
        let no_receiver = self.endpoints[endpoint].receivers.is_empty();
        (no_receiver && self.expired(operation.limits[0])).then_some(Error::Timeout)
    }

    /// `me` executes an operation.
    pub fn operate(&mut self, me: Id, operation: Operation) {
        self.begin(me);
        if let Some(error) = self.refused(me, &operation) {
            return self.finish(me, Status::failed(error));
        }
        self.threads[me].operation = Some(operation);
        let Operation { to, from, info, words, limits } = operation;
        let woken = match to {
            To::Nothing => None,
            To::Caller => {
                // A reply in front of a receive half is dropped if its caller is gone.
                let caller = self.threads[me].caller.take();
                caller.inspect(|caller| self.deliver(*caller, 0, info, words))
            }
            To::Endpoint(endpoint, badge) => {
                let Some(receiver) = self.endpoints[endpoint].receivers.pop_front() else {
                    self.endpoints[endpoint].senders.push_back(me);
                    self.threads[me].doing = Doing::Sending(endpoint);
                    self.limit(me, limits[0]);
                    return self.hand_over(None);
                };
                self.deliver(receiver, badge, info, words);
                if from == From::Reply {
                    return self.await_reply(me, receiver, limits[1]);
                }
                Some(receiver)
            }
        };
        self.receive_half(me, woken, from, limits[1]);
    }

    fn await_reply(&mut self, me: Id, server: Id, limit: Limit) {
        if self.expired(limit) {
            self.finish(me, Status::failed_in_receive(Error::Timeout));
            return self.wake_if_higher(server);
        }
        self.give_reply_right(me, server);
        self.limit(me, limit);
        self.hand_over(Some(server));
    }

    fn receive_half(&mut self, me: Id, woken: Option<Id>, from: From, limit: Limit) {
        let From::Place(place) = from else {
            self.finish(me, Status::OK);
            woken.into_iter().for_each(|woken| self.wake_if_higher(woken));
            return;
        };
        match self.receive(me, place, limit) {
            Received::Blocked => self.hand_over(woken),
            Received::From(sender) => {
                woken.into_iter().for_each(|woken| self.wake_at_once(woken));
                self.wake_if_higher(sender);
            }
            Received::Done => woken.into_iter().for_each(|woken| self.wake_if_higher(woken)),
            Received::Chained(sender) => {
                woken.into_iter().for_each(|woken| self.wake_if_higher(woken));
                self.chain(sender);
            }
        }
    }

    fn receive(&mut self, id: Id, place: Place, limit: Limit) -> Received {
        let notification = match place {
            Place::Endpoint(endpoint) => {
                self.attached.iter().position(|attached| *attached == Some(endpoint))
            }
            Place::Notification(notification) => Some(notification),
            Place::Nowhere => None,
        };
        if let Some(notification) = notification {
            let bits = std::mem::take(&mut self.notifications[notification].bits);
            if bits != 0 {
                let info = Info(Info::NOTIFICATION);
                self.threads[id].outcome = Some((Status::OK, bits, info, None));
                return Received::Done;
            }
        }
        if let Place::Endpoint(endpoint) = place
            && let Some(sender) = self.endpoints[endpoint].senders.pop_front()
        {
            return self.take(id, sender);
        }
        if self.expired(limit) {
            self.finish(id, Status::failed_in_receive(Error::Timeout));
            return Received::Done;
        }
        self.threads[id].doing = Doing::Receiving(place);
        self.limit(id, limit);
        if let Some(queue) = self.queue(place) {
            queue.receivers.push_back(id);
        }
        Received::Blocked
    }

    /// `id` takes the message of a sender that has waited.
    fn take(&mut self, id: Id, sender: Id) -> Received {
        let operation = self.threads[sender].operation.expect("it sends");
        let To::Endpoint(_, badge) = operation.to else { panic!("replies do not wait") };
        self.deliver(id, badge, operation.info, operation.words);
        self.threads[sender].doing = Doing::Ready;
        self.threads[sender].until = None;
        match operation.from {
            From::Nothing => {
                self.finish(sender, Status::OK);
                Received::From(sender)
            }
            From::Reply if self.expired(operation.limits[1]) => {
                self.finish(sender, Status::failed_in_receive(Error::Timeout));
                Received::From(sender)
            }
            From::Reply => {
                self.give_reply_right(sender, id);
                self.limit(sender, operation.limits[1]);
                Received::Done
            }
            From::Place(_) => Received::Chained(sender),
        }
    }

    fn chain(&mut self, first: Id) {
        let mut next = Some(first);
        while let Some(id) = next.take() {
            let operation = self.threads[id].operation.expect("it sends");
            let From::Place(place) = operation.from else { panic!("not a chain") };
            match self.receive(id, place, operation.limits[1]) {
                Received::Blocked => {}
                Received::Done => self.wake_if_higher(id),
                Received::From(sender) => {
                    self.wake_if_higher(id);
                    self.wake_if_higher(sender);
                }
                Received::Chained(sender) => {
                    self.wake_if_higher(id);
                    next = Some(sender);
                }
            }
        }
    }

    /// `me` signals a notification.
    pub fn signal(&mut self, me: Id, notification: usize, bits: u64) {
        self.begin(me);
        self.finish(me, Status::OK);
        let mut receiver = self.notifications[notification].receivers.pop_front();
        if let Some(endpoint) = self.attached[notification]
            && receiver.is_none()
        {
            receiver = self.endpoints[endpoint].receivers.pop_front();
        }
        let Some(receiver) = receiver else {
            self.notifications[notification].bits |= bits;
            return;
        };
        self.threads[receiver].doing = Doing::Ready;
        self.threads[receiver].until = None;
        let info = Info(Info::NOTIFICATION);
        self.threads[receiver].outcome = Some((Status::OK, bits, info, None));
        self.wake_if_higher(receiver);
    }

    /// `me` makes room for its equals. Returns who may run.
    pub fn make_room(&mut self, me: Id) -> BTreeSet<Id> {
        self.begin(me);
        self.finish(me, Status::OK);
        let mut others = self.highest(Some(me));
        others.retain(|other| self.threads[*other].priority >= self.threads[me].priority);
        if others.is_empty() { BTreeSet::from([me]) } else { others }
    }

    /// `me` gives the CPU to another thread.
    pub fn switch_to(&mut self, me: Id, to: Id) {
        self.begin(me);
        if to == me || self.runnable(to) {
            self.finish(me, Status::OK);
            self.wake_at_once(to);
        } else {
            self.finish(me, Status::failed(Error::WrongState));
        }
    }

    /// `me` stops a thread, or lets it go on.
    pub fn suspend(&mut self, me: Id, whom: Id, suspended: bool) {
        self.begin(me);
        self.finish(me, Status::OK);
        self.threads[whom].suspended = suspended;
        self.decide = suspended || self.runnable(whom);
    }

    /// `me` changes a priority.
    pub fn set_priority(&mut self, me: Id, whom: Id, priority: u8) {
        self.begin(me);
        self.finish(me, Status::OK);
        let before = std::mem::replace(&mut self.threads[whom].priority, priority.into());
        self.decide = before != i64::from(priority) && self.runnable(whom);
    }

    /// An interrupt is waiting: whether a decision that the last operation asked for may be left to
    /// it.
    pub fn leaves_decision(&mut self) -> bool {
        self.left = self.decide;
        self.left
    }

    /// The threads whose deadlines have passed, although they wait.
    pub fn due(&self) -> impl Iterator<Item = Id> + '_ {
        let passed = |thread: &Thread| thread.until.is_some_and(|until| until <= self.now);
        (0..self.threads.len()).filter(move |id| passed(&self.threads[*id]))
    }

    /// Time has passed, a tick's end perhaps; the timer has `interrupted` or not. Deadlines of
    /// threads that still wait are deferred. Returns who may run.
    pub fn wait(
        &mut self,
        running: Option<Id>,
        by: u64,
        (tick, interrupted): (Tick, bool),
        waits: impl Fn(Id) -> bool,
    ) -> BTreeSet<Id> {
        self.now += by;
        self.decide = std::mem::take(&mut self.left);
        let served: Vec<Id> = self.due().filter(|id| !waits(*id)).collect();
        for id in served {
            assert!(interrupted, "a deadline is served without an interrupt");
            let higher = |other: Id| self.threads[other].priority > self.threads[id].priority;
            assert!(!running.is_some_and(higher), "a deadline is served that is not urgent");
            self.cancel(id, Error::Timeout);
        }
        let Some(running) = running else { return self.highest(None) };
        let above = self.above(running);
        let outlives = tick == Tick::Yes && !interrupted && !above.is_empty();
        assert!(!outlives, "a donation outlives the tick");
        let mut candidates = BTreeSet::new();
        if !interrupted || (tick != Tick::Yes && !self.decide) {
            // No thread has become ready: a donation goes on until the end of the tick.
            candidates.insert(running);
        }
        if interrupted && (tick != Tick::No || self.decide) {
            if above.is_empty() {
                // Its time slice may be used up.
                candidates.extend(self.highest(None));
                candidates.insert(running);
            } else {
                candidates.extend(above);
            }
        }
        candidates
    }
}
