//! Experiments on a user's system, instead of the systems that they bring.

use super::parameter::Set;
use super::{EXPERIMENTS, Experiment, Measure};
use crate::failure::usage;
use anyhow::Result;
use manifest::{System, TREE};

/// How an experiment measures a user's system.
pub struct UserSystem {
    /// The platforms that it runs on with what measures there, the usual one first.
    pub machines: &'static [Measure],
    /// Those of the experiment's parameters that can be set there.
    pub parameters: &'static [&'static str],
    /// Sentences on how to read its figures, instead of the experiment's.
    pub notes: &'static [&'static str],
}

impl Experiment {
    /// How it measures a user's system.
    ///
    /// # Errors
    /// It measures its own systems alone; the error names the experiments that measure others.
    pub fn of_user_system(&'static self) -> Result<&'static UserSystem> {
        self.user_system.as_ref().ok_or_else(|| {
            let able = EXPERIMENTS.iter().filter(|other| other.user_system.is_some());
            let able: Vec<&str> = able.map(|other| other.name).collect();
            let (name, able) = (self.name, able.join(", "));
            usage(format!("`{name}` measures its own systems alone; --system is for {able}"))
        })
    }
}

impl UserSystem {
    /// The platforms, the usual one first.
    pub fn platforms(&self) -> impl Iterator<Item = &'static str> {
        self.machines.iter().map(|measure| measure.platform().name())
    }

    /// Refuses a parameter that means nothing there.
    pub fn check(&self, set: &Set) -> Result<()> {
        let name = set.parameter.name;
        match (self.parameters.contains(&name), self.parameters) {
            (true, _) => Ok(()),
            (false, []) => Err(usage(format!("with --system no `{name}` can be set, nor another"))),
            (false, known) => {
                let known = known.join(", ");
                Err(usage(format!("with --system no `{name}` can be set, only {known}")))
            }
        }
    }
}

/// Refuses a system that no experiment can measure, or not under these kernels, if any were named.
///
/// # Errors
/// The system has several CPUs, a lock, or a trace of its own, or does not run under a kernel.
pub fn check(system: &System, kernels: &[String]) -> Result<()> {
    if let Some(kernel) = kernels.iter().find(|kernel| !system.runs_under(kernel)) {
        let name = &system.name;
        return Err(usage(format!(
            "{name} has reservations, and kernel {kernel} has none: it needs {TREE}"
        )));
    }
    let (name, locking) = (&system.name, system.locking());
    if system.cpus > 1 || locking != manifest::NO_LOCKING {
        let has = format!("{} CPU(s) and the locking `{locking}`", system.cpus);
        return Err(usage(format!(
            "a user's system is measured on one CPU without a lock; `{name}` has {has}"
        )));
    }
    has_no_trace(system)
}

/// Refuses a system that has a trace of its own.
///
/// # Errors
/// It has one.
pub fn has_no_trace(system: &System) -> Result<()> {
    match &system.trace {
        None => Ok(()),
        Some(_) => Err(usage(format!(
            "the manifest of `{}` has a trace of its own: take it out to measure the system",
            system.name
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Asked, Session, find, run};
    use crate::failure::Usage;
    use crate::machine::Twin;
    use crate::{machine::Platform, systems};
    use abi::trace::Keep;
    use results::SYSTEM;

    #[test]
    fn what_measures_no_other_system_names_those_that_do() {
        let of = |name: &str| find(name).unwrap().on_user_system(None);
        for experiment in EXPERIMENTS {
            let listed = of(experiment.name);
            assert_eq!(listed.is_ok(), experiment.user_system.is_some(), "{}", experiment.name);
        }
        let error = of("ping-pong").err().unwrap();
        assert!(error.is::<Usage>());
        let all = "--system is for latency, sections, profile, scheduler-stats";
        assert!(error.to_string().ends_with(all), "{error}");
        let machine = find("sections").unwrap().on_user_system(Some(Twin.name())).err().unwrap();
        assert!(machine.to_string().ends_with("on twin, only on qemu-x86_64"), "{machine}");
    }

    #[test]
    fn a_parameter_of_its_own_systems_cannot_be_set() {
        let check = |name: &str, text: &str| {
            let experiment = find(name).unwrap();
            let set = Set::parse(name, experiment.parameters, text).unwrap();
            experiment.of_user_system().unwrap().check(&set)
        };
        check("profile", "period=50us").unwrap();
        let error = check("latency", "samples=3").unwrap_err();
        assert!(error.is::<Usage>() && error.to_string().contains("no `samples`"), "{error}");
    }

    #[test]
    fn several_cpus_locks_and_traces_are_refused() {
        let said = |change: fn(&mut System)| {
            let mut system = systems::load("hello").unwrap();
            change(&mut system);
            check(&system, &[]).map_err(|error| error.to_string())
        };
        assert_eq!(said(|_| {}), Ok(()));
        assert!(said(|system| system.cpus = 2).unwrap_err().contains("2 CPU(s)"));
        let locked = said(|system| system.locking = Some("big".to_string()));
        assert!(locked.unwrap_err().contains("the locking `big`"));
        let traced = said(|system| drop(system.add_trace(1 << 20, Keep::First)));
        assert!(traced.unwrap_err().contains("a trace of its own"));
    }

    #[test]
    fn rows_and_report_name_the_system_and_no_claim_is_judged() {
        let asked = Asked { system: Some("udpserver".to_string()), ..Asked::seed(1) };
        let listed = find("scheduler-stats").unwrap().on_user_system(Some(Twin.name())).unwrap()[0];
        let (report, _) = run(listed, &Session::new(asked), &["fastpath"]).unwrap();
        let own = results::Value::Name("udpserver".to_string());
        assert!(!report.rows.is_empty());
        assert!(report.rows.iter().all(|row| row.parameters.get(SYSTEM) == Some(&own)));
        assert_eq!(report.set.get(SYSTEM), Some(&vec![own]));
        assert!(report.claims.is_empty() && report.baselines.is_empty());
    }

    #[test]
    fn a_system_with_reservations_is_measured_under_the_kernel_that_has_them() {
        let system = systems::load("mixed-criticality").unwrap();
        let said = |kernel: &str| check(&system, &[kernel.to_string()]).map_err(|e| e.to_string());
        assert_eq!(said("tree"), Ok(()));
        assert!(said("fastpath").unwrap_err().contains("it needs tree"));
        let asked = Asked { system: Some("mixed-criticality".to_string()), ..Asked::seed(1) };
        let listed = find("latency").unwrap().on_user_system(Some(Twin.name())).unwrap()[0];
        let (report, _) = run(listed, &Session::new(asked), &["tree"]).unwrap();
        assert!(report.rows.iter().any(|row| row.case.starts_with("flight")));
        assert!(report.rows.iter().all(|row| row.kernel == "tree"));
    }

    #[test]
    fn a_system_without_wake_ups_says_what_is_missing() {
        let said = |name: &str| {
            let asked = Asked { system: Some("hello".to_string()), ..Asked::seed(1) };
            let listed = find(name).unwrap().on_user_system(Some(Twin.name())).unwrap()[0];
            format!("{:#}", run(listed, &Session::new(asked), &["fastpath"]).unwrap_err())
        };
        assert!(said("latency").contains("no thread of the system was woken"));
    }

    #[test]
    fn without_statistics_of_its_own_a_system_has_its_accuracy_and_a_note() {
        let asked = Asked { system: Some("hello".to_string()), ..Asked::seed(1) };
        let listed = find("scheduler-stats").unwrap().on_user_system(Some(Twin.name())).unwrap()[0];
        let (report, _) = run(listed, &Session::new(asked), &["strict-eager"]).unwrap();
        let rows: Vec<_> = report.rows.iter().map(|row| row.metric.as_str()).collect();
        assert_eq!(rows, ["accuracy", "accuracy-of-equals"]);
        let missing = "no program of `hello` has left statistics";
        assert!(report.notes.iter().any(|note| note.contains(missing)), "{:?}", report.notes);
    }
}
