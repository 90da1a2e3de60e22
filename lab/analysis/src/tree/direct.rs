//! One class on its supply: the verdict on each of its children, and what each then has.

use super::interference::{demand, of_entity};
use super::{Class, Entity, Inside, Partition, ServerKind, Shared};
use crate::curve::{Granularity, ServiceCurve};
use crate::global::{Sufficient, density, interference};
use crate::overheads::Overheads;
use crate::supply::SECOND;
use crate::task::{Reservation, Stream, Task, Work, Workload, total};
use crate::verdict::{Excess, Verdict};
use crate::{AnalysisError, Limits, Steps, Supply, Time, Window, edf, fixed_priority};

/// What a class has.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub supply: Supply,
    /// Where service curves serve it: its curve, and what delays all of them.
    pub curve: Option<Curved>,
    /// What comes before everything in it, beside the interrupts.
    pub interference: Vec<Stream>,
}

impl Given {
    /// A supply that is its own.
    pub fn of(supply: Supply) -> Given {
        Given { supply, curve: None, interference: Vec::new() }
    }
}

/// A class under service curves.
#[derive(Clone, Debug)]
pub(super) struct Curved {
    curve: ServiceCurve,
    granularity: Granularity,
    delay: Time,
}

/// What is known of one class.
pub(super) struct Direct {
    /// On each child, in their order.
    pub verdicts: Vec<Verdict>,
    /// What each child that is a class has; nothing if it cannot be sure of it.
    pub given: Vec<Option<Given>>,
    /// Why the class does not fit, beside its children's verdicts.
    pub reason: Option<String>,
}

/// What is the same for the whole tree, and the steps that are left.
pub(super) struct Tester {
    pub overheads: Overheads,
    pub interference: Vec<Stream>,
    pub limits: Limits,
    pub left: u64,
    /// Whether bounds are wanted, beside the decision.
    pub bounds: bool,
}

type Found<T> = Result<T, AnalysisError>;

impl Tester {
    /// Does a test with the steps that it may take.
    fn test<T>(&mut self, test: impl FnOnce(&mut Steps) -> T) -> T {
        self.test_within(self.limits.test, test)
    }

    /// The same with so many steps at most.
    fn test_within<T>(&mut self, most: u64, test: impl FnOnce(&mut Steps) -> T) -> T {
        let mut steps = Steps::within(most, self.left);
        let done = test(&mut steps);
        self.left -= steps.taken();
        done
    }

    /// Tests one class.
    pub fn direct(&mut self, class: &Class, path: &str, given: &Given) -> Direct {
        let tested = match class {
            Class::FixedPriority(entities) => self.fixed_priority(entities, path, given),
            Class::Edf(entities) => self.edf(entities, path, given),
            Class::GlobalEdf { cpus, children, behind } => {
                self.global_edf(*cpus, children, behind.len(), given)
            }
            Class::ServiceCurves { granularity, children } => {
                self.service_curves(*granularity, children, path, given)
            }
            Class::Windows { frame, partitions } => self.windows(*frame, partitions, path, given),
        };
        tested.unwrap_or_else(|error| {
            let children = class.children().len();
            Direct {
                verdicts: vec![Verdict::Unknown(error.clone()); children],
                given: vec![None; children],
                reason: Some(error.to_string()),
            }
        })
    }

    /// All that comes before what is in a class.
    fn before(&self, given: &Given) -> Vec<Stream> {
        [&self.interference[..], &given.interference].concat()
    }

    /// How late the kernel sees a release at most: behind those of all others, and behind what it
    /// is at. A job's deadline counts from there.
    fn lateness(&self) -> Time {
        let own = self.overheads.per_interrupt();
        let all = self.interference.iter().map(|stream| stream.work(1));
        let all = total(all).saturating_add(own.into());
        if own == 0 { 0 } else { Time::try_from(all).unwrap_or(Time::MAX) }
    }

    /// Entities as tasks and reservations, with overheads; the place of each among the tasks.
    fn workload(
        &self,
        entities: &[Entity],
        given: &Given,
    ) -> Found<(Workload, Vec<Option<usize>>)> {
        let mut workload = Workload { interference: self.before(given), ..Workload::default() };
        let mut places = Vec::new();
        for entity in entities {
            let is_task = match entity {
                Entity::Task(task) => {
                    workload.tasks.push(self.overheads.inflate(task));
                    true
                }
                Entity::Server(server) => {
                    // Refuses what cannot be a server.
                    server.supply(server.period).map_err(|error| named(error, &server.name))?;
                    let each = self.overheads.per_job().saturating_mul(server.activations());
                    let budget = server.budget.saturating_add(each);
                    let task = Task::new(&server.name, budget, server.period);
                    let is_cbs = matches!(server.kind, ServerKind::HardCbs | ServerKind::SoftCbs);
                    match is_cbs {
                        true => {
                            let period = server.period;
                            workload.reservations.push(Reservation { budget, period });
                        }
                        false => workload.tasks.push(task.priority(server.priority)),
                    }
                    !is_cbs
                }
                Entity::Class(_) | Entity::Open(_) => false,
            };
            places.push(is_task.then(|| workload.tasks.len() - 1));
        }
        workload.check()?;
        Ok((workload, places))
    }

    /// What comes before entity `index` beside the tasks and servers: everything in classes that
    /// are as urgent. An error names what may take all the time.
    fn urgent_classes(&self, entities: &[Entity], index: usize) -> Result<Vec<Stream>, String> {
        let mut all = Vec::new();
        for (place, entity) in entities.iter().enumerate() {
            let is_class = matches!(entity, Entity::Class(_) | Entity::Open(_));
            if place == index || !is_class || entity.priority() < entities[index].priority() {
                continue;
            }
            let demand = of_entity(entity, &self.overheads);
            all.extend(demand.ok_or_else(|| entity.child().0.to_string())?);
        }
        Ok(all)
    }

    fn fixed_priority(&mut self, entities: &[Entity], path: &str, given: &Given) -> Found<Direct> {
        let (mut workload, places) = self.workload(entities, given)?;
        if !workload.reservations.is_empty() {
            let what = "a constant-bandwidth server under fixed priorities: put it into a class \
                        of EDF, or take a sporadic one";
            return Err(AnalysisError::Unsupported { name: path.to_string(), what });
        }
        let before = workload.interference.clone();
        let (mut verdicts, mut within) = (Vec::new(), Vec::new());
        for (index, (entity, place)) in entities.iter().zip(&places).enumerate() {
            let urgent = match (entity, self.urgent_classes(entities, index)) {
                (Entity::Open(_), _) => {
                    verdicts.push(Verdict::NotAsked);
                    within.push(None);
                    continue;
                }
                (_, Err(by)) => {
                    verdicts.push(Verdict::Unlimited { by });
                    within.push(None);
                    continue;
                }
                (_, Ok(urgent)) => urgent,
            };
            let Some(place) = *place else {
                let interference = [given.interference.clone(), urgent];
                let tasks = entities.iter().filter(|other| {
                    let is_task = matches!(other, Entity::Task(_) | Entity::Server(_));
                    is_task && other.priority() >= entity.priority()
                });
                let tasks = tasks.filter_map(|task| of_entity(task, &self.overheads)).flatten();
                let interference = interference.concat().into_iter().chain(tasks).collect();
                verdicts.push(Verdict::NotAsked);
                within.push(Some(Given {
                    supply: given.supply.clone(),
                    curve: None,
                    interference,
                }));
                continue;
            };
            workload.interference = [before.clone(), urgent].concat();
            let found =
                self.test(|steps| fixed_priority::response(&workload, place, &given.supply, steps));
            let verdict = Verdict::of(found, workload.tasks[place].deadline);
            within.push(supply(entity, &verdict));
            verdicts.push(verdict);
        }
        Ok(Direct { given: within, verdicts, reason: None })
    }

    fn edf(&mut self, entities: &[Entity], path: &str, given: &Given) -> Found<Direct> {
        let (workload, places) = self.workload(entities, given)?;
        let workload = Workload { blur: self.lateness(), ..workload };
        if entities.iter().any(|entity| matches!(entity, Entity::Class(_) | Entity::Open(_))) {
            let what = "what has no deadline under EDF";
            return Err(AnalysisError::Unsupported { name: path.to_string(), what });
        }
        let all = workload.seen_by(None);
        // What shares decide needs no steps: then these look for bounds below the deadlines only.
        let most = match edf::fits_by_shares(&all, &given.supply) {
            true => self.limits.test / entities.len().max(1) as u64,
            false => self.limits.test,
        };
        let all = self.test(|steps| edf::demand_test(&all, &given.supply, steps));
        if !self.bounds && entities.iter().all(is_decided_by_demand) {
            return Ok(by_demand(entities, &all));
        }
        let mut test = |index: usize| {
            let seen = workload.seen_by(Some(index));
            // One task that takes less than it may only leaves more to all.
            let demand = match &all {
                Ok(None) => Ok(None),
                _ => self.test(|steps| edf::demand_test(&seen, &given.supply, steps)),
            };
            self.test_within(most, |steps| {
                edf::verdict(&seen, index, &given.supply, &demand, steps)
            })
        };
        let mut verdict = |(entity, place): (&Entity, &Option<usize>)| match (entity, place, &all) {
            (_, Some(place), _) => test(*place),
            (Entity::Server(server), None, Ok(None)) => {
                Verdict::Fits { bound: server.period, slack: 0 }
            }
            (_, None, Err(error)) => Verdict::Unknown(error.clone()),
            (_, None, Ok(Some(excess))) => Verdict::Exceeded(*excess),
            (_, None, Ok(None)) => Verdict::NotAsked,
        };
        let verdicts: Vec<Verdict> = entities.iter().zip(&places).map(&mut verdict).collect();
        let given = entities.iter().zip(&verdicts).map(|(entity, verdict)| supply(entity, verdict));
        Ok(Direct { given: given.collect(), verdicts, reason: None })
    }

    /// What all CPUs share. Others have to reckon with what the kernel lets each use.
    fn global_edf(
        &mut self,
        cpus: u32,
        children: &[Entity],
        behind: usize,
        given: &Given,
    ) -> Found<Direct> {
        let task = |entity: &Entity| match entity {
            Entity::Task(task) => Ok(self.overheads.inflate(task).at_its_limit()),
            Entity::Server(server) => {
                server.supply(server.period).map_err(|error| named(error, &server.name))?;
                let each = self.overheads.per_job().saturating_mul(server.activations());
                Ok(Task::new(&server.name, server.budget.saturating_add(each), server.period))
            }
            Entity::Class(_) | Entity::Open(_) => Err(AnalysisError::Unsupported {
                name: entity.child().0.to_string(),
                what: "what has no limit among what all CPUs share",
            }),
        };
        let tasks = children.iter().map(task).collect::<Found<Vec<Task>>>()?;
        let before = self.before(given);
        let shown = match before.is_empty() {
            true => density(&tasks, cpus)?,
            false => Sufficient::NotShown,
        };
        // The bounds of this one are the better ones.
        let closer = self.test(|steps| interference(&tasks, &before, cpus, steps));
        let bounds = match (closer, shown) {
            (Ok(Sufficient::Fits(bounds)), _) | (_, Sufficient::Fits(bounds)) => Some(bounds),
            (Ok(Sufficient::NotShown), _) => None,
            (Err(error), _) => return Err(error),
        };
        let verdict = |(index, task): (usize, &Task)| match &bounds {
            Some(bounds) => {
                let bound = bounds[index];
                Verdict::Fits { bound, slack: task.deadline - bound }
            }
            None => Verdict::Unknown(AnalysisError::NotShown),
        };
        let mut verdicts: Vec<Verdict> = tasks.iter().enumerate().map(verdict).collect();
        let inside =
            children.iter().zip(&verdicts).map(|(entity, verdict)| supply(entity, verdict));
        let inside = inside.chain(std::iter::repeat_n(None, behind)).collect();
        verdicts.extend(std::iter::repeat_n(Verdict::NoGuarantee, behind));
        Ok(Direct { verdicts, given: inside, reason: None })
    }

    /// The curve that a class can share out, and what delays all who are served by it.
    fn curved(&self, granularity: Granularity, path: &str, given: &Given) -> Found<Curved> {
        if let Some(curved) = &given.curve {
            return Ok(curved.clone());
        }
        // A line below the supply, less interference: of a line as steep, later by its bursts.
        let (period, budget) = given.supply.cycle();
        let per_second =
            |cost: Time, period: Time| Work::from(cost) * Work::from(SECOND) / Work::from(period);
        let rate = per_second(budget, period);
        let taken = |stream: &Stream| per_second(stream.cost, stream.period) + 1;
        let burst = |stream: &Stream| {
            let jobs = Work::from(stream.jitter.div_ceil(stream.period)) + 1;
            jobs.saturating_mul(stream.cost.into())
        };
        let before = self.before(given);
        let streams = || before.iter();
        let left = rate.saturating_sub(streams().map(taken).sum());
        let late = given.supply.delay().saturating_mul(rate) / Work::from(SECOND) + 1;
        let late = streams().map(burst).fold(late, Work::saturating_add);
        let nothing = AnalysisError::Unsupported {
            name: path.to_string(),
            what: "service curves where interference leaves no time",
        };
        let delay = late.saturating_mul(SECOND.into()).checked_div(left).ok_or(nothing)?;
        let is_exact = given.supply.is_whole() && before.is_empty();
        let delay = if is_exact { 0 } else { delay.saturating_add(1) };
        let delay = Time::try_from(delay).map_err(|_| AnalysisError::Horizon)?;
        // What goes first takes as much of the class's own time.
        let longest = Work::from(granularity.non_preemptive) * Work::from(SECOND);
        let longest = Time::try_from(longest.div_ceil(left.max(1)));
        let non_preemptive = longest.map_err(|_| AnalysisError::Horizon)?;
        let granularity = Granularity { non_preemptive, ..granularity };
        Ok(Curved { curve: ServiceCurve::rate(left as Time)?, granularity, delay })
    }

    fn service_curves(
        &mut self,
        granularity: Granularity,
        children: &[Shared],
        path: &str,
        given: &Given,
    ) -> Found<Direct> {
        if given.supply.is_for_one_task() {
            let what = "several tasks in a soft constant-bandwidth server";
            return Err(AnalysisError::Unsupported { name: path.to_string(), what });
        }
        self.interference.iter().try_for_each(|stream| stream.check("interference"))?;
        let parent = self.curved(granularity, path, given)?;
        let curves: Vec<ServiceCurve> = children.iter().filter_map(|child| child.curve).collect();
        let excess = parent.curve.admit(&curves);
        let (mut verdicts, mut within) = (Vec::new(), Vec::new());
        for child in children {
            let (verdict, given) = match excess {
                Some(_) => (Verdict::NoSupply { of: path.to_string() }, None),
                None => self.served(child, &parent),
            };
            verdicts.push(verdict);
            within.push(given);
        }
        let words = |excess| format!("the children's curves exceed what the class has: {excess}");
        Ok(Direct { verdicts, given: within, reason: excess.map(words) })
    }

    /// One child of a class whose curves are admitted.
    fn served(&mut self, child: &Shared, parent: &Curved) -> (Verdict, Option<Given>) {
        let Curved { granularity, delay, .. } = *parent;
        let Some(curve) = child.curve else { return (Verdict::NoGuarantee, None) };
        match &child.inside {
            Inside::Open => (Verdict::NotAsked, None),
            Inside::Task(task) => {
                let inflated = self.overheads.inflate(task);
                let found = match &child.segments {
                    None => self.test(|steps| curve.response(&inflated, granularity, delay, steps)),
                    Some(segments) => segments.response(curve, &inflated, granularity, delay),
                };
                (Verdict::of(found, task.deadline), None)
            }
            Inside::Class(_) => match curve.supply(granularity, delay) {
                Ok(supply) => {
                    let curve = Some(Curved { curve, ..parent.clone() });
                    (Verdict::NotAsked, Some(Given { curve, ..Given::of(supply) }))
                }
                Err(error) => (Verdict::Unknown(error), None),
            },
        }
    }

    fn windows(
        &mut self,
        frame: Time,
        partitions: &[Partition],
        path: &str,
        given: &Given,
    ) -> Found<Direct> {
        if !given.supply.is_whole() {
            let what = "windows where the CPU is not whole: they are instants of a clock";
            return Err(AnalysisError::Unsupported { name: path.to_string(), what });
        }
        let all: Vec<Window> = partitions.iter().flat_map(|part| part.windows.clone()).collect();
        Supply::windows(frame, &all).map_err(|error| named(error, path))?;
        let background = partitions.iter().find(|partition| partition.is_background);
        let (mut verdicts, mut within) = (Vec::new(), Vec::new());
        for partition in partitions {
            let found = self.partition(frame, partition, background, given);
            let (verdict, given) = match found {
                Ok(given) => (Verdict::NotAsked, Some(given)),
                Err(verdict) => (verdict, None),
            };
            verdicts.push(verdict);
            within.push(given);
        }
        Ok(Direct { verdicts, given: within, reason: None })
    }

    /// What a partition has, or why nothing is sure.
    fn partition(
        &self,
        frame: Time,
        partition: &Partition,
        background: Option<&Partition>,
        given: &Given,
    ) -> Result<Given, Verdict> {
        let windows = partition.windows.iter();
        let shorter: Vec<Window> =
            windows.filter_map(|window| self.overheads.shorten(window)).collect();
        if shorter.is_empty() {
            return Err(Verdict::NoGuarantee);
        }
        let mut interference = given.interference.clone();
        let urgent =
            |other: &&Partition| !partition.is_background && other.urgency.1 >= partition.urgency.0;
        if let Some(other) = background.filter(urgent) {
            let by = || Verdict::Unlimited { by: other.name.clone() };
            interference.extend(demand(&other.class, &self.overheads).ok_or_else(by)?);
        }
        let supply = Supply::windows(frame, &shorter);
        let supply = supply.map_err(|error| Verdict::Unknown(named(error, &partition.name)))?;
        Ok(Given { interference, ..Given::of(supply) })
    }
}

/// Whether the demand test alone decides on a child of EDF, and on what it supplies: others see its
/// jobs as they are, or it is a constant-bandwidth server.
fn is_decided_by_demand(entity: &Entity) -> bool {
    match entity {
        Entity::Task(task) => task.limit <= task.execution,
        Entity::Server(server) => matches!(server.kind, ServerKind::HardCbs | ServerKind::SoftCbs),
        Entity::Class(_) | Entity::Open(_) => false,
    }
}

/// What the demand test says of all children.
fn by_demand(entities: &[Entity], demand: &Found<Option<Excess>>) -> Direct {
    let verdict = |entity: &Entity| match (demand, entity) {
        (Ok(None), Entity::Task(task)) => Verdict::Fits { bound: task.deadline, slack: 0 },
        (Ok(None), Entity::Server(server)) => Verdict::Fits { bound: server.period, slack: 0 },
        (Ok(None), _) => Verdict::NotAsked,
        (Ok(Some(excess)), _) => Verdict::Exceeded(*excess),
        (Err(error), _) => Verdict::Unknown(error.clone()),
    };
    let verdicts: Vec<Verdict> = entities.iter().map(verdict).collect();
    let given = entities.iter().zip(&verdicts).map(|(entity, verdict)| supply(entity, verdict));
    Direct { given: given.collect(), verdicts, reason: None }
}

/// What a server supplies that gets its budget.
fn supply(entity: &Entity, verdict: &Verdict) -> Option<Given> {
    let (Entity::Server(server), Verdict::Fits { bound, .. }) = (entity, verdict) else {
        return None;
    };
    let response = (*bound).clamp(server.budget, server.period);
    server.supply(response).ok().map(Given::of)
}

/// An error on a parameter, with the name of what has it.
fn named(error: AnalysisError, name: &str) -> AnalysisError {
    match error {
        AnalysisError::Parameter { field, must, value, .. } => {
            AnalysisError::Parameter { name: name.to_string(), field, must, value }
        }
        other => other,
    }
}
