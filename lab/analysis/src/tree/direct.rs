//! One class on its supply: the verdict on each of its children, and what each then has.

use super::{Class, Entity, Inside, Partition, Server, ServerKind, Shared};
use crate::curve::{Granularity, ServiceCurve};
use crate::overheads::Overheads;
use crate::supply::SECOND;
use crate::task::{Reservation, Stream, Task, Work, Workload};
use crate::verdict::Verdict;
use crate::{AnalysisError, Limits, Steps, Supply, Time, Window, edf, fixed_priority};

/// What a class has.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub supply: Supply,
    /// Where service curves serve it: its curve, and what delays all of them.
    pub curve: Option<Curved>,
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
}

type Found<T> = Result<T, AnalysisError>;

impl Tester {
    /// Does a test with the steps that it may take.
    fn test<T>(&mut self, test: impl FnOnce(&mut Steps) -> T) -> T {
        let mut steps = Steps::within(self.limits.test, self.left);
        let done = test(&mut steps);
        self.left -= steps.taken();
        done
    }

    /// Tests one class.
    pub fn direct(&mut self, class: &Class, path: &str, given: &Given) -> Direct {
        let tested = match class {
            Class::FixedPriority(entities) => self.fixed_priority(entities, path, given),
            Class::Edf(entities) => self.edf(entities, path, given),
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

    /// Entities as tasks and reservations, with overheads; the place of each among them.
    fn workload(&self, entities: &[Entity]) -> Found<(Workload, Vec<Option<usize>>)> {
        let mut workload =
            Workload { interference: self.interference.clone(), ..Workload::default() };
        let mut places = Vec::new();
        for entity in entities {
            let reserved = match entity {
                Entity::Task(task) => {
                    workload.tasks.push(self.overheads.inflate(task));
                    false
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
                    is_cbs
                }
            };
            places.push((!reserved).then(|| workload.tasks.len() - 1));
        }
        workload.check()?;
        Ok((workload, places))
    }

    fn fixed_priority(&mut self, entities: &[Entity], path: &str, given: &Given) -> Found<Direct> {
        let (workload, _) = self.workload(entities)?;
        if !workload.reservations.is_empty() {
            let what = "a constant-bandwidth server under fixed priorities: put it into a class \
                        of EDF, or take a sporadic one";
            return Err(AnalysisError::Unsupported { name: path.to_string(), what });
        }
        let verdict = |index: usize| {
            let found =
                self.test(|steps| fixed_priority::response(&workload, index, &given.supply, steps));
            Verdict::of(found, workload.tasks[index].deadline)
        };
        let verdicts = (0..entities.len()).map(verdict).collect();
        Ok(Direct { given: supplies(entities, &verdicts), verdicts, reason: None })
    }

    fn edf(&mut self, entities: &[Entity], path: &str, given: &Given) -> Found<Direct> {
        let (workload, places) = self.workload(entities)?;
        let demand = self.test(|steps| edf::demand_test(&workload, &given.supply, steps));
        let verdict = |(entity, place): (&Entity, &Option<usize>)| match (entity, place, &demand) {
            (_, Some(place), _) => {
                self.test(|steps| edf::verdict(&workload, *place, &given.supply, &demand, steps))
            }
            (Entity::Server(server), None, Ok(None)) => {
                Verdict::Fits { bound: server.period, slack: 0 }
            }
            (_, None, Err(error)) => Verdict::Unknown(error.clone()),
            (_, None, _) => Verdict::NoSupply { of: path.to_string() },
        };
        let verdicts = entities.iter().zip(&places).map(verdict).collect();
        let reason = match demand {
            Ok(excess) => excess.map(|excess| excess.to_string()),
            Err(error) => Some(error.to_string()),
        };
        Ok(Direct { given: supplies(entities, &verdicts), verdicts, reason })
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
        let streams = || self.interference.iter();
        let left = rate.saturating_sub(streams().map(taken).sum());
        let late = given.supply.delay().saturating_mul(rate) / Work::from(SECOND) + 1;
        let late = streams().map(burst).fold(late, Work::saturating_add);
        let nothing = AnalysisError::Unsupported {
            name: path.to_string(),
            what: "service curves where interference leaves no time",
        };
        let delay = late.saturating_mul(SECOND.into()).checked_div(left).ok_or(nothing)?;
        let is_exact = given.supply.is_whole() && self.interference.is_empty();
        let delay = if is_exact { 0 } else { delay.saturating_add(1) };
        let delay = Time::try_from(delay).map_err(|_| AnalysisError::Horizon)?;
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
        let curves: Vec<ServiceCurve> = children.iter().map(|child| child.curve).collect();
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
        match &child.inside {
            Inside::Task(task) => {
                let inflated = self.overheads.inflate(task);
                let found =
                    self.test(|steps| child.curve.response(&inflated, granularity, delay, steps));
                (Verdict::of(found, task.deadline), None)
            }
            Inside::Class(_) => match child.curve.supply(granularity, delay) {
                Ok(supply) => {
                    let curve = Some(Curved { curve: child.curve, ..parent.clone() });
                    (Verdict::Fits { bound: 0, slack: 0 }, Some(Given { supply, curve }))
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
        let (mut verdicts, mut within) = (Vec::new(), Vec::new());
        for Partition { name, windows, .. } in partitions {
            let shorter = windows.iter().filter_map(|window| self.overheads.shorten(window));
            let supply = Supply::windows(frame, &shorter.collect::<Vec<_>>());
            match supply.map_err(|error| named(error, name)) {
                Ok(supply) => {
                    verdicts.push(Verdict::Fits { bound: 0, slack: 0 });
                    within.push(Some(Given { supply, curve: None }));
                }
                Err(error) => {
                    verdicts.push(Verdict::Unknown(error));
                    within.push(None);
                }
            }
        }
        Ok(Direct { verdicts, given: within, reason: None })
    }
}

/// What servers supply that get their budgets.
fn supplies(entities: &[Entity], verdicts: &Vec<Verdict>) -> Vec<Option<Given>> {
    let supply = |(entity, verdict): (&Entity, &Verdict)| match (entity, verdict) {
        (Entity::Server(server), Verdict::Fits { bound, .. }) => {
            let response = (*bound).clamp(server.budget, server.period);
            server.supply(response).ok().map(|supply| Given { supply, curve: None })
        }
        _ => None,
    };
    entities.iter().zip(verdicts).map(supply).collect()
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

/// The timer interrupts of everything below a class.
pub(super) fn interrupts(class: &Class, overheads: &Overheads, into: &mut Vec<Stream>) {
    for (_, child) in class.children() {
        match child {
            super::Child::Task(task) => {
                into.extend(overheads.interrupts(1, task.period, task.jitter));
            }
            super::Child::Server(server) => {
                into.extend(server_interrupts(server, overheads));
            }
            super::Child::Class(_) => {}
        }
        if let Some(class) = child.class() {
            interrupts(class, overheads, into);
        }
    }
}

/// A soft server's budget can end as often as it is used up, whatever its period.
fn server_interrupts(server: &Server, overheads: &Overheads) -> Option<Stream> {
    let period = match server.kind {
        ServerKind::SoftCbs => server.budget.min(server.period),
        _ => server.period,
    };
    overheads.interrupts(2 * server.activations(), period, 0)
}
