//! Reservations: making, changing, moving and ending them, and who runs on them.

use super::capabilities::slot;
use super::{Done, Manager};
use crate::access::{Life, Ref};
use crate::leaf::LeafRef;
use crate::object::capability::{Cap, Capability};
use crate::object::thread::Turn;
use crate::object::{Domain, Notification, Pooled, Reservation, Thread, Weak};
use crate::port::{Context, Port};
use crate::tree::{ANY, Home};
use abi::call::{Call, Setting};
use abi::object::Resource;
use abi::reservation::{Budget, LEAST_BUDGET, Policy, Share, Timing, UNSERVED, Window, Words};
use abi::trace::Event;
use abi::{Error, Kind, Rights};
use policies::tree::{Fallback, Frame, NodeId, NodeState, Tree, TreeError};

impl<P: Port> Manager<'_, P> {
    /// Does something with the tree.
    fn tree<R>(&self, work: impl FnOnce(&mut Tree<'static>) -> R) -> Result<R, Error> {
        self.kernel.trees.with(work).ok_or(Error::UnknownCall)
    }

    /// A call that kernels without a tree do not know.
    #[inline(always)]
    pub(super) fn call_of_reservations(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        call: Call,
        args: &[u64; 6],
    ) -> Result<Done, Error> {
        if !self.kernel.trees.exist() {
            return Err(Error::UnknownCall);
        }
        let done = match call {
            Call::ReservationCreate => self.create_reservation(me, own, args),
            Call::ReservationSet => self.set_reservation(me, own, args),
            Call::ReservationJoin => self.join_reservation(me, own, args),
            Call::Reserve => self.reserve(own, args),
            Call::ReservationInspect => self.inspect_reservation(own, args[0], args[1]),
            // Messages are not for here.
            _ => Err(Error::UnknownCall),
        };
        if !matches!(done, Ok(Done::Preempted)) {
            self.end_change(me);
        }
        done
    }

    fn node(&self, at: Ref<Reservation<P>>) -> NodeId {
        NodeId(self.all.open(at).node.get())
    }

    /// The reservation in a slot. Who changes one may use the CPUs that it is of: each change can
    /// let them decide anew.
    #[inline(never)]
    fn reservation(
        &self,
        own: Ref<Domain<P>>,
        word: u64,
        rights: Rights,
    ) -> Result<Ref<Reservation<P>>, Error> {
        let domain = self.all.open(own);
        let at = domain.named::<Reservation<P>>(slot(word)?, rights)?.at;
        if rights != Rights::NONE {
            self.check_home(self.kernel.trees.leaf(self.node(at).0).home(), domain.cpus.get())?;
        }
        Ok(at)
    }

    fn words(&self, me: Ref<Thread<P>>) -> Words {
        self.all.open(me).context.words()
    }

    fn create_reservation(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        args: &[u64; 6],
    ) -> Result<Done, Error> {
        let class = self.reservation(own, args[1], Rights::DIVIDE)?;
        let to = slot(args[0])?;
        self.room(own, &self.kernel.reservations, to)?;
        let policy = match args[2] {
            0 => None,
            code => Some(Policy::from_code(code).ok_or(Error::InvalidArgument)?),
        };
        let share = Share::decode(args[3], self.words(me)).ok_or(Error::InvalidArgument)?;
        if self.makes_room() {
            return Ok(Done::Preempted);
        }
        let at = self.add_reservation(Some(own), class, policy, share)?;
        let capability = Capability::Reservation(Cap::new(at, Rights::ALL, 0));
        self.all.open(own).put_slowly(&self.all, to, capability);
        Ok(Done::Nothing)
    }

    /// Adds a reservation to a class, where the pool has room. An error changes nothing.
    pub(crate) fn add_reservation(
        &self,
        owner: Option<Ref<Domain<P>>>,
        class: Ref<Reservation<P>>,
        policy: Option<Policy>,
        share: Share,
    ) -> Result<Ref<Reservation<P>>, Error> {
        let above = self.node(class);
        let node = self.tree(|tree| tree.create(above, policy, share))?.map_err(refused)?;
        let at = self.kernel.reservations.take(&self.all, owner);
        self.kernel.trees.begin(node, above);
        let reservation = self.all.open(at);
        reservation.node.set(node.0);
        reservation.class.set(Some(class));
        self.all.open(class).inner.push_back(at);
        Ok(at)
    }

    fn set_reservation(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        args: &[u64; 6],
    ) -> Result<Done, Error> {
        let at = self.reservation(own, args[0], Rights::CONTROL)?;
        let words = self.words(me);
        if args[1] == Setting::Monitor as u64 {
            return self.set_monitor(me, own, at, args[2], [words[0], words[1]]);
        }
        let orders = args[1] == Setting::Share as u64;
        if self.makes_room() || (orders && !self.follows_before()) {
            return Ok(Done::Preempted);
        }
        let class = self.all.open(at).class.get();
        if let (true, Some(class)) = (orders, class) {
            let share = Share::decode(args[2], words).ok_or(Error::InvalidArgument)?;
            if !self.wakes_by(me, self.node(at), self.urgency_in(self.node(class), share)) {
                return Ok(Done::Preempted);
            }
        }
        self.change_reservation(at, args[1], args[2], words).map(|()| Done::Nothing)
    }

    /// Whether no thread is to follow a change of waits any more.
    fn follows_before(&self) -> bool {
        !P::FUTEXES || self.follow_rest()
    }

    /// Only bits that the caller may signal itself are signalled.
    fn set_monitor(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        at: Ref<Reservation<P>>,
        word: u64,
        bits: [u64; 2],
    ) -> Result<Done, Error> {
        let monitor = match word {
            0 => None,
            word => {
                let cap = self.all.open(own).named::<Notification<P>>(slot(word)?, Rights::SEND)?;
                if (bits[0] | bits[1]) & !cap.badge.max(1) != 0 {
                    return Err(Error::InvalidArgument);
                }
                Some(Weak::new(cap.at))
            }
        };
        let node = self.node(at);
        let by = self.kernel.trees.leaf_by_itself(&self.all, me);
        let is_leaf = self.tree(|tree| tree.policy(node))?.is_none();
        let is_told_of_misses = is_leaf && monitor.is_some() && bits[0] > 0;
        let level = self.tree(|tree| tree.level_of_watch(node, by))?;
        let in_time = || !is_told_of_misses || self.wakes_by(me, node, ANY.min(level as i16));
        if self.makes_room() || !in_time() {
            return Ok(Done::Preempted);
        }
        self.monitor_reservation(at, monitor, bits, level).map(|()| Done::Nothing)
    }

    /// Changes a [`Setting`] of a reservation. An error changes nothing.
    pub(crate) fn change_reservation(
        &self,
        at: Ref<Reservation<P>>,
        setting: u64,
        code: u64,
        words: Words,
    ) -> Result<(), Error> {
        let (node, now) = (self.node(at), self.kernel.port.now());
        let changed = match setting {
            s if s == Setting::Share as u64 => {
                let share = Share::decode(code, words).ok_or(Error::InvalidArgument)?;
                self.check_partition(node, share)?;
                self.tree(|tree| tree.set_share(node, share, now))
            }
            s if s == Setting::Budget as u64 => {
                let budget = Budget::decode(words)?;
                if budget.is_some_and(|limit| limit.budget < LEAST_BUDGET) {
                    return Err(Error::BudgetTooSmall);
                }
                self.tree(|tree| tree.set_budget(node, budget, now))
            }
            s if s == Setting::Timing as u64 => {
                self.tree(|tree| tree.set_timing(node, Timing::decode(words), now))
            }
            s if s == Setting::Frame as u64 => {
                self.tree(|tree| tree.set_frame(node, Frame::from(words[0]), now))
            }
            s if s == Setting::Window as u64 => {
                let partition = u16::try_from(words[1]).map_err(|_| Error::InvalidArgument)?;
                let window = Window { end: words[0], partition };
                self.tree(|tree| tree.add_window(node, window, now))
            }
            s if s == Setting::Background as u64 => {
                let [overrun, miss] = [flag(words[0])?, flag(words[1])?];
                self.tree(|tree| tree.set_background(node, Fallback { overrun, miss }, now))
            }
            _ => return Err(Error::InvalidArgument),
        };
        changed?.map_err(refused)?;
        self.decide_for(node);
        Ok(())
    }

    /// Windows are the class's, and so is who goes before whom in them: a partition itself can only
    /// become less urgent. Joining its class anew takes the right to divide that.
    fn check_partition(&self, node: NodeId, new: Share) -> Result<(), Error> {
        let old = self.tree(|tree| tree.inspect(node))?.map(|state| state.share);
        match (old, new) {
            (
                Some(Share::Partition { number, priority }),
                Share::Partition { number: wanted, priority: urgency },
            ) if number != wanted || urgency > priority => Err(Error::MissingRight),
            _ => Ok(()),
        }
    }

    /// A notification is signalled with these bits when a job misses its deadline, which is told
    /// while nothing above this level runs, or the budget is used up.
    pub(crate) fn monitor_reservation(
        &self,
        at: Ref<Reservation<P>>,
        monitor: Option<Weak<Notification<P>>>,
        bits: [u64; 2],
        level: u16,
    ) -> Result<(), Error> {
        let (node, now) = (self.node(at), self.kernel.port.now());
        self.kernel.trees.watch(node, monitor, bits, (level, now)).map_err(refused)?;
        self.decide_for(node);
        Ok(())
    }

    /// The CPU of a node decides anew, if it may choose that one before what it runs: a change
    /// of a node below does not interrupt.
    fn decide_for(&self, node: NodeId) {
        if self.kernel.trees.preempts(node.0) {
            let home = self.kernel.trees.leaf(node.0).home().and_then(Home::cpu);
            self.cpu.ask_for_decision(home.map_or(self.cpu, |cpu| self.kernel.cpu(cpu)));
        }
    }

    fn join_reservation(
        &self,
        me: Ref<Thread<P>>,
        own: Ref<Domain<P>>,
        args: &[u64; 6],
    ) -> Result<Done, Error> {
        let at = self.reservation(own, args[0], Rights::CONTROL)?;
        let class = self.reservation(own, args[1], Rights::DIVIDE)?;
        let share = Share::decode(args[2], self.words(me)).ok_or(Error::InvalidArgument)?;
        if self.makes_room() || !self.follows_before() {
            return Ok(Done::Preempted);
        }
        let (node, above) = (self.node(at), self.node(class));
        if !self.wakes_by(me, node, self.urgency_in(above, share)) {
            return Ok(Done::Preempted);
        }
        let now = self.kernel.port.now();
        self.tree(|tree| tree.join(node, above, share, now))?.map_err(refused)?;
        self.leave_class(at);
        self.all.open(at).class.set(Some(class));
        self.all.open(class).inner.push_back(at);
        self.decide_for(node);
        Ok(Done::Nothing)
    }

    fn leave_class(&self, at: Ref<Reservation<P>>) {
        if let Some(class) = self.all.open(at).class.take() {
            self.all.open(class).inner.remove(at);
        }
    }

    fn reserve(&self, own: Ref<Domain<P>>, args: &[u64; 6]) -> Result<Done, Error> {
        let reservation = match args[1] {
            0 => None,
            word => Some(self.reservation(own, word, Rights::RESERVE)?),
        };
        let to = slot(args[0])?;
        if self.all.open(own).slot(to)?.kind() == Some(Kind::Domain) {
            let domain = self.domain_or_own(own, args[0])?;
            self.reserve_for_domain(domain, reservation)?;
            return Ok(Done::Nothing);
        }
        let thread = self.thread(own, to)?;
        if self.makes_room() {
            return Ok(Done::Preempted);
        }
        self.reserve_for_thread(thread, reservation)?;
        Ok(Done::Nothing)
    }

    /// The threads of a domain that has none yet will run on a leaf, or on that of its owner.
    pub(crate) fn reserve_for_domain(
        &self,
        at: Ref<Domain<P>>,
        reservation: Option<Ref<Reservation<P>>>,
    ) -> Result<(), Error> {
        let domain = self.all.open(at);
        if domain.threads.get() > 0 || domain.quotas.used(Resource::Domains) > 0 {
            return Err(Error::WrongState);
        }
        let leaf = match reservation {
            Some(reservation) => self.leaf_named(reservation)?,
            None => self.inherited(domain),
        };
        self.check_cpus(leaf, domain.cpus.get())?;
        domain.reservation.set(leaf);
        let index = reservation.map_or(0, Ref::index);
        self.cpu.note_of(at.index() as u16, Event::Reserve, index, 1);
        Ok(())
    }

    /// Threads that may use these CPUs alone can run on a leaf, if it is there: else they would run
    /// beside it, without its limit.
    pub(super) fn check_cpus(&self, leaf: LeafRef, cpus: u64) -> Result<(), Error> {
        self.check_home(self.kernel.trees.home_of(leaf), cpus)
    }

    /// These CPUs are all that something needs.
    fn check_home(&self, home: Option<Home>, cpus: u64) -> Result<(), Error> {
        let needed = match home {
            Some(Home::Cpu(cpu)) => 1 << cpu,
            Some(Home::Any) => self.all_cpus(),
            None => 0,
        };
        if needed & !cpus == 0 { Ok(()) } else { Err(Error::CpuNotAllowed) }
    }

    /// What the threads of a domain's owner run on.
    pub(super) fn inherited(&self, domain: &Domain<P>) -> LeafRef {
        domain.owner().get().map_or(LeafRef::NONE, |owner| self.all.open(owner).reservation.get())
    }

    /// A thread runs on a leaf, or on that of its domain.
    pub(crate) fn reserve_for_thread(
        &self,
        at: Ref<Thread<P>>,
        reservation: Option<Ref<Reservation<P>>>,
    ) -> Result<(), Error> {
        let domain = self.all.open(self.home_of(at));
        let leaf = match reservation {
            Some(reservation) => self.leaf_named(reservation)?,
            None => domain.reservation.get(),
        };
        self.check_cpus(leaf, domain.cpus.get())?;
        let home = self.kernel.trees.home_of(leaf);
        if home.is_some_and(|home| !home.is_of(at.cpu.get())) {
            return Err(Error::CpuNotAllowed);
        }
        self.all.open(at).reservation.set(&self.all, leaf);
        self.cpu.note(Event::Reserve, at, reservation.map_or(0, Ref::index), 0);
        self.caller_changed(at);
        // Among what is there it has no turn yet.
        at.turn.set(&self.all, Turn::NONE);
        Ok(())
    }

    /// The name of a leaf. A class is none.
    fn leaf_named(&self, at: Ref<Reservation<P>>) -> Result<LeafRef, Error> {
        let node = self.node(at);
        match self.tree(|tree| tree.policy(node))? {
            None => Ok(self.kernel.trees.name(node)),
            Some(_) => Err(Error::WrongState),
        }
    }

    fn inspect_reservation(&self, own: Ref<Domain<P>>, slot: u64, of: u64) -> Result<Done, Error> {
        let node = self.node(self.reservation(own, slot, Rights::NONE)?);
        if of == UNSERVED {
            let unserved = self.tree(|tree| tree.unserved(node))?.ok_or(Error::WrongState)?;
            return Ok(Done::Values(unserved, 0));
        }
        if flag(of)? {
            let now = self.kernel.port.now();
            let job = self.tree(|tree| tree.job(node, now))?.ok_or(Error::WrongState)?;
            return Ok(Done::Words(job.number, job.is_over.into(), [job.response, job.late, 0, 0]));
        }
        let state = self.tree(|tree| tree.inspect(node))?.ok_or(Error::WrongState)?;
        let jobs = state.jobs;
        let words = [jobs.ended, jobs.missed, jobs.worst, jobs.latest];
        let events = u64::from(state.overruns) | u64::from(node.0) << 32;
        Ok(Done::Words(state.service, events, words))
    }

    /// A reservation's state in the tree; none for a pool slot without one.
    fn state_of_reservation(&self, index: u32) -> Result<Option<(u32, NodeState)>, Error> {
        let at = self.kernel.reservations.get(index).filter(|_| self.kernel.trees.exist());
        let at = at.ok_or(Error::InvalidArgument)?;
        if at.life() == Life::Vacant {
            return Ok(None);
        }
        let NodeId(node) = self.node(at);
        let state = self.tree(|tree| tree.inspect(NodeId(node)))?;
        Ok(state.map(|state| (node, state)))
    }

    pub(super) fn reservation_row(&self, index: u32) -> Result<Done, Error> {
        let Some((node, state)) = self.state_of_reservation(index)? else {
            return Ok(Done::Values(0, 0));
        };
        let policy = state.policy.map_or(0, |policy| policy as u64);
        let [server, budget, period, _] = Budget::encode(state.budget);
        let what = 1 | policy << 8 | u64::from(state.is_throttled) << 16 | server << 24;
        let class = state.parent.map_or(u32::MAX, |NodeId(class)| class);
        let late = state.jobs.missed.min(u32::MAX.into());
        let events = u64::from(state.overruns) | late << 32;
        let words = [state.service, events, budget, period];
        Ok(Done::Words(what, u64::from(node) | u64::from(class) << 32, words))
    }

    pub(super) fn share_row(&self, index: u32) -> Result<Done, Error> {
        let Some((_, state)) = self.state_of_reservation(index)? else {
            return Ok(Done::Values(0, 0));
        };
        let (code, words) = state.share.encode();
        Ok(Done::Words(code, state.jobs.ended, words))
    }

    /// Destroys a reservation with all that are in it. Threads that run on them have the lowest
    /// priority then.
    pub(super) fn destroy_reservation(&self, root: Ref<Reservation<P>>) -> bool {
        loop {
            let at = self.innermost_reservation(root);
            if !self.end_leaf(at) {
                return false;
            }
            let (node, now) = (self.node(at), self.kernel.port.now());
            let removed = self.tree(|tree| tree.remove_node(node, now));
            debug_assert!(matches!(removed, Ok(Ok(()))), "a reservation that is no node");
            self.leave_class(at);
            self.kernel.reservations.release(&self.all, at);
            if at == root {
                return true;
            }
            if self.preempted() {
                return false;
            }
        }
    }

    /// A reservation in `root` that has none in itself: at most a few levels down.
    fn innermost_reservation(&self, root: Ref<Reservation<P>>) -> Ref<Reservation<P>> {
        let mut at = root;
        while let Some(inner) = self.all.open(at).inner.head() {
            self.begin_destroy_slowly(inner);
            at = inner;
        }
        at
    }

    /// The name of a node is void, and the threads in it leave. False: an interrupt is pending.
    fn end_leaf(&self, at: Ref<Reservation<P>>) -> bool {
        let node = self.node(at);
        self.decide_for(node);
        self.kernel.trees.end(node);
        let place = self.kernel.trees.leaf(node.0);
        while let Some(thread) = self.kernel.trees.first_in(&self.all, place) {
            self.requeue(thread);
            if self.preempted() {
                return false;
            }
        }
        true
    }

    fn requeue(&self, thread: Ref<Thread<P>>) {
        (self.kernel.variant.events.caller_changed)(self.cpu, self.cpu_of(thread), thread);
    }
}

/// A word that is 0 or 1.
fn flag(word: u64) -> Result<bool, Error> {
    if word <= 1 { Ok(word == 1) } else { Err(Error::InvalidArgument) }
}

/// Why the tree refuses, as programs are told.
fn refused(error: TreeError) -> Error {
    match error {
        TreeError::Full => Error::PoolExhausted,
        TreeError::TooDeep => Error::TooDeep,
        TreeError::OtherCpu => Error::CpuNotAllowed,
        TreeError::Overcommitted | TreeError::TooManyBends => Error::Overcommitted,
        TreeError::WrongShare | TreeError::InvalidParameter | TreeError::PartitionTaken => {
            Error::InvalidArgument
        }
        TreeError::Cycle => Error::Cycle,
        TreeError::NoSuchNode | TreeError::HasChildren | TreeError::Busy => Error::WrongState,
    }
}
