//! Jobs under service curves that are served in segments: by one leaf for a while, then by another
//! one, or by the same after a sleep.

use crate::curve::{Granularity, ServiceCurve};
use crate::supply::SECOND;
use crate::task::{Task, Work};
use crate::verdict::{Bound, Excess};
use crate::{AnalysisError, Supply, Time};

/// How the jobs of a task are served that shares with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segments {
    /// In how many segments, at most.
    pub count: Time,
    /// The curves that can serve one beside the task's own.
    pub by: Vec<ServiceCurve>,
}

impl Segments {
    /// The longest time from a job's arrival to its completion, if no job arrives before the one
    /// before it is complete: in each segment whichever leaf serves it is ready all the time, and
    /// has its last slope after a delay, whatever it has had before ([`ServiceCurve::supply`]).
    ///
    /// ```text
    /// C / (least slope) + segments x (greatest delay) + J
    /// ```
    ///
    /// # Errors
    /// That is more than a period.
    pub fn response(
        &self,
        own: ServiceCurve,
        task: &Task,
        granularity: Granularity,
        delay: Time,
    ) -> Result<Option<Bound>, AnalysisError> {
        task.check()?;
        let curves = || self.by.iter().chain([&own]);
        let supplies = curves().map(|curve| curve.supply(granularity, delay));
        let supplies = supplies.collect::<Result<Vec<Supply>, _>>()?;
        let slope = curves().map(ServiceCurve::long_run).min().unwrap_or(own.long_run());
        let later = supplies.iter().map(Supply::delay).max().unwrap_or(0);
        let lost = later.saturating_mul(self.count.into()).saturating_add(task.jitter.into());
        let cost = Work::from(task.execution);
        let served = (cost * Work::from(SECOND)).div_ceil(Work::from(slope));
        let response = Time::try_from(served.saturating_add(lost)).unwrap_or(Time::MAX);
        if response > task.period {
            let what = "a job that shares under a service curve and may not end within its period";
            return Err(AnalysisError::Unsupported { name: task.name.clone(), what });
        }
        let excess = (response > task.deadline).then(|| {
            let left = Work::from(task.deadline).saturating_sub(lost);
            let supply = (left * Work::from(slope) / Work::from(SECOND)) as Time;
            Excess { instant: task.deadline, demand: cost, supply, first: false }
        });
        Ok(Some(Bound { response, excess }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Time = 1_000_000;
    const PERCENT: Time = SECOND / 100;
    const GRANULARITY: Granularity = Granularity { quantum: MS, non_preemptive: MS };

    fn response(count: Time, by: &[ServiceCurve], task: &Task) -> Result<Bound, AnalysisError> {
        let own = ServiceCurve::rate(20 * PERCENT)?;
        let segments = Segments { count, by: by.to_vec() };
        segments.response(own, task, GRANULARITY, 500).map(|bound| bound.expect("a bound"))
    }

    /// By hand: 2 ms by a fifth of the CPU are 10 ms, and each segment begins up to 2 / 0.2 + 1 ms
    /// and 500 ns late.
    #[test]
    fn each_segment_has_a_delay() {
        let task = Task::new("t", 2 * MS, 100 * MS);
        for count in 1..=8 {
            let bound = response(count, &[], &task).unwrap();
            assert_eq!(bound, Bound { response: 10 * MS + count * (11 * MS + 500), excess: None });
        }
        assert!(response(9, &[], &task).is_err());
        let late = response(8, &[], &task.deadline(60 * MS)).unwrap().excess.unwrap();
        assert_eq!((late.instant, late.supply), (60 * MS, 0));
    }

    /// The least slope and the greatest delay count: of a curve that is flat for 20 ms, that of
    /// 20 + 2 / 0.4 + 1 ms.
    #[test]
    fn the_slowest_curve_counts() {
        let task = Task::new("t", 2 * MS, 100 * MS);
        let [steep, flat] = [(40, 0, 40), (0, 20 * MS, 40)].map(|(first, bend, rest)| {
            ServiceCurve::new(first * PERCENT, bend, rest * PERCENT).unwrap()
        });
        let of = |by: &[ServiceCurve]| response(2, by, &task).unwrap().response;
        assert_eq!(of(&[steep]), 32 * MS + 1_000);
        assert_eq!(of(&[steep, flat]), 10 * MS + 2 * (26 * MS + 500));
    }
}
