//! Everything that was asked for, reckoned: curves of the model, simulations, measured points.

use super::units::Units;
use super::{distributions, refused};
use crate::cli::model::Repairman as Asked;
use crate::commands::lab;
use crate::experiment::cache_lines;
use crate::failure::usage;
use crate::machine::topologies::{self, HOLD, Measured, TRANSFERS};
use crate::progress::Step;
use anyhow::Result;
use model::{
    Curve, Distribution, Fit, ModelError, Point, Repairman, Service, Simulated, Simulation,
};
use serde::Serialize;

/// All cases, one for each delay.
#[derive(Serialize)]
pub struct Curves {
    /// The cases.
    pub cases: Vec<Case>,
    /// The machine whose hand-offs were simulated.
    #[serde(skip)]
    pub machine: Option<Measured>,
    /// Whether s and a were fitted.
    #[serde(skip)]
    pub is_fitted: bool,
    /// What cases differ in: `a` or, where more is added to it, `delay`.
    #[serde(skip)]
    pub symbol: &'static str,
}

/// One delay.
#[derive(Serialize)]
pub struct Case {
    /// What was asked for; `None` for the a that a fit found.
    pub delay: Option<f64>,
    /// The model's curves, one for each distribution.
    pub curves: Vec<Curve>,
    /// Simulations of hand-offs on a machine.
    pub hand_offs: Vec<Simulated>,
    /// What was measured.
    pub measured: Vec<Point>,
}

/// What all cases share.
struct Setup<'a> {
    asked: &'a Asked,
    units: &'a Units,
    cpus: Vec<usize>,
    machine: Option<Measured>,
}

impl Curves {
    /// Of what the command line gives or of what was fitted.
    pub fn of(asked: &Asked, units: &Units, fits: &[Fit], points: &[Point]) -> Result<Curves> {
        let setup = Setup::of(asked, units, points)?;
        let simulates = asked.simulate || setup.machine.is_some();
        let _step = simulates.then(|| Step::start("simulating"));
        let cases = match asked.service {
            Some(service) => given(&setup, units.time(service))?,
            None => fitted(&setup, fits, points)?,
        };
        let symbol = if fits.iter().any(|fit| fit.is_extra) { "delay" } else { "a" };
        Ok(Curves { cases, machine: setup.machine, is_fitted: asked.fit.is_some(), symbol })
    }

    /// What a case is called.
    pub fn name(&self, case: &Case, units: &Units) -> String {
        match case.delay {
            Some(delay) => format!("{} = {}", self.symbol, units.spell(delay)),
            None => "a as fitted".to_string(),
        }
    }
}

impl<'a> Setup<'a> {
    fn of(asked: &'a Asked, units: &'a Units, points: &[Point]) -> Result<Setup<'a>> {
        let mut cpus: Vec<usize> = points.iter().map(|point| point.cpus).collect();
        if let Some(asked) = &asked.cpus {
            cpus = asked.0.clone();
        }
        cpus.sort_unstable();
        cpus.dedup();
        let machine = match asked.topology.as_deref() {
            Some(topologies::THIS_HOST) => Some(this_host()?),
            Some(name) => topologies::find(name),
            None => None,
        };
        if let (Some(machine), Some(most)) = (machine, cpus.last())
            && *most > machine.topology.cpus()
        {
            let (name, about) = (machine.name, machine.about);
            return Err(usage(format!("topology {name} has no {most} CPUs, it is {about}")));
        }
        Ok(Setup { asked, units, cpus, machine })
    }

    fn curve(&self, distribution: Distribution, model: Repairman) -> Result<Curve, ModelError> {
        Curve::of(model, distribution, &self.cpus, self.asked.simulate.then_some(self.asked.seed))
    }

    fn hand_offs(&self, think: f64) -> Result<Vec<Simulated>, ModelError> {
        let Some(machine) = self.machine else { return Ok(Vec::new()) };
        let hold = self.asked.hold.map_or(HOLD, |time| self.units.time(time));
        let transfers = self.asked.transfers.unwrap_or(TRANSFERS);
        let service = Service::HandOff { hold, transfers, topology: machine.topology };
        let run = |cpus: &usize| Simulation::new(*cpus, think, service, self.asked.seed).run();
        self.cpus.iter().map(run).collect()
    }
}

/// This host, by the latest measurement of its cache lines.
fn this_host() -> Result<Measured> {
    let reports = lab::whole_runs()?;
    let measured = reports.iter().filter_map(cache_lines::topology).next();
    let Some(topology) = measured else {
        let mend = "run `./giusto lab run cache-lines --machine native` on two CPUs or more";
        return Err(usage(format!("the lines of this host have not been measured; {mend}")));
    };
    Ok(Measured { name: topologies::THIS_HOST, about: "what `cache-lines` has measured", topology })
}

/// A case for each think time of the command line.
fn given(setup: &Setup, service: f64) -> Result<Vec<Case>> {
    let case = |think: f64| {
        let model = Repairman::new(service, think)?;
        let curves = distributions(setup.asked.distribution)
            .map(|distribution| setup.curve(distribution, model))
            .collect::<Result<_, _>>()?;
        let hand_offs = setup.hand_offs(think)?;
        Ok(Case { delay: Some(think), curves, hand_offs, measured: Vec::new() })
    };
    let thinks = setup.asked.think.iter().map(|time| setup.units.time(*time));
    thinks.map(|think| case(think).map_err(refused)).collect()
}

/// A case for each delay that was measured or is to be predicted.
fn fitted(setup: &Setup, fits: &[Fit], points: &[Point]) -> Result<Vec<Case>> {
    let case = |delay: Option<f64>| {
        // Of points that name no delay, each distribution has found an a of its own.
        let model = |fit: &Fit| fit.model(delay.unwrap_or(fit.think.value));
        let curve = |fit: &Fit| setup.curve(fit.distribution, model(fit)?);
        let curves: Vec<Curve> = fits.iter().map(curve).collect::<Result<_, _>>()?;
        let think = curves.first().map_or(0.0, |curve| curve.model.think());
        let hand_offs = setup.hand_offs(think)?;
        let measured = points.iter().filter(|point| point.think == delay).copied().collect();
        Ok(Case { delay, curves, hand_offs, measured })
    };
    let mut delays: Vec<Option<f64>> = points.iter().map(|point| point.think).collect();
    delays.extend(setup.asked.predict.iter().map(|time| Some(setup.units.time(*time))));
    delays.sort_by(|one, other| one.unwrap_or(-1.0).total_cmp(&other.unwrap_or(-1.0)));
    delays.dedup();
    delays.into_iter().map(|delay| case(delay).map_err(refused)).collect()
}
