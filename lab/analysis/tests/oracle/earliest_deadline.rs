//! Earliest deadline first.

use crate::schedule::{Job, jobs, longest, play, synchronous};
use crate::tasks::{Pattern, pattern, task};
use analysis::tree::{Class, Entity};
use analysis::{Limits, Reservation, Steps, Stream, Supply, Task, Tree, Verdict, Workload, edf};
use proptest::prelude::*;
use response_time_analysis::arrival::Sporadic;
use response_time_analysis::demand::RBF;
use response_time_analysis::edf::fully_preemptive;
use response_time_analysis::time::{Duration, Service};
use response_time_analysis::wcet::Scalar;

const HORIZON: i64 = 6_000;

/// The first deadline that is missed when all tasks are released at once.
fn first_miss(tasks: &[Task], pattern: &Pattern) -> Option<i64> {
    let all = synchronous(tasks, HORIZON);
    let missed = |ticks| {
        let complete =
            play(&all, HORIZON, |now| Pattern::on(ticks, now), |job| (job.due, job.task));
        let late = complete.iter().filter(|(job, end)| *end > job.due).map(|(job, _)| job.due);
        // What was not complete at the end: no job is due twice, so counting finds it.
        let due = |job: &&Job| job.due < HORIZON;
        let lost =
            all.iter().filter(due).count() - complete.iter().filter(|(j, _)| due(&j)).count();
        late.min().or((lost > 0).then_some(HORIZON))
    };
    pattern.ticks.iter().filter_map(missed).min()
}

/// The longest response of a task over all phases of it, the others released at once, and ties
/// decided against it, where the scheduler takes its deadlines for later than they are by `blur`.
fn played(tasks: &[Task], index: usize, pattern: &Pattern, blur: i64) -> i64 {
    let task = &tasks[index];
    let worst = |(phase, ticks): (i64, &(Vec<bool>, Vec<bool>))| {
        let mut all = synchronous(tasks, HORIZON);
        all.retain(|job| job.task != index);
        all.extend(jobs(index, task, phase - task.jitter as i64, HORIZON));
        let later = |job: &Job| if job.task == index { blur } else { 0 };
        let key = |job: &Job| (job.due + later(job), job.task == index, job.arrival);
        longest(&play(&all, HORIZON, |now| Pattern::on(ticks, now), key), index)
    };
    let phases = 0..task.period as i64;
    phases.flat_map(|phase| pattern.ticks.iter().map(move |t| worst((phase, t)))).max().unwrap()
}

fn unblocked(tasks: Vec<Task>) -> Vec<Task> {
    tasks.into_iter().map(|task| task.blocking(0)).collect()
}

proptest! {
    #[test]
    fn the_demand_test_is_exact(
        tasks in prop::collection::vec(task(6), 1..4).prop_map(unblocked), pattern in pattern(),
    ) {
        let workload = Workload::of(&tasks);
        let found = edf::demand_test(&workload, &pattern.supply, &mut Steps::new(10_000_000));
        let found = found.unwrap();
        prop_assert_eq!(found.is_some(), first_miss(&tasks, &pattern).is_some());
        if let Some(excess) = found {
            prop_assert!(excess.first && excess.demand > excess.supply.into());
            let fits_before = (0..excess.instant).all(|instant| {
                let due = |task: &Task| {
                    let first = task.deadline as i64 - task.jitter as i64;
                    let jobs = (instant as i64 - first).div_euclid(task.period as i64) + 1;
                    jobs.max(0) as u64 * task.execution
                };
                tasks.iter().map(due).sum::<u64>() <= pattern.supply.provided(instant)
            });
            prop_assert!(fits_before);
        }
    }

    #[test]
    fn responses_and_demand_agree(
        tasks in prop::collection::vec(task(6), 1..5).prop_map(unblocked), pattern in pattern(),
        streams in prop::collection::vec((0..4u64, 6..40u64, 0..9u64), 0..3), blur in 0..5u64,
    ) {
        let stream = |(cost, period, jitter)| Stream { cost, period, jitter };
        let interference = streams.into_iter().map(stream).collect();
        let workload = Workload { interference, blur, ..Workload::of(&tasks) };
        let demand = edf::demand_test(&workload, &pattern.supply, &mut Steps::new(10_000_000));
        let verdicts = edf::analyse(&workload, &pattern.supply, Limits::default()).unwrap();
        let (fit, demand) = (verdicts.iter().all(Verdict::fits), demand.unwrap());
        prop_assert!(fit || demand.is_some());
        prop_assert!(blur > 0 || !fit || demand.is_none());
    }

    #[test]
    fn bounds_are_those_of_the_other_implementation(
        mut tasks in prop::collection::vec(task(0), 1..6).prop_map(unblocked),
    ) {
        for task in &mut tasks {
            task.period *= 5;
            task.deadline *= 3;
        }
        let rbf = |task: &Task| RBF::new(
            Sporadic { min_inter_arrival: task.period.into(), jitter: Duration::zero() },
            Scalar::new(Service::from(task.execution)),
        );
        for (index, task) in tasks.iter().enumerate() {
            let others = tasks.iter().enumerate().filter(|(other, _)| *other != index);
            let rbfs: Vec<_> = others.map(|(_, task)| (rbf(task), task.deadline)).collect();
            let own = rbf(task);
            let under = fully_preemptive::Task { rbf: &own, deadline: task.deadline.into() };
            let others: Vec<_> = rbfs
                .iter()
                .map(|(rbf, deadline)| fully_preemptive::Task { rbf, deadline: (*deadline).into() })
                .collect();
            let limit = Duration::from(100_000);
            let theirs = fully_preemptive::dedicated_uniproc_rta(&under, &others, limit);
            let mut steps = Steps::new(10_000_000);
            let ours = edf::response(&Workload::of(&tasks), index, &Supply::whole(), &mut steps);
            let ours = ours.unwrap().map(|bound| Duration::from(bound.response));
            prop_assert_eq!(ours, theirs.ok());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.div_ceil(8)))]
    #[test]
    fn bounds_are_what_is_played(
        tasks in prop::collection::vec(task(6), 1..4).prop_map(unblocked), pattern in pattern(),
        blur in 0..5u64,
    ) {
        let workload = Workload { blur, ..Workload::of(&tasks) };
        for index in 0..tasks.len() {
            let mut steps = Steps::new(10_000_000);
            let found = edf::response(&workload, index, &pattern.supply, &mut steps).unwrap();
            if let Some(bound) = found {
                let played = played(&tasks, index, &pattern, blur as i64);
                prop_assert_eq!(bound.response as i64, played);
            }
        }
    }
}

#[test]
fn utilisation_next_to_one_decides_where_busy_periods_do_not_end() {
    // Their common multiple exceeds 2^64, and less than a millionth of the CPU is free.
    let primes = [999_999_937, 999_999_929, 999_999_893];
    let tasks = primes.map(|prime| Task::new("a", prime / 3, prime));
    let found = |tasks: &[Task], supply: &Supply| {
        edf::demand_test(&Workload::of(tasks), supply, &mut Steps::new(1_000))
    };
    assert_eq!(found(&tasks, &Supply::whole()), Ok(None));
    let [a, b, c] = tasks;
    let over = [a.clone(), b.clone(), Task { execution: c.execution + 10, ..c.clone() }];
    assert!(matches!(found(&over, &Supply::whole()), Ok(Some(_)) | Err(_)), "it does not fit");
    let early = c.deadline(999_999_000);
    assert!(found(&[a, b, early], &Supply::whole()).is_err(), "a deadline counts too");
}

/// Sixty tasks of shares that are together this of `of`, with periods that have no common multiple.
fn sixty(part: u64, of: u64) -> Vec<Task> {
    let period = |index: u64| 60 * of * (1_009 + 2 * index * index + 30 * index);
    let task = |index| Task::new("one", period(index) / 60 / of * part, period(index));
    (0..60).map(task).collect()
}

/// What shares decide needs no steps, up to the last one.
#[test]
fn what_shares_decide_is_decided_at_once() {
    for (part, of) in [(1, 1), (9_988, 10_000), (1, 7)] {
        let tasks = sixty(part, of);
        let none = &mut Steps::new(0);
        assert_eq!(edf::demand_test(&Workload::of(&tasks), &Supply::whole(), none), Ok(None));
        let mut tree = Tree::new("cpu", Class::Edf(tasks.into_iter().map(Entity::Task).collect()));
        tree.limits = Limits { test: 100, total: 100 };
        assert!(analysis::analyse(&tree).fits());
    }
    let mut tasks = sixty(1, 1);
    tasks[7].execution += 1;
    let few = &mut Steps::new(1_000_000);
    assert_ne!(edf::demand_test(&Workload::of(&tasks), &Supply::whole(), few), Ok(None));
    let third = Reservation { budget: 1, period: 3 };
    let reserved = Workload { reservations: vec![third; 3], ..Workload::default() };
    assert_eq!(edf::demand_test(&reserved, &Supply::whole(), &mut Steps::new(0)), Ok(None));
}

proptest! {
    /// Without steps what is said to fit fits by every deadline; with blocking too.
    #[test]
    fn what_shares_decide_fits(
        tasks in prop::collection::vec((1..20u64, 10..200u64, 10..300u64, 0..9u64, 0..9u64), 1..5),
        streams in prop::collection::vec((0..4u64, 6..90u64, 0..9u64), 0..3), pattern in pattern(),
    ) {
        let task = |(execution, period, deadline, jitter, blocking)| {
            Task::new("one", execution, period).deadline(deadline).jitter(jitter).blocking(blocking)
        };
        let tasks: Vec<Task> = tasks.into_iter().map(task).collect();
        let stream = |(cost, period, jitter)| Stream { cost, period, jitter };
        let interference: Vec<Stream> = streams.into_iter().map(stream).collect();
        let workload = Workload { interference, ..Workload::of(&tasks) };
        if edf::demand_test(&workload, &pattern.supply, &mut Steps::new(0)).is_ok() {
            let blocking = tasks.iter().map(|task| task.blocking).max().unwrap_or(0);
            for instant in 1..20_000u64 {
                let due = |task: &Task| {
                    let first = task.deadline as i64 - task.jitter as i64;
                    let jobs = (instant as i64 - first).div_euclid(task.period as i64) + 1;
                    jobs.max(0) as u64 * task.execution
                };
                let first = |task: &Task| instant + task.jitter >= task.deadline;
                if !tasks.iter().any(first) {
                    continue;
                }
                let before = |one: &Stream| (instant + one.jitter).div_ceil(one.period) * one.cost;
                let demand: u64 = tasks.iter().map(due).sum();
                let before: u64 = workload.interference.iter().map(before).sum();
                prop_assert!(demand + before + blocking <= pattern.supply.provided(instant));
            }
        }
    }
}
