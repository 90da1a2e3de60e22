//! `lab run --all`: every experiment on its usual machine, with the time that is left, and going
//! on where an interrupted run stopped.

use super::kept::{self, keep};
use super::print_json;
use crate::cli::LabRun;
use crate::durations::Durations;
use crate::experiment::{self, Asked, EXPERIMENTS, Listed, Session};
use crate::failure::{Verdict, on_interrupt};
use crate::{output, workspace};
use anyhow::Result;
use results::{Limit, Report};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What an experiment takes of which nothing is known yet.
const USUAL: Duration = Duration::from_secs(20);

/// Said at the beginning and when an interrupt ends the run.
const GO_ON: &str = "./giusto lab run --all";

/// How an experiment of the run ended.
enum Ended {
    /// This commit had finished it before.
    Before(PathBuf),
    /// It ran; limits that did not hold.
    Ran(PathBuf, Vec<String>),
    /// It could not be measured.
    Failed(String),
}

/// Runs all experiments.
pub fn run(asked: &LabRun, as_json: bool) -> Result<Verdict> {
    let commit = workspace::commit();
    let before = finished(&commit, asked)?;
    let plan = EXPERIMENTS.map(|experiment| {
        let listed = experiment.usual();
        let is_same = |report: &&(PathBuf, Report)| is_of(&report.1, listed);
        (listed, before.iter().find(is_same).map(|(path, _)| path.clone()))
    });
    let mut times = Durations::load(workspace::results().join("seconds.json"));
    let session = Session::new(Asked::seed(asked.seed));
    on_interrupt(Some(format!("interrupted; `{GO_ON}` goes on from here")));
    let started = Instant::now();
    let mut ended = Vec::new();
    for (index, (listed, done)) in plan.iter().enumerate() {
        let name = listed.experiment().name;
        let title = format!("[{:2}/{}] {name} on {}", index + 1, plan.len(), platform(*listed));
        let one = match done {
            Some(path) => Ended::Before(path.clone()),
            None => {
                let rest = plan[index..].iter().filter(|(_, done)| done.is_none());
                let left: Duration = rest.map(|(listed, _)| expected(&times, *listed)).sum();
                eprintln!(
                    "{title}: about {} of {} left",
                    spell(expected(&times, *listed)),
                    spell(left)
                );
                measure(*listed, &session, &mut times)
            }
        };
        if !as_json {
            output::line(format_args!("{title}: {}", sentence(&one)));
        }
        ended.push((*listed, one));
    }
    on_interrupt(None);
    let page = super::write_report()?;
    let held = ended.iter().all(|(_, one)| one.held());
    if as_json {
        let experiments: Vec<Value> = ended.iter().map(|(l, one)| document(*l, one)).collect();
        print_json(&json!({"held": held, "experiments": experiments, "report": page}));
    } else {
        let failed = ended.iter().filter(|(_, one)| !one.held()).count();
        let end = if held { "everything held".into() } else { format!("{failed} did not hold") };
        let taken = spell(started.elapsed());
        output::line(format_args!("{end}, in {taken}; {}", workspace::shown(&page)));
    }
    Ok(Verdict::from_bool(held))
}

/// The whole runs that count as finished: of this very commit, with the same seed.
fn finished(commit: &str, asked: &LabRun) -> Result<Vec<(PathBuf, Report)>> {
    if asked.restart {
        return Ok(Vec::new());
    }
    if !workspace::is_commit(commit) {
        eprintln!("the work tree is not that of a commit, so nothing is skipped");
        return Ok(Vec::new());
    }
    kept::latest(&|experiment, report| {
        kept::is_whole(experiment, report) && (&*report.commit, report.seed) == (commit, asked.seed)
    })
}

fn is_of(report: &Report, listed: Listed) -> bool {
    (&*report.experiment, &*report.machine) == (listed.experiment().name, platform(listed))
}

fn platform(listed: Listed) -> &'static str {
    listed.platform().name()
}

/// Runs an experiment and keeps its result and how long it took.
fn measure(listed: Listed, session: &Session, times: &mut Durations) -> Ended {
    let started = Instant::now();
    let kept = experiment::run(listed, session, &listed.kernels())
        .and_then(|(report, samples)| Ok((keep(&report, &samples)?, report)));
    match kept {
        Ok((path, report)) => {
            times.note(key(listed), started.elapsed().as_secs_f64());
            if let Err(error) = times.save() {
                eprintln!("{error:#}; the next run cannot say how long it will take");
            }
            let missed = report.limits.iter().filter(|limit| !limit.held());
            Ended::Ran(path, missed.map(Limit::sentence).collect())
        }
        Err(error) => Ended::Failed(format!("{error:#}")),
    }
}

impl Ended {
    fn held(&self) -> bool {
        match self {
            Ended::Before(_) => true,
            Ended::Ran(_, missed) => missed.is_empty(),
            Ended::Failed(_) => false,
        }
    }
}

fn sentence(ended: &Ended) -> String {
    match ended {
        Ended::Before(path) => format!("finished before, {}", workspace::shown(path)),
        Ended::Ran(path, missed) => {
            let missed: String = missed.iter().map(|missed| format!("\n    {missed}")).collect();
            format!("{}{missed}", workspace::shown(path))
        }
        Ended::Failed(why) => format!("FAILED: {why}"),
    }
}

fn document(listed: Listed, ended: &Ended) -> Value {
    let (status, results, error) = match ended {
        Ended::Before(path) => ("before", Some(path), None),
        Ended::Ran(path, missed) if missed.is_empty() => ("held", Some(path), None),
        Ended::Ran(path, missed) => ("limits", Some(path), Some(missed.join("\n"))),
        Ended::Failed(why) => ("failed", None, Some(why.clone())),
    };
    let (name, machine) = (listed.experiment().name, platform(listed));
    json!({
        "experiment": name, "machine": machine, "status": status, "results": results,
        "error": error,
    })
}

/// What stands for an experiment on its machine where durations are kept.
fn key(listed: Listed) -> String {
    format!("{} {}", listed.experiment().name, platform(listed))
}

/// How long it will take about.
fn expected(times: &Durations, listed: Listed) -> Duration {
    let seconds = times.of(&key(listed));
    seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()).unwrap_or(USUAL)
}

/// A duration as people say it.
fn spell(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..100 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_spelt() {
        let spelt = |seconds| spell(Duration::from_secs(seconds));
        assert_eq!([0, 99, 100, 121].map(spelt), ["0 s", "99 s", "2 min", "3 min"]);
    }

    #[test]
    fn what_is_known_of_an_experiment_is_its_last_time() {
        let listed = experiment::find("micro").expect("it is one").usual();
        let mut times = Durations::default();
        assert_eq!(expected(&times, listed), USUAL);
        for (seconds, known) in [(3.5, Duration::from_millis(3500)), (-1.0, USUAL)] {
            times.note(key(listed), seconds);
            assert_eq!(expected(&times, listed), known);
        }
    }

    #[test]
    fn a_missed_limit_and_a_failure_do_not_hold() {
        let path = PathBuf::from("target/lab/micro/1");
        let missed = Ended::Ran(path.clone(), vec!["too slow".to_string()]);
        let failed = Ended::Failed("no emulator".to_string());
        assert!(Ended::Before(path.clone()).held() && Ended::Ran(path, Vec::new()).held());
        assert!(!missed.held() && !failed.held());
        assert_eq!(sentence(&missed), "target/lab/micro/1\n    too slow");
        assert_eq!(sentence(&failed), "FAILED: no emulator");
    }
}
