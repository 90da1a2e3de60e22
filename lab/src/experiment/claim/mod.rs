//! Claims as data: the paper's setting beside ours, and the figures with the bands that decide.
//!
//! A claim holds if each of its figures lies within its band. There is no other way to a verdict,
//! so the band that is printed is the one that judged.

mod figures;

pub use figures::{Line, cold, fact, kernels, least, mean, median, most, percent_above};

use super::{EXPERIMENTS, Experiment};
use crate::machine::{EMULATOR, Platform, Twin, native::Native};
use results::{Bound, Claim, Judged, Report, Verdict};
use serde::Serialize;

/// What was measured on what, aspect by aspect: its name, the paper's value, and ours.
pub type Setting = &'static [(&'static str, &'static str, Ours)];

/// Our value of an aspect of a setting.
#[derive(Clone, Copy)]
pub enum Ours {
    /// The same on each machine.
    Same(&'static str),
    /// By machine: emulated, simulated, on the host's processors; empty where a machine has none.
    Each([&'static str; 3]),
    /// What the machine is.
    Machine,
    /// What it counts, for each of something.
    Unit(&'static str),
}

impl Ours {
    /// The value on a machine.
    pub fn on(self, machine: &str) -> String {
        let names = [EMULATOR.name(), Twin.name(), Native.name()];
        let place = names.iter().position(|name| *name == machine).unwrap_or(0);
        match self {
            Ours::Same(value) => value.to_string(),
            Ours::Each(values) => values[place].to_string(),
            Ours::Machine => [
                "emulated: instructions are counted, there are no caches",
                "simulated: steps have stated costs, there are no caches",
                "the host's, with its caches",
            ][place]
                .to_string(),
            Ours::Unit(of) => {
                let unit = ["instructions", "modelled instructions", "ticks of the host's counter"];
                format!("{}{of}", unit[place])
            }
        }
    }
}

type Figure<T> = Box<dyn Fn(&Report) -> Option<T>>;

/// A claim of a paper.
pub struct Spec {
    /// Its identity in the ledger, with a letter if it is a part of a claim.
    pub id: &'static str,
    /// What it says, in a sentence.
    pub statement: &'static str,
    /// What the paper measured on what, and what we do.
    pub setting: Setting,
    /// The figures that decide, with their bands.
    pub bands: Vec<Band>,
    hidden: Figure<String>,
    remark: Figure<String>,
}

/// A figure and where it must lie for the claim to hold.
#[derive(Serialize)]
pub struct Band {
    /// What is measured.
    pub quantity: &'static str,
    /// Of what; empty for plain numbers.
    pub unit: &'static str,
    /// Where it must lie.
    pub bound: Bound,
    /// What the band rests on.
    pub from: &'static str,
    #[serde(skip)]
    figure: Figure<f64>,
}

/// A figure whose band is still to be said.
pub struct Unbounded(Spec, &'static str, &'static str, Figure<f64>);

/// A claim without figures.
pub fn claim(id: &'static str, statement: &'static str, setting: Setting) -> Spec {
    let nothing = || Box::new(|_: &Report| None);
    Spec { id, statement, setting, bands: Vec::new(), hidden: nothing(), remark: nothing() }
}

impl Unbounded {
    /// Where the figure must lie, and what that rests on.
    pub fn lies(self, bound: Bound, from: &'static str) -> Spec {
        let Unbounded(mut spec, quantity, unit, figure) = self;
        spec.bands.push(Band { quantity, unit, bound, from, figure });
        spec
    }
}

/// What is nearer to 0 is what rounding leaves of a difference.
const NOISE: f64 = 1e-9;

impl Spec {
    /// A further figure that decides: what is measured, its unit, and how a report tells it; none
    /// if the report lacks its rows.
    pub fn figure(
        self,
        quantity: &'static str,
        unit: &'static str,
        figure: impl Fn(&Report) -> Option<f64> + 'static,
    ) -> Unbounded {
        Unbounded(self, quantity, unit, Box::new(figure))
    }

    /// Why a report cannot tell whether the claim holds, if it cannot.
    pub fn hidden(self, hidden: impl Fn(&Report) -> Option<String> + 'static) -> Spec {
        Spec { hidden: Box::new(hidden), ..self }
    }

    /// What else there is to say about the figures.
    pub fn remark(self, remark: impl Fn(&Report) -> Option<String> + 'static) -> Spec {
        Spec { remark: Box::new(remark), ..self }
    }

    /// Judges a report. What the machine cannot tell is not observable; what this run did not
    /// measure is not judged.
    pub fn judge(&self, report: &Report) -> Claim {
        let (verdict, evidence, judged) = match ((self.hidden)(report), self.figures(report)) {
            (Some(why), _) => (Verdict::NotObservable, why, Vec::new()),
            (None, Err(why)) => (Verdict::NotJudged, why, Vec::new()),
            (None, Ok(judged)) => {
                let held = judged.iter().all(Judged::holds);
                let verdict = if held { Verdict::Reproduced } else { Verdict::Contradicted };
                let figures = judged.iter().map(ToString::to_string);
                let said: Vec<String> = figures.chain((self.remark)(report)).collect();
                (verdict, said.join("; "), judged)
            }
        };
        let (id, statement) = (self.id.to_string(), self.statement.to_string());
        Claim { id, statement, verdict, evidence, judged }
    }

    fn figures(&self, report: &Report) -> Result<Vec<Judged>, String> {
        let judge = |band: &Band| {
            let value = (band.figure)(report).filter(|value| value.is_finite());
            let value = value.ok_or_else(|| format!("the run does not tell: {}", band.quantity))?;
            let value = if value.abs() < NOISE { 0.0 } else { value };
            let (quantity, unit) = (band.quantity.to_string(), band.unit.to_string());
            Ok(Judged { quantity, value, unit, bound: band.bound })
        };
        if self.bands.is_empty() {
            return Err("no band is stated".to_string());
        }
        self.bands.iter().map(judge).collect()
    }
}

/// A claim or a part of one, and the experiment that decides it.
pub fn find(id: &str) -> Option<(&'static Experiment, Spec)> {
    EXPERIMENTS.into_iter().find_map(|experiment| {
        let own = (experiment.claims)().into_iter().find(|spec| spec.id == id);
        Some((experiment, own?))
    })
}

#[cfg(test)]
mod tests;
