use super::{EXPERIMENT, FORMS, LATENCY, LENGTHS, LOADS, WORST, case};
use crate::experiment::claim::Line;
use crate::experiment::measured::{fact, recording, spans};
use crate::experiment::{Boots, Measured};
use anyhow::Result;
use manifest::{System, TREE};
use results::{Case, Curves, Fact, Limit, Source};

/// The metric of the recording.
const CHAIN: u16 = 1;
/// Cases of calls are as much above those of trains.
const BY_CALLS: u16 = 0x100;
/// How far a median may be off the line, in percent of what a domain adds.
const RESIDUAL: f64 = 10.0;
/// How much longer than beside nothing a median may be, in percent.
const BY_LOAD: f64 = 2.0;
/// How much longer the worst may be than beside nothing, in instructions: a tick falls into it.
const BY_TICKS: f64 = 2_000.0;

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    for load in loads(kernel) {
        let outcome = setup.boot_changed(EXPERIMENT.name, kernel, &mut |system| {
            lay_out(system, kernel, load);
        })?;
        let spans = spans(&recording(&outcome, "recording", kernel)?, CHAIN)?;
        for (number, values) in spans.cases {
            let form = FORMS[usize::from(number & BY_CALLS != 0)];
            let case = case(form, load, (number & !BY_CALLS).into());
            let worst = values.iter().max().copied();
            measured.samples.push(kernel, WORST, &case, worst.into_iter().collect());
            measured.samples.push(kernel, LATENCY, &case, values);
        }
    }
    let lengths = setup.asked.numbers("length").unwrap_or(LENGTHS.to_vec());
    let of = Of { measured: &measured, kernel, lengths: &lengths };
    let (limits, facts) = of.verdicts()?;
    let curves = of.curves();
    (measured.limits, measured.facts, measured.curves) = (limits, facts, vec![curves]);
    Ok(measured)
}

/// Without reservations a program of the caller's priority has its turns, and no bound is promised.
fn loads(kernel: &str) -> &'static [&'static str] {
    if kernel == TREE { &LOADS } else { &LOADS[..2] }
}

/// Lets a load begin, and leaves out what the kernel does not have.
fn lay_out(system: &mut System, kernel: &str, load: &str) {
    if kernel != TREE {
        system.reservations.clear();
        system.domains.iter_mut().for_each(|domain| domain.reservation = None);
    }
    let hog = system.domains.iter_mut().filter(|domain| domain.name == load);
    let after = hog.flat_map(|hog| &mut hog.args).filter(|(name, _)| name == "after");
    after.for_each(|(_, value)| *value = "0".to_string());
}

/// What a kernel's rows say.
struct Of<'a> {
    measured: &'a Measured,
    kernel: &'a str,
    lengths: &'a [u64],
}

impl Of<'_> {
    /// The median of a metric by length.
    fn points(&self, metric: &str, form: &str, load: &str) -> Result<Vec<(f64, f64)>> {
        let median = |length: &u64| -> Result<(f64, f64)> {
            let case = case(form, load, *length);
            Ok((*length as f64, self.measured.median(self.kernel, metric, &case)?))
        };
        self.lengths.iter().map(median).collect()
    }

    /// Forms whose latency is to be linear: not that of calls along which a reservation is handed.
    fn linear(&self) -> &'static [&'static str] {
        if self.kernel == TREE { &FORMS[..1] } else { &FORMS }
    }

    /// Whether latencies are on a line, and independent of load.
    fn verdicts(&self) -> Result<(Vec<Limit>, Vec<Fact>)> {
        let (mut limits, mut facts) = (Vec::new(), Vec::new());
        for form in self.linear() {
            let [alone, worst_alone] =
                [self.points(LATENCY, form, LOADS[0])?, self.points(WORST, form, LOADS[0])?];
            for load in loads(self.kernel) {
                let points = self.points(LATENCY, form, load)?;
                let name = |what: &str| format!("{} {form} beside {load}, {what}", self.kernel);
                let mut limit = |what: &str, value, bound, unit: &str| {
                    limits.push(Limit::most(name(what), value, bound, unit));
                };
                if *load != LOADS[0] {
                    let worst = self.points(WORST, form, load)?;
                    let ticks = most(&worst, &worst_alone, |own, alone| own - alone);
                    limit("worst more than alone", ticks, BY_TICKS, "instructions");
                    let percent = most(&points, &alone, |own, alone| 100.0 * (own / alone - 1.0));
                    limit("more than alone", percent, BY_LOAD, "percent");
                }
                // Two points are always on a line.
                if points.len() > 2 {
                    let line = Line::through(&points);
                    limit("largest residual", residual(&points, &line), RESIDUAL, "percent");
                    let own = [("each domain", line.slope), ("beside domains", line.at(0.0))];
                    facts.extend(own.map(|(what, value)| {
                        let value = value.max(0.0).round() as u64;
                        fact(name(what), value, "", "by the line of least squares")
                    }));
                }
            }
        }
        Ok((limits, facts))
    }

    /// Latency by length.
    fn curves(&self) -> Curves {
        let of = |form: &str, load: &str| {
            let points = self.points(LATENCY, form, load).unwrap_or_default();
            Case::of(format!("{form}, {load}"), Source::Measured, points)
        };
        let loads = loads(self.kernel).iter();
        Curves::of(
            format!("{}-{}", EXPERIMENT.name, self.kernel),
            format!("A chain of domains by its length, under {}", self.kernel),
            ["domains", "instructions"],
            loads.flat_map(|load| FORMS.map(|form| of(form, load))).collect(),
        )
    }
}

/// By how much points are above others where that is most; 0 if they are below.
pub fn most(points: &[(f64, f64)], others: &[(f64, f64)], by: impl Fn(f64, f64) -> f64) -> f64 {
    points.iter().zip(others).map(|((_, own), (_, other))| by(*own, *other)).fold(0.0, f64::max)
}

/// How far a point is off the line at most, in percent of what a step to the right adds.
pub fn residual(points: &[(f64, f64)], line: &Line) -> f64 {
    let off = points.iter().map(|(x, y)| (y - line.at(*x)).abs());
    100.0 * off.fold(0.0, f64::max) / line.slope
}
