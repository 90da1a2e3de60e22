//! Runs jobs: `libtest-mimic` spreads them over the CPUs and prints each result; here they are
//! timed and their findings kept, also for later.

use super::builds::Builds;
use super::findings::{Broken, Finding, Findings, Run, Summary};
use super::job::{Class, Job};
use super::state::{Progress, expected};
use crate::durations::Durations;
use crate::machine::Interrupts;
use anyhow::{Result, ensure};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of the stack of a job: as much as a program's first thread has.
const STACK: usize = 8 << 20;

/// Lines of a failure that are shown at once.
const SHOWN_AT_ONCE: usize = 8;

/// Between two words on how far a long run has come.
const WORD: Duration = Duration::from_secs(60);

/// How to run.
pub struct How {
    /// End at the first failure.
    pub fail_fast: bool,
    /// Where what is printed goes, if not to standard output.
    pub log: Option<String>,
    /// What earlier runs have done, which is not done again.
    pub progress: Option<Progress>,
    /// How long jobs took before.
    pub durations: Durations,
    /// Builds what jobs wait for.
    pub make: fn(Builds) -> Result<()>,
}

struct Shared {
    how: How,
    interrupts: Interrupts,
    /// What is built once, for all jobs that wait for it.
    built: BTreeMap<Builds, OnceLock<()>>,
    /// Held by a job that needs the machine for itself, shared by all others.
    machine: RwLock<()>,
    failed: AtomicBool,
    not_run: AtomicUsize,
    kept: Mutex<Kept>,
}

struct Kept {
    runs: Vec<Run>,
    durations: Durations,
    progress: Option<Progress>,
    /// Seconds that each job which is left is expected to take, by title.
    left: BTreeMap<String, f64>,
    said: Instant,
}

/// Runs jobs; the summary also has what `progress` had already.
pub fn run(jobs: Vec<Job>, mut how: How) -> Result<Summary> {
    let (progress, durations) = (how.progress.take(), std::mem::take(&mut how.durations));
    let (done, jobs) = match &progress {
        Some(progress) => progress.split(jobs),
        None => (Vec::new(), jobs),
    };
    let jobs = in_order(jobs, &durations);
    let builds: BTreeSet<Builds> = jobs.iter().map(|job| job.builds).collect();
    let built = builds.iter().map(|one| (*one, OnceLock::new())).collect();
    let builds = Mutex::new(builds);
    let left = jobs.iter().map(|job| (job.title(), expected(&durations, job))).collect();
    // A job also waits, for its machine's start and end or for an instant: one more than CPUs.
    let test_threads = Some(cpus() + 1);
    let arguments = Arguments { logfile: how.log.clone(), test_threads, ..Arguments::default() };
    let kept = Kept { runs: done, durations, progress, left, said: Instant::now() };
    let shared = Arc::new(Shared {
        how,
        interrupts: Interrupts::watch(),
        built,
        machine: RwLock::new(()),
        failed: AtomicBool::new(false),
        not_run: AtomicUsize::new(0),
        kept: Mutex::new(kept),
    });
    let trial = |job: Job| {
        let (shared, name, group) = (Arc::clone(&shared), job.name.clone(), job.group);
        Trial::ignorable_test(name, move || shared.take(job)).with_kind(group.name())
    };
    let trials = jobs.into_iter().map(trial).collect();
    let conclusion = thread::scope(|scope| {
        (0..cpus()).for_each(|_| drop(scope.spawn(|| shared.build(&builds))));
        libtest_mimic::run(&arguments, trials)
    });
    let mut kept = shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
    kept.durations.save()?;
    let runs = std::mem::take(&mut kept.runs);
    let failed = runs.iter().filter(|run| run.failure().is_some()).count();
    ensure!(conclusion.num_failed == failed as u64, "{failed} failures were kept: {conclusion:?}");
    Ok(Summary::new(runs, shared.not_run.load(SeqCst)))
}

/// What is quick to fail comes first, then what is quick once something is built, then the rest;
/// of these what takes longest, so that no CPU waits at the end. What needs the machine for itself
/// waits for all others and comes last.
fn in_order(mut jobs: Vec<Job>, durations: &Durations) -> Vec<Job> {
    let at_once = |job: &Job| job.class == Class::Quick && !job.builds.is_shared();
    let shortest = |job: &Job| if at_once(job) { 0.0 } else { -expected(durations, job) };
    let late = |job: &Job| (job.alone, job.class != Class::Quick, !at_once(job));
    jobs.sort_by(|a, b| late(a).cmp(&late(b)).then(shortest(a).total_cmp(&shortest(b))));
    jobs
}

impl Shared {
    /// Builds what jobs need, so that not several of them wait for one build. A failure is that of
    /// the job which finds nothing built.
    fn build(&self, left: &Mutex<BTreeSet<Builds>>) {
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop_first();
        while let Some(builds) = next().filter(|_| self.over().is_none()) {
            let _beside = self.machine.read();
            self.wait_for(builds);
        }
    }

    /// Returns when it is built, or cannot be.
    fn wait_for(&self, builds: Builds) {
        if let Some(built) = self.built.get(&builds) {
            built.get_or_init(|| drop((self.how.make)(builds)));
        }
    }

    /// Why the rest does not run, if so.
    fn over(&self) -> Option<&'static str> {
        if self.interrupts.any() {
            return Some("interrupted");
        }
        let failed = self.how.fail_fast && self.failed.load(SeqCst);
        failed.then_some("another one failed")
    }

    fn take(&self, job: Job) -> Result<Completion, Failed> {
        let title = job.title();
        // The job is not charged for the build.
        if self.over().is_none() {
            self.wait_for(job.builds);
        }
        let alone = job.alone.then(|| self.machine.write());
        let beside = (!job.alone).then(|| self.machine.read());
        let run = if self.over().is_none() { Some(execute(job)) } else { None };
        drop((alone, beside));
        let failure = run.as_ref().and_then(Run::failure);
        // What an interrupt has ended did not fail.
        let interrupted = failure.is_some() && self.interrupts.any();
        let Some(run) = run.filter(|_| !interrupted) else {
            self.not_run.fetch_add(1, SeqCst);
            return Ok(Completion::ignored_with(self.over().unwrap_or("interrupted")));
        };
        self.keep(run);
        match failure {
            None => Ok(Completion::Completed),
            Some(failure) => {
                // All of it comes at the end, which may be hours away.
                let first: Vec<&str> = failure.lines().take(SHOWN_AT_ONCE).collect();
                eprintln!("FAILED {title}\n{}", first.join("\n"));
                self.failed.store(true, SeqCst);
                Err(failure.into())
            }
        }
    }

    fn keep(&self, run: Run) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.left.remove(&run.title());
        kept.durations.note(run.title(), run.seconds);
        if let Some(progress) = &mut kept.progress {
            progress.note(&run);
        }
        kept.runs.push(run);
        if kept.said.elapsed() > WORD && !kept.left.is_empty() {
            kept.said = Instant::now();
            let minutes = kept.left.values().sum::<f64>() / (cpus() + 1) as f64 / 60.0;
            eprintln!("{} jobs done, about {minutes:.0} minutes left", kept.runs.len());
        }
    }
}

fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does a job on a thread of its own.
fn execute(job: Job) -> Run {
    let (group, name, configuration) = (job.group, job.name.clone(), job.configuration);
    let started = Instant::now();
    let work = move || {
        let mut findings = Findings::default();
        let result = job.work(&mut findings);
        (findings.0, result)
    };
    let worker = thread::Builder::new().stack_size(STACK).spawn(work);
    let (mut findings, result) = match worker.expect("the host has threads").join() {
        Ok(ended) => ended,
        Err(panic) => (Vec::new(), Err(anyhow::anyhow!(spell(&*panic)))),
    };
    if let Err(error) = &result {
        let (broken, failure) = (error.is::<Broken>(), Some(format!("{error:#}")));
        findings.push(Finding { check: name.clone(), failure, broken });
    } else if findings.is_empty() {
        findings.push(Finding { check: name.clone(), failure: None, broken: false });
    }
    let seconds = started.elapsed().as_secs_f64();
    Run { group, name, configuration, seconds, findings }
}

fn spell(panic: &(dyn std::any::Any + Send)) -> String {
    let said = panic.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("the check itself panicked: {}", said.unwrap_or("without a word"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Group;

    fn how(fail_fast: bool) -> How {
        How {
            fail_fast,
            log: Some("/dev/null".to_string()),
            progress: None,
            durations: Durations::default(),
            make: Builds::make,
        }
    }

    #[test]
    fn what_jobs_find_is_kept() {
        let job = |name: &str, work: fn(&mut Findings) -> Result<()>| {
            Job::new(Group::Target, name, work).configuration()
        };
        let jobs = vec![
            job("holds", |_| Ok(())),
            job("finds", |findings| {
                findings.record("a", Ok::<(), String>(()));
                findings.record("b", Err("no".to_string()));
                Ok(())
            }),
            job("fails", |_| anyhow::bail!("why")),
            job("does not build", |_| Err(Broken("an error".to_string()).into())),
            job("panics", |_| panic!("oh")),
        ];
        let mut summary = run(jobs, how(false)).unwrap();
        assert_eq!((summary.passed, summary.failed, summary.not_run), (2, 4, 0));
        assert_eq!(summary.configurations, 5);
        summary.runs.sort_by(|a, b| a.name.cmp(&b.name));
        let failures: Vec<_> = summary.runs.iter().map(Run::failure).collect();
        let said = ["an error", "why", "b: no", "", "the check itself panicked: oh"];
        assert_eq!(failures, said.map(|s| (!s.is_empty()).then(|| s.to_string())));
        assert!(summary.runs[0].findings[0].broken && !summary.runs[1].findings[0].broken);
    }

    #[test]
    fn a_failure_can_end_it_all_and_the_rest_is_no_pass() {
        let first = Job::new(Group::Tidy, "first", |_| anyhow::bail!("no"));
        let slow = |_: &mut Findings| {
            thread::sleep(Duration::from_millis(300));
            Ok(())
        };
        let rest = (0..100).map(|at| Job::new(Group::Tidy, format!("{at}"), slow));
        let summary = run([first].into_iter().chain(rest).collect(), how(true)).unwrap();
        assert_eq!(summary.failed, 1);
        assert!(summary.not_run > 50 && summary.passed + summary.not_run == 100);
    }

    #[test]
    fn a_job_is_not_charged_for_what_it_waits_for() {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let make = |builds| {
            if builds == Builds::Twin {
                thread::sleep(Duration::from_millis(500));
                MADE.fetch_add(1, SeqCst);
            }
            Ok(())
        };
        let job = |at: u32| {
            let job = Job::new(Group::Host, format!("{at}"), |_| {
                ensure!(MADE.load(SeqCst) == 1, "it is built, and once");
                Ok(())
            });
            job.class(Class::Quick).builds(Builds::Twin)
        };
        let summary = run((0..8).map(job).collect(), How { make, ..how(false) }).unwrap();
        assert_eq!((summary.passed, MADE.load(SeqCst)), (8, 1));
        let longest = summary.runs.iter().map(|run| run.seconds).fold(0.0, f64::max);
        assert!(longest < 0.4, "{longest} s");
    }

    #[test]
    fn what_is_quick_as_it_is_comes_before_what_waits_for_a_build() {
        let job = |name: &str, class, builds| {
            Job::new(Group::Host, name, |_| Ok(())).class(class).builds(builds)
        };
        let jobs = vec![
            job("usual", Class::Usual, Builds::Nothing),
            job("waits", Class::Quick, Builds::Twin),
            job("waits, long", Class::Quick, Builds::Twin).seconds(9.0),
            job("quick", Class::Quick, Builds::Own("it")),
            job("long", Class::Usual, Builds::Nothing).seconds(9.0),
        ];
        let jobs = in_order(jobs, &Durations::default());
        let names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["quick", "waits, long", "waits", "long", "usual"]);
    }

    #[test]
    fn a_job_that_needs_the_machine_has_it() {
        static BESIDE: AtomicUsize = AtomicUsize::new(0);
        let job = |at: u32| {
            let job = Job::new(Group::Tidy, format!("{at}"), move |_| {
                let before = BESIDE.fetch_add(1, SeqCst);
                thread::sleep(Duration::from_millis(5));
                BESIDE.fetch_sub(1, SeqCst);
                ensure!(!at.is_multiple_of(3) || before == 0, "{before} beside");
                Ok(())
            });
            if at.is_multiple_of(3) { job.alone() } else { job }
        };
        assert_eq!(run((0..30).map(job).collect(), how(false)).unwrap().failed, 0);
    }
}
