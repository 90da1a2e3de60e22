//! What is true of a system, by what it means and not by what was read.

use super::plan::{Domain, FRAME, Node, Plan, SHARED};
use std::collections::BTreeSet;

/// A kind of note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    NoReceiver,
    NoSender,
    CallsItself,
    Holds,
    Ring,
    HidesHeartbeat,
    Releases,
    Unused,
    NoWindows,
    FollowsDemand,
    FollowsInside,
    NoExecution,
    Unlimited,
    Machine,
}

impl Kind {
    /// All of them, each with words that no other one has.
    pub const ALL: [(Kind, &str); 14] = [
        (Kind::NoReceiver, "no domain may receive from endpoint"),
        (Kind::NoSender, "no domain may send to endpoint"),
        (Kind::CallsItself, "it alone may receive, with its only thread"),
        (Kind::Holds, "can so hold the callers behind it"),
        (Kind::Ring, "may call each other in a ring"),
        (Kind::HidesHeartbeat, "are not restarted while"),
        (Kind::Releases, "releases a job of"),
        (Kind::Unused, "no domain runs on reservation"),
        (Kind::NoWindows, "has no windows, so nothing in it ever runs"),
        (Kind::FollowsDemand, "follows demand: it counts for others"),
        (Kind::FollowsInside, "follow demand: no job in it has a bound"),
        (Kind::NoExecution, "has no `execution`, and no `budget` below its `period`"),
        (Kind::Unlimited, "is more urgent than what all CPUs share, and nothing limits it"),
        (Kind::Machine, "CPUs; a system of"),
    ];
}

/// A kind and the names in a note, in order of the words.
pub type Stated = (Kind, Vec<String>);

impl Plan {
    /// All that has to be noted, but for rings and for who can hold callers longest.
    pub fn stated(&self) -> BTreeSet<Stated> {
        let mut all = BTreeSet::new();
        (0..self.endpoints.len()).for_each(|at| self.of_endpoint(at, &mut all));
        self.nodes.iter().for_each(|node| self.of_node(node, &mut all));
        self.domains.iter().for_each(|domain| self.of_server(domain, &mut all));
        let hidden = self.hides();
        if let (Some(watched), false) = (self.watched(), hidden.is_empty()) {
            let names = hidden.iter().map(|it| it.name.clone());
            all.insert((Kind::HidesHeartbeat, [watched].into_iter().chain(names).collect()));
        }
        all
    }

    fn of_endpoint(&self, at: usize, all: &mut BTreeSet<Stated>) {
        let having = |which: fn(&(bool, bool)) -> bool| -> Vec<&Domain> {
            self.domains.iter().filter(|it| which(&it.rights[at])).collect()
        };
        let (senders, receivers) = (having(|it| it.0), having(|it| it.1));
        let handles = self.domains.iter().any(|it| it.fault_handler == Some(at));
        let name = format!("e{at}");
        match (&senders[..], &receivers[..]) {
            ([_, ..], []) => {
                let sender = self.ordered().find(|it| it.rights[at].0).expect("there is one");
                all.insert((Kind::NoReceiver, vec![name, sender.name.clone()]));
            }
            ([], [_, ..]) if !handles && !self.endpoints[at] => {
                let receiver = self.ordered().find(|it| it.rights[at].1).expect("there is one");
                all.insert((Kind::NoSender, vec![name, receiver.name.clone()]));
            }
            (_, [one]) if one.rights[at].0 && one.is_single() => {
                all.insert((Kind::CallsItself, vec![one.name.clone(), name]));
            }
            _ => {}
        }
    }

    /// The names of a server on a reservation of its own and of who sends to it, where it has jobs.
    fn of_server(&self, server: &Domain, all: &mut BTreeSet<Stated>) {
        let Some(leaf) = &server.reservation else { return };
        let node = self.node(leaf);
        let has_jobs = node.execution.is_some() || node.deadline && node.is_limited();
        let on_it = self.domains.iter().filter(|it| it.reservation == server.reservation);
        let is_alone = server.is_single() && on_it.count() == 1;
        if !has_jobs || !is_alone || self.around(leaf).any(|node| self.follows(node)) {
            return;
        }
        for at in (0..self.endpoints.len()).filter(|at| server.rights[*at].1) {
            let sends = |it: &&Domain| it.name != server.name && it.rights[at].0;
            let senders: Vec<String> =
                self.ordered().filter(sends).map(|it| it.name.clone()).collect();
            if !senders.is_empty() {
                let names = [format!("e{at}"), server.name.clone(), leaf.clone()];
                all.insert((Kind::Releases, names.into_iter().chain(senders).collect()));
            }
        }
    }

    /// Those that boot, then those that the supervisor makes.
    fn ordered(&self) -> impl Iterator<Item = &Domain> {
        let (booted, made): (Vec<_>, Vec<_>) =
            self.domains.iter().partition(|it| it.restart.is_none());
        booted.into_iter().chain(made)
    }

    fn of_node(&self, node: &Node, all: &mut BTreeSet<Stated>) {
        let mut note = |kind, is_true: bool| {
            if is_true {
                all.insert((kind, vec![node.name.clone()]));
            }
        };
        let uses = |it: &Domain| {
            [&it.reservation, &it.named].into_iter().flatten().any(|name| *name == node.name)
        };
        note(Kind::Unused, node.policy.is_none() && !self.domains.iter().any(uses));
        let is_partition = !node.background && self.above(node) == "partitions";
        note(Kind::NoWindows, is_partition && node.windows.is_empty());
        let is_below = self.around(&node.name).skip(1).any(|class| self.follows(class));
        note(Kind::FollowsDemand, node.adaptive.is_some() && !is_below);
        let inside = self.follows(node) && node.adaptive.is_none();
        note(Kind::FollowsInside, inside && !is_below);
        let is_open = node.deadline && node.execution.is_none() && !node.is_limited();
        note(Kind::NoExecution, is_open && !is_below);
        let urgent = node.class.is_none() && node.priority > Some(self.shared_priority);
        let shares = self.inside(SHARED).next().is_some();
        note(Kind::Unlimited, shares && urgent && self.is_unlimited(node));
    }

    /// The policy of what it is in.
    fn above(&self, node: &Node) -> &'static str {
        match node.class.as_deref() {
            None => "fixed-priority",
            Some(SHARED) => "edf",
            Some(class) => self.node(class).policy.expect("it is a class"),
        }
    }

    /// Whether its time, or of what is in it, follows demand.
    pub fn follows(&self, node: &Node) -> bool {
        let inside = || self.inside(&node.name).any(|child| child.adaptive.is_some());
        node.adaptive.is_some() || node.is("edf") && inside()
    }

    /// Whether all the time can be taken by it.
    fn is_unlimited(&self, node: &Node) -> bool {
        let mut inside = self.inside(&node.name);
        match node.policy {
            _ if node.is_limited() => {
                node.server == Some("constant-soft") && !self.is_one_job(node)
            }
            None => node.execution.is_none(),
            Some("partitions") => inside.any(|it| it.background && self.is_unlimited(it)),
            // A leaf in EDF has jobs, of its whole period at most.
            Some("edf") => {
                self.follows(node)
                    || inside
                        .any(|it| (it.policy.is_some() || it.is_limited()) && self.is_unlimited(it))
            }
            _ => inside.any(|it| self.is_unlimited(it)),
        }
    }

    /// Whether a soft server serves jobs by the deadlines of a class of EDF, with stated lengths.
    fn is_one_job(&self, node: &Node) -> bool {
        let has_jobs = node.policy.is_none() && (node.deadline || node.execution.is_some());
        has_jobs && self.above(node) == "edf" && node.adaptive.is_none()
    }

    /// A program whose heartbeat the supervisor watches: the first that it makes.
    fn watched(&self) -> Option<String> {
        let beats = |it: &&Domain| it.restart == Some(true);
        self.domains.iter().find(beats).map(|it| it.name.clone())
    }

    /// Who can keep the supervisor, on CPU 0, from running for ever.
    fn hides(&self) -> Vec<&Domain> {
        let made = || self.domains.iter().filter(|it| it.restart.is_some());
        let highest = made().map(|it| it.priority).max().unwrap_or(0);
        let own = match made().any(|it| it.reservation.is_some()) {
            true => 511,
            false => self.supervisor.unwrap_or(highest + 1),
        };
        let top = |it: &Domain| it.reservation.as_ref().and_then(|name| self.around(name).last());
        let urgency = |it: &Domain| match top(it) {
            None => it.priority,
            Some(top) => top.priority.unwrap_or(self.shared_priority),
        };
        let is_there = |it: &Domain| match top(it) {
            Some(top) => top.cpu == 0 || top.class.is_some(),
            None => it.cpu == 0 || !it.is_single(),
        };
        let leaves_time = |it: &Domain| {
            let around = it.reservation.iter().flat_map(|name| self.around(name));
            around.into_iter().any(|node| {
                node.is_limited() && node.server != Some("constant-soft")
                    || self.above(node) == "partitions"
                        && !node.background
                        && node.windows.iter().map(|it| it.1).sum::<u64>() < FRAME
            })
        };
        self.ordered().filter(|it| is_there(it) && urgency(it) >= own && !leaves_time(it)).collect()
    }

    /// Which callers can hold others at a server by being out of budget, with the budget and the
    /// period of what is used up, in ms.
    pub fn holders<'a>(
        &'a self,
        server: &Domain,
        endpoint: usize,
    ) -> Vec<(&'a Domain, &'a Node, u64, u64)> {
        let is_caller = |it: &&Domain| it.name != server.name && it.rights[endpoint].0;
        let callers: Vec<&Domain> = self.domains.iter().filter(is_caller).collect();
        if server.reservation.is_some() || !server.rights[endpoint].1 || callers.len() < 2 {
            return Vec::new();
        }
        let lends = |it: &&Domain| {
            let top = it.reservation.as_ref().and_then(|name| self.around(name).last());
            top.is_some_and(|top| {
                top.class.is_none() && (top.cpu == server.cpu || !server.is_single())
            })
        };
        let limits = |it: &'a Domain| -> Vec<(&'a Domain, &'a Node, u64, u64)> {
            let Some(name) = &it.reservation else { return Vec::new() };
            let stops =
                |node: &&Node| node.is_limited() && node.server.is_none() && node.overrun.is_none();
            let least = |node: &Node| node.adaptive.or(node.budget).expect("it has a budget");
            let of = |node: &'a Node| (it, node, least(node), node.period);
            self.around(name).filter(stops).map(of).collect()
        };
        callers.into_iter().filter(lends).flat_map(limits).collect()
    }

    /// Whether a domain may call another one.
    pub fn may_call(&self, from: &Domain, to: &Domain) -> bool {
        let mut both = from.rights.iter().zip(&to.rights);
        from.name != to.name && both.any(|(from, to)| from.0 && to.1)
    }

    /// Whether some domains may call each other in a ring: those that call nobody, or only such as
    /// were taken away, are taken away until none is left.
    pub fn has_ring(&self) -> bool {
        let mut left: Vec<&Domain> = self.domains.iter().collect();
        loop {
            let calls = |it: &&Domain| left.iter().any(|to| self.may_call(it, to));
            let next: Vec<&Domain> = left.iter().copied().filter(calls).collect();
            if next.len() == left.len() {
                return !left.is_empty();
            }
            left = next;
        }
    }

    /// What the jobs of a domain may wait for, and it does not say: endpoints, and whether memory.
    pub fn hidden_waits(&self, domain: &Domain) -> (Vec<String>, bool) {
        let says = |at: &usize| domain.declared.iter().flatten().any(|it| it == at);
        let calls = (0..self.endpoints.len()).filter(|at| domain.rights[*at].0 && !says(at));
        let others = self.domains.iter().filter(|it| it.name != domain.name);
        let shares = domain.writes && others.into_iter().any(|it| it.writes);
        // Supervised programs may ask their supervisor.
        let asks = domain.restart.map(|_| "supervisor".to_string());
        (calls.map(|at| format!("e{at}")).chain(asks).collect(), shares)
    }
}

impl Node {
    /// Whether it has less budget than its period.
    pub fn is_limited(&self) -> bool {
        self.budget.is_some_and(|budget| budget < self.period)
    }
}

impl Domain {
    /// Whether it has one thread, and can make no other.
    pub fn is_single(&self) -> bool {
        self.threads == 1 && self.more_threads == 0
    }
}
