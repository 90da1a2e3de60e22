use super::kept::Kept;
use super::plan::Plan;
use super::shards::{self, Done};
use super::{ACCEPTED, MET, PESSIMISM};
use crate::experiment::measured::fact;
use crate::experiment::{Computing, Measured};
use crate::failure::{interrupted, on_interrupt};
use crate::machine::Interrupts;
use acceptance::{Arranged, Counter, Counts, Point, Policy, Tally};
use anyhow::Result;
use results::{Case, Curves, Limit, Points, Source};
use std::collections::BTreeMap;

/// Counter-examples that a report spells.
const SPELT: usize = 20;

pub fn measure(setup: &Computing, kernel: &str) -> Result<Measured> {
    let plan = Plan::of(&setup.asked)?;
    let threads = std::thread::available_parallelism()?.get();
    let kept = Kept::of(&plan)?;
    let before = on_interrupt(Some("interrupted; the same command goes on from here".to_string()));
    let interrupts = Interrupts::watch();
    let stop = |_| interrupts.any();
    let done = shards::run(&plan, kept, threads, Arranged::is_accepted, stop)?;
    let Some(done) = done else { interrupted() };
    on_interrupt(before);
    setup.note()?;
    let mut measured = report(&done.tallies, kernel);
    measured.facts.extend(speed(&done, threads));
    Ok(measured)
}

/// How fast the sets were run, and how fast they would be on CPUs that do nothing else.
fn speed(done: &Done, threads: usize) -> Vec<results::Fact> {
    let rate = |seconds: f64| (done.fresh as f64 / seconds.max(1e-3)) as u64;
    let note = format!("{} sets under all policies, on {threads} threads", done.fresh);
    let mut facts = vec![fact("sets in a second", rate(done.taken.as_secs_f64()), "", note)];
    if let Some(cpu_time) = done.cpu_time {
        let note = "by the CPU time of all threads";
        facts.push(fact("sets in a second of a CPU", rate(cpu_time.as_secs_f64()), "", note));
    }
    facts.retain(|_| done.fresh > 0);
    facts
}

/// What a report has of the shards of a run.
pub fn report(tallies: &[Tally], kernel: &str) -> Measured {
    let mut measured = Measured { unit: Some("% of sets".to_string()), ..Measured::default() };
    let mut totals: BTreeMap<(Policy, Point), Counts> = BTreeMap::new();
    for tally in tallies {
        for (policy, counts) in &tally.counts {
            let case = case(*policy, tally.point);
            let percent = |part: u64| (100 * part + counts.sets / 2) / counts.sets.max(1);
            for (metric, part) in
                [(ACCEPTED, counts.accepted), (MET, counts.met), (PESSIMISM, counts.pessimistic)]
            {
                measured.samples.join(kernel, metric, &case, vec![percent(part)]);
            }
            let total = totals.entry((*policy, tally.point)).or_default();
            *total = sum(*total, *counts);
        }
    }
    measured.facts = facts(tallies, &totals);
    measured.limits = limits(&totals);
    measured.notes = counters(tallies);
    measured.curves = curves(&totals);
    measured
}

/// The case of a row.
pub fn case(policy: Policy, Point { cpus, tasks, utilisation }: Point) -> String {
    format!("policy={} cpus={cpus} tasks={tasks} utilisation={utilisation}", policy.name())
}

fn sum(a: Counts, b: Counts) -> Counts {
    Counts {
        sets: a.sets + b.sets,
        accepted: a.accepted + b.accepted,
        met: a.met + b.met,
        pessimistic: a.pessimistic + b.pessimistic,
        refuted: a.refuted + b.refuted,
    }
}

type Totals = BTreeMap<(Policy, Point), Counts>;

fn facts(tallies: &[Tally], totals: &Totals) -> Vec<results::Fact> {
    let judged = totals.values().map(|counts| counts.sets).sum();
    let mut facts = vec![
        fact("sets", tallies.iter().map(shards::sets).sum(), "", "drawn"),
        fact("verdicts", judged, "", "a set under a policy: analysed, and played twice at most"),
        fact("counter-examples", refuted(totals), "", "accepted, and a deadline was missed"),
    ];
    for policy in Policy::ALL {
        let own = || totals.iter().filter(move |((other, _), _)| *other == policy);
        let weighted = |part: fn(&Counts) -> u64| {
            let weight = |((_, point), counts): (&(Policy, Point), &Counts)| {
                let utilisation = point.utilisation as f64;
                (utilisation * part(counts) as f64 / counts.sets as f64, utilisation)
            };
            let (parts, whole) = own().map(weight).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            (1000.0 * parts / whole).round() as u64
        };
        if own().next().is_some() {
            let name = |what| format!("{}, weighted: {what}", policy.name());
            let note = "per mille of sets, each by its utilisation";
            facts.push(fact(name(ACCEPTED), weighted(|c| c.accepted), "", note));
            facts.push(fact(name(MET), weighted(|c| c.met), "", note));
        }
    }
    facts
}

fn refuted(totals: &Totals) -> u64 {
    totals.values().map(|counts| counts.refuted).sum()
}

/// What must hold: what is accepted misses nothing, and an exact test rejects nothing else.
fn limits(totals: &Totals) -> Vec<Limit> {
    let limit = |name: String, value: u64| Limit::most(name, value as f64, 0.0, "sets");
    let mut limits = vec![limit("accepted, and a deadline missed".into(), refuted(totals))];
    for policy in Policy::ALL.into_iter().filter(|policy| policy.is_exact()) {
        let own = totals.iter().filter(|((other, _), _)| *other == policy);
        let rejected = own.map(|(_, counts)| counts.pessimistic).sum();
        let name = format!("{}: rejected, and nothing missed", policy.name());
        limits.push(limit(name, rejected));
    }
    limits
}

/// Each counter-example with what it takes to see it again.
fn counters(tallies: &[Tally]) -> Vec<String> {
    let all: Vec<&Counter> = tallies.iter().flat_map(|tally| &tally.counters).collect();
    let mut notes: Vec<String> = all.iter().take(SPELT).map(|counter| spelt(counter)).collect();
    if all.len() > SPELT {
        notes.push(format!("{} further counter-examples are not spelt.", all.len() - SPELT));
    }
    notes
}

fn spelt(counter: &Counter) -> String {
    let Counter { policy, point, set, tasks, miss } = counter;
    let case = case(*policy, *point);
    format!("COUNTER-EXAMPLE: {case}, set {set}: {miss}; {} (times in ns)", tasks.join(", "))
}

/// Acceptance ratio by utilisation, a plot for each number of CPUs and of tasks.
fn curves(totals: &Totals) -> Vec<Curves> {
    let mut plots: Vec<(usize, usize)> =
        totals.keys().map(|(_, point)| (point.cpus, point.tasks)).collect();
    plots.sort_unstable();
    plots.dedup();
    let plot = |(cpus, tasks): (usize, usize)| {
        let case = |policy: Policy| {
            let trail = |source, part: fn(&Counts) -> u64| {
                let own = totals.iter().filter(|((other, point), _)| {
                    (*other, point.cpus, point.tasks) == (policy, cpus, tasks)
                });
                let at = |((_, point), counts): (&(Policy, Point), &Counts)| {
                    (point.utilisation as f64, 100.0 * part(counts) as f64 / counts.sets as f64)
                };
                Points::of(source, own.map(at))
            };
            let trails = vec![
                trail(Source::Analysed, |counts| counts.accepted),
                trail(Source::Played, |counts| counts.met),
            ];
            let is_there = !trails[0].points.is_empty();
            is_there.then(|| Case { name: policy.name().to_string(), trails })
        };
        Curves::of(
            format!("acceptance-cpus-{cpus}-tasks-{tasks}"),
            format!("Acceptance ratio, CPUs: {cpus}, tasks for each: {tasks}"),
            ["utilisation of what a set has, %", "% of sets"],
            Policy::ALL.into_iter().filter_map(case).collect(),
        )
    };
    plots.into_iter().map(plot).collect()
}
