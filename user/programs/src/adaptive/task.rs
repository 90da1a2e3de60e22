//! A periodic task with a load that comes in bursts. It reports what it lacked, piece by piece.

use super::load::Load;
use super::report::Report;
use rt::prelude::*;
use rt::{system, time};

/// Work that is done between two looks at the clock, in units: a millisecond, the resolution of
/// the paper's system (S2B-N3).
const PIECE: u64 = 1_000_000;

/// A job in each `period` (microseconds), which is its deadline too; load by [`Load`]. A release
/// that comes while the job before it still runs is skipped, with its work. Memory named by the
/// argument `server`: where it reports; without it nobody is told.
pub fn bursty(env: &Env) {
    let report = env.arg("server").map(|server| Report(env.mem(server)));
    let period = env.number("period", 40_000).us();
    let task = env.number("stream", 0) as usize;
    let mut load = Load::of(env);
    let mut next = || {
        let work = load.next();
        let part = u128::from(work) * 1_000_000 / period.as_nanos();
        report.into_iter().for_each(|report| report.asked(task, work, part as u64));
        work
    };
    // Releases of all tasks are on one grid, whenever each of them has begun.
    let mut ticker = Ticker::starting(Instant::BOOT + env.number("from", 50_000).us(), period);
    loop {
        let skipped = ticker.skip_to(Instant::now());
        (0..skipped).for_each(|_| {
            next();
        });
        let deadline = ticker.due() + period;
        time::sleep_until(ticker.pass());
        job(next(), deadline, report);
    }
}

/// Does a job.
fn job(mut work: u64, deadline: Instant, report: Option<Report>) {
    let mut now = Instant::now();
    let began_in_time = now <= deadline;
    while work > 0 {
        let piece = work.min(PIECE);
        system::work(piece);
        work -= piece;
        let before = core::mem::replace(&mut now, Instant::now());
        if let (true, Some(report)) = (before > deadline, report) {
            report.ran_behind(piece);
        }
    }
    if let (true, Some(report)) = (now > deadline, report) {
        let by = u64::try_from((now - deadline).as_nanos()).unwrap_or(u64::MAX);
        report.ended_late(by, began_in_time);
    }
}
