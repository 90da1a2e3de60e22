//! A tree of classes, servers and tasks on one CPU, or below a class that several share, and
//! whether it fits.
//!
//! A class is given a supply by its parent; its policy is tested on that, and says what supply its
//! children have. So one level after the other is decided, from the root on:
//!
//! | policy | test | supply of a child |
//! |---|---|---|
//! | fixed priorities | response times | its server's, with its own response time |
//! | the same, without a server | none | what the class has, less what is as urgent |
//! | EDF | demand, response times ([`crate::edf`]) | the same |
//! | EDF on several CPUs | density, interference ([`crate::global`]) | the same |
//! | service curves | admission at each bend, delay | final slope after a delay |
//! | windows | they fit into the frame | the windows' exact sbf |

mod advice;
mod direct;
mod interference;
mod report;
mod segments;

pub use advice::{analyse, fits};
pub use interference::{demand, interrupts};
pub use report::{ClassReport, LeafReport, Report, ServerReport};
pub use segments::Segments;

use crate::curve::{Granularity, ServiceCurve};
use crate::overheads::Overheads;
use crate::task::{Stream, Task};
use crate::{Limits, Supply, Time, Window};

/// Levels of classes that are analysed, the root's included.
pub const LEVELS: usize = 32;

/// What runs on one CPU, or on several that share the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// What messages call the root.
    pub name: String,
    /// The root.
    pub class: Class,
    /// What the root has.
    pub supply: Supply,
    /// What comes before everything: interrupts, urgent threads of a background partition.
    pub interference: Vec<Stream>,
    /// What the kernel costs.
    pub overheads: Overheads,
    /// How long the analysis may take.
    pub limits: Limits,
}

impl Tree {
    /// A tree that has a whole CPU, without interference and overheads.
    pub fn new(name: &str, class: Class) -> Tree {
        Tree {
            name: name.to_string(),
            class,
            supply: Supply::whole(),
            interference: Vec::new(),
            overheads: Overheads::default(),
            limits: Limits::default(),
        }
    }
}

/// A class: its policy, with its children and what that policy has to know of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// The highest priority runs.
    FixedPriority(Vec<Entity>),
    /// The earliest deadline runs; a server's is the end of its period.
    Edf(Vec<Entity>),
    /// The earliest deadlines run, on several CPUs. The root alone.
    GlobalEdf {
        /// How many CPUs.
        cpus: u32,
        /// The children with a limit: tasks and servers.
        children: Vec<Entity>,
        /// Tasks without a limit, which run when the others leave time.
        behind: Vec<Task>,
    },
    /// Hierarchical fair service curves. A class of these inside another one is served by the
    /// granularity of the outermost.
    ServiceCurves {
        /// How late the scheduler may be.
        granularity: Granularity,
        /// The children.
        children: Vec<Shared>,
    },
    /// Time partitions, which windows are for a CPU that nobody else has, but for what comes before
    /// everything.
    Windows {
        /// The major frame, in ns.
        frame: Time,
        /// The partitions, whose windows do not overlap.
        partitions: Vec<Partition>,
    },
}

/// A child under fixed priorities or EDF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A leaf.
    Task(Task),
    /// A class with a budget.
    Server(Server),
    /// A class without one; under fixed priorities alone.
    Class(Plain),
    /// A leaf without a limit and without deadlines; under fixed priorities alone.
    Open(Open),
}

/// A class without a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// What messages call it.
    pub name: String,
    /// Greater is more urgent.
    pub priority: u32,
    /// What is inside.
    pub class: Class,
}

/// What has no deadline, and is not decided here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// What messages call it.
    pub name: String,
    /// Greater is more urgent.
    pub priority: u32,
    /// What it can use; `None`: all the time that it gets.
    pub demand: Option<Vec<Stream>>,
}

/// The kinds of server, as the kernel's scheduling tree has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerKind {
    /// Its budget comes at the beginning of each period, and idles away.
    Periodic,
    /// Constant bandwidth; out of budget, it waits for its deadline. Under EDF alone.
    HardCbs,
    /// Constant bandwidth; out of budget, it goes on with a later deadline. Under EDF alone, and
    /// for one task alone.
    SoftCbs,
    /// Each use comes back a period after its activation, in eight parts at most.
    Sporadic,
}

/// A class with a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// What messages call it.
    pub name: String,
    /// Its kind.
    pub kind: ServerKind,
    /// P, in ns.
    pub period: Time,
    /// B, in ns, from 1 to P.
    pub budget: Time,
    /// Greater is more urgent. EDF ignores it.
    pub priority: u32,
    /// What is inside.
    pub class: Class,
}

/// A child under service curves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// What messages call it.
    pub name: String,
    /// What it is guaranteed, if anything is.
    pub curve: Option<ServiceCurve>,
    /// What is inside.
    pub inside: Inside,
    /// How its jobs are served, if not as one piece.
    pub segments: Option<Segments>,
}

/// What a service curve serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// A leaf.
    Task(Task),
    /// A class.
    Class(Class),
    /// A leaf without deadlines.
    Open,
}

/// A time partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// What messages call it.
    pub name: String,
    /// Its windows; of the background partition those in which no other one may run.
    pub windows: Vec<Window>,
    /// Whether it is the background partition (ledger S2D-08), which also runs where it is at least
    /// as urgent as the partition whose window it is.
    pub is_background: bool,
    /// How urgent it is at least and at most.
    pub urgency: (u32, u32),
    /// What is inside.
    pub class: Class,
}

impl Class {
    /// What messages call its policy.
    pub fn policy(&self) -> &'static str {
        match self {
            Class::FixedPriority(_) => "fixed priorities",
            Class::Edf(_) => "EDF",
            Class::GlobalEdf { .. } => "EDF on several CPUs",
            Class::ServiceCurves { .. } => "service curves",
            Class::Windows { .. } => "windows",
        }
    }

    /// Whether there is a deadline in it.
    fn asks(&self) -> bool {
        self.children().into_iter().any(|(_, child)| child.asks())
    }

    /// Changes all tasks in it, at any depth.
    pub fn each_task(&mut self, change: &mut impl FnMut(&mut Task)) {
        match self {
            Class::FixedPriority(entities) | Class::Edf(entities) => {
                entities.iter_mut().for_each(|entity| entity.each_task(change));
            }
            Class::GlobalEdf { children, behind, .. } => {
                children.iter_mut().for_each(|entity| entity.each_task(change));
                behind.iter_mut().for_each(change);
            }
            Class::ServiceCurves { children, .. } => {
                for child in children {
                    match &mut child.inside {
                        Inside::Task(task) => change(task),
                        Inside::Class(class) => class.each_task(change),
                        Inside::Open => {}
                    }
                }
            }
            Class::Windows { partitions, .. } => {
                partitions.iter_mut().for_each(|partition| partition.class.each_task(change));
            }
        }
    }

    /// Changes all classes of service curves in it, at any depth, itself included: one before those
    /// inside.
    pub fn each_of_curves(&mut self, change: &mut impl FnMut(&mut Granularity, &mut [Shared])) {
        match self {
            Class::FixedPriority(entities)
            | Class::Edf(entities)
            | Class::GlobalEdf { children: entities, .. } => {
                for entity in entities {
                    match entity {
                        Entity::Server(server) => server.class.each_of_curves(change),
                        Entity::Class(plain) => plain.class.each_of_curves(change),
                        Entity::Task(_) | Entity::Open(_) => {}
                    }
                }
            }
            Class::ServiceCurves { granularity, children } => {
                change(granularity, children);
                for child in children {
                    if let Inside::Class(class) = &mut child.inside {
                        class.each_of_curves(change);
                    }
                }
            }
            Class::Windows { partitions, .. } => {
                partitions.iter_mut().for_each(|part| part.class.each_of_curves(change));
            }
        }
    }

    /// Its children: a name, and a class or a task.
    pub fn children(&self) -> Vec<(&str, Child<'_>)> {
        match self {
            Class::FixedPriority(entities) | Class::Edf(entities) => {
                entities.iter().map(Entity::child).collect()
            }
            Class::GlobalEdf { children, behind, .. } => {
                let behind = behind.iter().map(|task| (task.name.as_str(), Child::Task(task)));
                children.iter().map(Entity::child).chain(behind).collect()
            }
            Class::ServiceCurves { children, .. } => children.iter().map(Shared::child).collect(),
            Class::Windows { partitions, .. } => partitions.iter().map(Partition::child).collect(),
        }
    }
}

impl Entity {
    /// Greater is more urgent.
    pub fn priority(&self) -> u32 {
        match self {
            Entity::Task(task) => task.priority,
            Entity::Server(server) => server.priority,
            Entity::Class(plain) => plain.priority,
            Entity::Open(open) => open.priority,
        }
    }

    /// What messages call it.
    pub fn name(&self) -> &str {
        self.child().0
    }

    fn each_task(&mut self, change: &mut impl FnMut(&mut Task)) {
        match self {
            Entity::Task(task) => change(task),
            Entity::Server(server) => server.class.each_task(change),
            Entity::Class(plain) => plain.class.each_task(change),
            Entity::Open(_) => {}
        }
    }

    fn child(&self) -> (&str, Child<'_>) {
        match self {
            Entity::Task(task) => (&task.name, Child::Task(task)),
            Entity::Server(server) => (&server.name, Child::Server(server)),
            Entity::Class(plain) => (&plain.name, Child::Class(&plain.class)),
            Entity::Open(open) => (&open.name, Child::Open),
        }
    }
}

impl Shared {
    fn child(&self) -> (&str, Child<'_>) {
        let child = match &self.inside {
            Inside::Task(task) => Child::Task(task),
            Inside::Class(class) => Child::Class(class),
            Inside::Open => Child::Open,
        };
        (&self.name, child)
    }
}

impl Partition {
    fn child(&self) -> (&str, Child<'_>) {
        (&self.name, Child::Class(&self.class))
    }
}

/// A child of any policy.
#[derive(Clone, Copy)]
pub enum Child<'a> {
    /// A leaf.
    Task(&'a Task),
    /// A class with a budget.
    Server(&'a Server),
    /// A class without one.
    Class(&'a Class),
    /// A leaf without deadlines.
    Open,
}

impl<'a> Child<'a> {
    /// Whether there is a deadline in it.
    fn asks(self) -> bool {
        matches!(self, Child::Task(_)) || self.class().is_some_and(Class::asks)
    }

    /// The class inside, if it is no leaf.
    pub fn class(self) -> Option<&'a Class> {
        match self {
            Child::Task(_) | Child::Open => None,
            Child::Server(server) => Some(&server.class),
            Child::Class(class) => Some(class),
        }
    }
}

impl Server {
    /// How often it begins to run on its budget in a period, at most.
    pub fn activations(&self) -> Time {
        if self.kind == ServerKind::Sporadic { 8 } else { 1 }
    }

    /// What it supplies if its budget is delivered within `response` of each period's beginning.
    fn supply(&self, response: Time) -> Result<Supply, crate::AnalysisError> {
        match self.kind {
            ServerKind::Periodic => Supply::periodic_within(self.period, self.budget, response),
            ServerKind::HardCbs => Supply::hard_cbs(self.period, self.budget),
            ServerKind::SoftCbs => Supply::soft_cbs(self.period, self.budget),
            ServerKind::Sporadic => Supply::sporadic(self.period, self.budget),
        }
    }
}
