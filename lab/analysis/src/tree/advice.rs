//! A whole tree: each class after its parent, then what would fit instead.

use super::direct::{Direct, Given, Tester};
use super::interference::interrupts;
use super::report::{ClassReport, LeafReport, Report, ServerReport};
use super::{Child, Class, Entity, Inside, LEVELS, Server, ServerKind, Tree};
use crate::budget::{greatest, least};
use crate::verdict::Verdict;
use crate::{AnalysisError, Supply, Time};

/// Decides whether a tree fits, class by class: a verdict and a bound for each task and server, a
/// reason for each class, and what would fit instead. Never fails: what cannot be decided is
/// [`Verdict::Unknown`].
pub fn analyse(tree: &Tree) -> Report {
    let (mut report, seen, mut tester) = decide(tree, true);
    if !seen.is_empty() {
        advise(&mut tester, &seen, &mut report);
    }
    report
}

/// Whether a tree fits: the decision of [`analyse`] without bounds, reasons and advice, which is
/// many times as quick.
pub fn fits(tree: &Tree) -> bool {
    decide(tree, false).0.fits()
}

/// One way through a tree. Nothing is seen of one that is too deep.
fn decide(tree: &Tree, bounds: bool) -> (Report, Vec<Seen<'_>>, Tester) {
    let overheads = tree.overheads;
    let mut interference = tree.interference.clone();
    if depth(&tree.class, LEVELS).is_some() {
        interrupts(&tree.class, &overheads, &mut interference);
    }
    let left = tree.limits.total;
    let mut tester = Tester { overheads, interference, limits: tree.limits, left, bounds };
    let given = Given::of(tree.supply.clone());
    let mut pass = Pass { tester: &mut tester, report: Report::default(), seen: Vec::new() };
    if depth(&tree.class, LEVELS).is_none() {
        let what = "more levels of classes than 32";
        let error = AnalysisError::Unsupported { name: tree.name.clone(), what };
        pass.report.classes.push(class_report(&tree.class, &tree.name, None, Some(&error)));
        let report = pass.report;
        return (report, Vec::new(), tester);
    }
    pass.visit(&tree.class, &tree.name, Ok(&given));
    let Pass { report, seen, .. } = pass;
    (report, seen, tester)
}

/// The levels of a class, if there are no more than `most`.
fn depth(class: &Class, most: usize) -> Option<usize> {
    let most = most.checked_sub(1)?;
    let classes = class.children().into_iter().filter_map(|(_, child)| child.class());
    let below = classes.map(|class| depth(class, most)).collect::<Option<Vec<_>>>()?;
    Some(below.into_iter().max().unwrap_or(0) + 1)
}

fn class_report(
    class: &Class,
    path: &str,
    given: Option<&Given>,
    error: Option<&AnalysisError>,
) -> ClassReport {
    ClassReport {
        path: path.to_string(),
        policy: class.policy(),
        supply: given.map(|given| given.supply.cycle()),
        fits: error.is_none(),
        reason: error.map(AnalysisError::to_string).unwrap_or_default(),
    }
}

/// A class with what it has; the places of its leaves and servers in the report.
struct Seen<'a> {
    class: &'a Class,
    given: Option<Given>,
    path: String,
    places: Vec<usize>,
}

/// One way through a tree.
struct Pass<'t, 'a> {
    tester: &'t mut Tester,
    report: Report,
    seen: Vec<Seen<'a>>,
}

impl<'a> Pass<'_, 'a> {
    /// Decides a class on what it has, or knows whose supply is not sure.
    fn visit(&mut self, class: &'a Class, path: &str, given: Result<&Given, &str>) {
        let children = class.children();
        let direct = match given {
            Ok(given) => self.tester.direct(class, path, given),
            Err(of) => Direct {
                verdicts: vec![Verdict::NoSupply { of: of.to_string() }; children.len()],
                given: vec![None; children.len()],
                reason: Some(format!("`{of}` does not get its share")),
            },
        };
        let mut all = children.iter().zip(&direct.verdicts);
        let fits = all.all(|((_, child), verdict)| verdict.fits() || !child.asks());
        let fits = direct.reason.is_none() && fits || !class.asks();
        let mut report = class_report(class, path, given.ok(), None);
        report.fits = fits;
        report.reason = reason(&direct, &children);
        self.report.classes.push(report);
        let mut seen =
            Seen { class, given: given.ok().cloned(), path: path.to_string(), places: Vec::new() };
        for ((name, child), verdict) in children.iter().zip(&direct.verdicts) {
            let place = self.add(format!("{path}/{name}"), *child, verdict.clone());
            seen.places.push(place);
        }
        self.seen.push(seen);
        for ((name, child), inner) in children.iter().zip(&direct.given) {
            let path = format!("{path}/{name}");
            if let Some(class) = child.class() {
                self.visit(class, &path, inner.as_ref().ok_or(given.err().unwrap_or(&path)));
            }
        }
    }

    fn add(&mut self, path: String, child: Child<'_>, verdict: Verdict) -> usize {
        match child {
            Child::Task(task) => {
                let deadline = task.deadline;
                let leaf = LeafReport { path, deadline, verdict, largest_execution: None };
                self.report.leaves.push(leaf);
                self.report.leaves.len() - 1
            }
            Child::Server(Server { period, budget, .. }) => {
                let (period, budget) = (*period, *budget);
                let (nearest, smallest, smallest_linear) = (None, None, None);
                self.report.servers.push(ServerReport {
                    path,
                    period,
                    budget,
                    verdict,
                    nearest,
                    smallest,
                    smallest_linear,
                });
                self.report.servers.len() - 1
            }
            Child::Class(_) | Child::Open => 0,
        }
    }
}

/// Why a class does or does not fit.
fn reason(direct: &Direct, children: &[(&str, Child<'_>)]) -> String {
    if let Some(reason) = &direct.reason {
        return reason.clone();
    }
    let mut late = children
        .iter()
        .zip(&direct.verdicts)
        .filter(|((_, child), verdict)| child.asks() && !verdict.fits());
    match late.next() {
        Some(((name, _), verdict)) => format!("`{name}` is {verdict}"),
        None => "every child gets what it needs".to_string(),
    }
}

/// Whether a class and all below it fit on a supply.
fn fits_on(tester: &mut Tester, class: &Class, path: &str, supply: Supply) -> bool {
    let mut pass = Pass { tester, report: Report::default(), seen: Vec::new() };
    pass.visit(class, path, Ok(&Given::of(supply)));
    pass.report.fits()
}

/// Looks for budgets and execution times that fit.
fn advise(tester: &mut Tester, seen: &[Seen<'_>], report: &mut Report) {
    for Seen { class, given, path, places } in seen {
        for (index, ((name, child), place)) in class.children().into_iter().zip(places).enumerate()
        {
            let path = format!("{path}/{name}");
            match (child, given) {
                (Child::Server(server), _) => {
                    let entry = &mut report.servers[*place];
                    let has_line =
                        !matches!(server.kind, ServerKind::SoftCbs | ServerKind::Sporadic);
                    let line = |server: &Server| Supply::linear(server.period, server.budget);
                    if server.class.asks() {
                        entry.nearest = given.as_ref().and_then(|given| {
                            Search { tester, class, given, index, path: &path }.nearest(server)
                        });
                        entry.smallest =
                            smallest(tester, server, &path, |server| server.supply(server.period));
                        entry.smallest_linear =
                            has_line.then(|| smallest(tester, server, &path, line)).flatten();
                    }
                }
                (Child::Task(task), Some(given)) if !report.leaves[*place].verdict.fits() => {
                    report.leaves[*place].largest_execution =
                        greatest(1, task.execution.saturating_sub(1), |execution| {
                            let class = with_execution(class, index, execution);
                            let direct = tester.direct(&class, &path, given);
                            direct.verdicts[index].fits()
                        });
                }
                _ => {}
            }
        }
    }
}

/// How many budgets up to the period are tried.
const TRIALS: Time = 64;

/// Looks for another budget of a server among its siblings.
struct Search<'t> {
    tester: &'t mut Tester,
    class: &'t Class,
    given: &'t Given,
    index: usize,
    path: &'t str,
}

impl Search<'_> {
    /// The smallest budget with which everything in the server fits, and all of its siblings that
    /// fit already; if its own does not do, the nearest one above it that was found, or below.
    fn nearest(&mut self, server: &Server) -> Option<Time> {
        let direct = self.tester.direct(self.class, self.path, self.given);
        let before: Vec<bool> = direct.verdicts.iter().map(Verdict::fits).collect();
        let (own, period) = (server.budget, server.period);
        if self.is_enough(server, own, &before) {
            return least(1, own, |budget| self.is_enough(server, budget, &before));
        }
        if own > period {
            return None;
        }
        let step = (period / TRIALS).max(1);
        let mut below = own;
        while below < period {
            let trial = below.saturating_add(step).min(period);
            if self.is_enough(server, trial, &before) {
                return least(below + 1, trial, |budget| self.is_enough(server, budget, &before));
            }
            below = trial;
        }
        // It may be what its siblings leave no room for.
        let mut above = own;
        while above > 1 {
            let trial = above.saturating_sub(step).max(1);
            if self.is_enough(server, trial, &before) {
                return greatest(trial, above - 1, |budget| {
                    self.is_enough(server, budget, &before)
                });
            }
            above = trial;
        }
        None
    }

    fn is_enough(&mut self, server: &Server, budget: Time, before: &[bool]) -> bool {
        let mut class = self.class.clone();
        if let Class::FixedPriority(entities)
        | Class::Edf(entities)
        | Class::GlobalEdf { children: entities, .. } = &mut class
            && let Some(Entity::Server(trial)) = entities.get_mut(self.index)
        {
            trial.budget = budget;
        }
        let direct = self.tester.direct(&class, self.path, self.given);
        let mut siblings = direct.verdicts.iter().zip(before).enumerate();
        let keeps =
            siblings.all(|(place, (now, before))| place == self.index || now.fits() || !before);
        match direct.given.get(self.index) {
            Some(Some(given)) if keeps && direct.reason.is_none() => {
                let mut pass =
                    Pass { tester: self.tester, report: Report::default(), seen: Vec::new() };
                pass.visit(&server.class, self.path, Ok(given));
                pass.report.fits()
            }
            _ => false,
        }
    }
}

/// The smallest budget with which everything in a server fits.
fn smallest(
    tester: &mut Tester,
    server: &Server,
    path: &str,
    supply: impl Fn(&Server) -> Result<Supply, AnalysisError>,
) -> Option<Time> {
    let mut trial = server.clone();
    least(1, server.period, |budget| {
        trial.budget = budget;
        supply(&trial).is_ok_and(|supply| fits_on(tester, &trial.class, path, supply))
    })
}

/// The same class, one of whose tasks executes for another time.
fn with_execution(class: &Class, index: usize, execution: Time) -> Class {
    let mut class = class.clone();
    match &mut class {
        Class::FixedPriority(entities)
        | Class::Edf(entities)
        | Class::GlobalEdf { children: entities, .. } => {
            if let Some(Entity::Task(task)) = entities.get_mut(index) {
                task.execution = execution;
            }
        }
        Class::ServiceCurves { children, .. } => {
            if let Some(Inside::Task(task)) = children.get_mut(index).map(|child| &mut child.inside)
            {
                task.execution = execution;
            }
        }
        Class::Windows { .. } => {}
    }
    class
}
