//! Runs the shards of a plan on all CPUs of the host. What comes out depends neither on how many
//! there are, nor on how often the run was interrupted.

use super::kept::Kept;
use super::plan::Plan;
use crate::progress::Step;
use acceptance::{Arranged, Point, Tally};
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// What a run gave, and how fast.
pub struct Done {
    /// The shards in order.
    pub tallies: Vec<Tally>,
    /// Sets that were run now, not before an interrupt.
    pub fresh: u64,
    /// How long that took.
    pub taken: Duration,
    /// CPU time that it took on all threads; none where the host does not tell.
    pub cpu_time: Option<Duration>,
}

/// Runs what is not finished yet with so many threads, and forgets what was kept. `stop` ends the
/// run early, with what is finished kept: none then comes out.
pub fn run(
    plan: &Plan,
    kept: Kept,
    threads: usize,
    accepts: impl Fn(&Arranged) -> bool + Sync,
    stop: impl Fn(u64) -> bool,
) -> Result<Option<Done>> {
    let (started, cpu_before) = (Instant::now(), cpu_time());
    let mut finished = kept.load()?;
    let all = plan.shards();
    let known: BTreeSet<_> = all.iter().collect();
    finished.retain(|key, _| known.contains(key));
    let before: u64 = finished.values().map(sets).sum();
    if before > 0 {
        eprintln!("going on: {before} of {} sets were finished before", plan.sets());
    }
    let left: Vec<(Point, u64)> =
        all.into_iter().filter(|key| !finished.contains_key(key)).collect();
    let step = Step::start(format!("{} sets on {threads} threads", plan.sets()));
    let mut writer = kept.open()?;
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let (left, next, accepts) = (&left, &next, &accepts);
    let work = |sender: mpsc::Sender<_>| {
        while let Some((point, shard)) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
            let tally = acceptance::run(&plan.parameters, plan.seed, *point, *shard, accepts);
            // Nothing waits for it any more after an error or a stop.
            if sender.send(tally).is_err() {
                return;
            }
        }
    };
    let mut fresh = 0;
    let is_whole = std::thread::scope(|scope| -> Result<bool> {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(|| work(sender));
        }
        // Nothing is received any more when all threads have ended.
        drop(sender);
        let receiver = receiver;
        for _ in 0..left.len() {
            let tally = receiver.recv().context("a thread that plays sets has ended")??;
            writer.add(&tally)?;
            fresh += sets(&tally);
            finished.insert((tally.point, tally.shard), tally);
            step.detail(&progress(plan.sets(), before, fresh, started.elapsed()));
            if stop(fresh) {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    if !is_whole {
        return Ok(None);
    }
    let taken = started.elapsed();
    let cpu_time = cpu_time().zip(cpu_before).map(|(now, before)| now - before);
    kept.remove()?;
    Ok(Some(Done { tallies: finished.into_values().collect(), fresh, taken, cpu_time }))
}

/// CPU time of this program, if the host tells.
fn cpu_time() -> Option<Duration> {
    /// Of a second, on each Linux.
    const TICK: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name is in brackets, and may have any characters.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((ticks()? + ticks()?) * 1000 / TICK))
}

/// Sets of a shard.
pub fn sets(tally: &Tally) -> u64 {
    tally.counts.first().map_or(0, |(_, counts)| counts.sets)
}

/// How far a run is.
fn progress(all: u64, before: u64, fresh: u64, taken: Duration) -> String {
    let rate = fresh as f64 / taken.as_secs_f64().max(1e-3);
    let left = (all - before - fresh) as f64 / rate.max(1e-3);
    format!("{} done, {rate:.0} a second, about {left:.0} s left", before + fresh)
}

#[cfg(test)]
mod tests {
    use super::progress;
    use std::time::Duration;

    #[test]
    fn what_is_left_is_estimated_by_what_was_run_now() {
        let said = progress(1_000, 400, 100, Duration::from_secs(2));
        assert_eq!(said, "500 done, 50 a second, about 10 s left");
    }
}
