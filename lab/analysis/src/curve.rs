//! Service curves (ledger S4-01, S4-02), in exact integers.

use crate::error::require;
use crate::supply::SECOND;
use crate::task::{Task, Work};
use crate::verdict::{Bound, Excess};
use crate::{AnalysisError, Steps, Supply, Time};

/// Two lines: `first` on `[0, bend)`, `rest` after. Slopes are ns of CPU time per second, at most
/// 10^9, so a slope of 0.1 % is 10^6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceCurve {
    first: Time,
    bend: Time,
    rest: Time,
}

/// What service curves do not say: how late the scheduler may be. Under hierarchical fair service
/// curves a deadline is that of the whole next quantum, and holds but for a stretch without
/// rescheduling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granularity {
    /// The expected run until the next rescheduling point (`hat_c` of ledger S4-03), in ns.
    pub quantum: Time,
    /// The longest run without a rescheduling point, in ns.
    pub non_preemptive: Time,
}

impl ServiceCurve {
    /// Slope `first` for `bend` ns and `rest` from then on. Refuses slopes above 10^9 and a curve
    /// that is zero.
    pub fn new(first: Time, bend: Time, rest: Time) -> Result<ServiceCurve, AnalysisError> {
        const NAME: &str = "service curve";
        for slope in [first, rest] {
            require(slope <= SECOND, NAME, "slope", "at most a second per second", slope)?;
        }
        let zero = rest == 0 && (first == 0 || bend == 0);
        require(!zero, NAME, "slope", "above zero somewhere", 0)?;
        Ok(ServiceCurve { first, bend, rest })
    }

    /// A slope from the beginning.
    pub fn rate(rate: Time) -> Result<ServiceCurve, AnalysisError> {
        ServiceCurve::new(rate, 0, rate)
    }

    /// A whole CPU.
    pub const WHOLE: ServiceCurve = ServiceCurve { first: SECOND, bend: 0, rest: SECOND };

    /// Its slope before the bend, in ns per second.
    pub fn first(&self) -> Time {
        self.first
    }

    /// Where the second slope begins, in ns.
    pub fn bend(&self) -> Time {
        self.bend
    }

    /// Its slope in the long run, in ns per second.
    pub fn long_run(&self) -> Time {
        self.rest
    }

    /// S(t) in 10^-9 ns.
    fn exact(&self, time: Time) -> Work {
        let first = time.min(self.bend);
        Work::from(first) * Work::from(self.first)
            + Work::from(time - first) * Work::from(self.rest)
    }

    /// S(t): the least service within `time` of becoming runnable, in ns, rounded down.
    pub fn service(&self, time: Time) -> Time {
        (self.exact(time) / Work::from(SECOND)) as Time
    }

    /// The least t with S(t) >= `service`, `None` if it exceeds 2^64 ns.
    pub fn time_for(&self, service: u128) -> Option<Time> {
        let wanted = Work::from(Time::try_from(service).ok()?) * Work::from(SECOND);
        let bent = Work::from(self.bend) * Work::from(self.first);
        let over = |work: Work, slope: Time| (slope > 0).then(|| work.div_ceil(slope.into()));
        let time = match wanted.checked_sub(bent) {
            None | Some(0) if wanted == 0 => 0,
            None | Some(0) => over(wanted, self.first)?,
            Some(rest) => Work::from(self.bend) + over(rest, self.rest)?,
        };
        Time::try_from(time).ok()
    }

    /// Admission (ledger S4-02): where the children's curves are more than this one together;
    /// `None` if they fit. Curves are compared at each bend and in the final slope, which is
    /// exact. The demand and the supply are rounded towards the verdict.
    pub fn admit(&self, children: &[ServiceCurve]) -> Option<Excess> {
        let asked = |time| children.iter().map(|child| child.exact(time)).sum::<Work>();
        let excess = |instant: Time| {
            let (asked, given) = (asked(instant), self.exact(instant));
            (asked > given).then(|| Excess {
                instant,
                demand: asked.div_ceil(Work::from(SECOND)),
                supply: self.service(instant),
                first: false,
            })
        };
        let mut bends: Vec<Time> = children.iter().map(|child| child.bend).collect();
        bends.push(self.bend);
        bends.sort_unstable();
        let at_bends = bends.iter().copied().find_map(excess);
        let slope: Work = children.iter().map(|child| Work::from(child.rest)).sum();
        let steeper = slope.checked_sub(self.rest.into()).filter(|steeper| *steeper > 0);
        at_bends.or_else(|| {
            // Behind the last bend the children gain on this curve until they pass it.
            let last = bends.last().copied().unwrap_or(0);
            let ahead = self.exact(last) - asked(last);
            // A second shows by how much, where that is not earlier.
            let crossing = (Work::from(last) + ahead / steeper? + 1).max(SECOND.into());
            Some(Time::try_from(crossing).ok().and_then(excess).unwrap_or(Excess {
                instant: SECOND,
                demand: slope,
                supply: self.rest,
                first: false,
            }))
        })
    }

    /// The longest time from a job's arrival to its completion for a task that this curve serves
    /// alone: the horizontal distance between arrivals and service, later by the granularity and
    /// by `delay`, by which the curve's own supply may be late.
    ///
    /// ```text
    /// max over k >= 1 of S^-1(k C + quantum) - (k - 1) T + J + non-preemptive + delay
    /// ```
    ///
    /// Fails if the task can be blocked: it would not be runnable then.
    pub fn response(
        &self,
        task: &Task,
        granularity: Granularity,
        delay: Time,
        steps: &mut Steps,
    ) -> Result<Option<Bound>, AnalysisError> {
        task.check()?;
        if task.blocking > 0 {
            let what = "blocking under service curves";
            return Err(AnalysisError::Unsupported { name: task.name.clone(), what });
        }
        let [cost, period] = [task.execution, task.period].map(Work::from);
        if cost * Work::from(SECOND) > Work::from(self.rest) * period {
            return Ok(None);
        }
        let late =
            Work::from(task.jitter) + Work::from(granularity.non_preemptive) + Work::from(delay);
        let quantum = Work::from(granularity.quantum);
        let end = |jobs: Work| self.time_for(jobs.saturating_mul(cost).saturating_add(quantum));
        // The distance grows only where the slope is below the task's, before the bend.
        let grows = cost * Work::from(SECOND) > Work::from(self.first) * period;
        let (mut jobs, mut worst) = (1, (0, 1));
        loop {
            steps.take(1)?;
            let end = end(jobs).ok_or(AnalysisError::Horizon)?;
            let distance = Work::from(end).saturating_sub((jobs - 1) * period);
            worst = worst.max((distance, jobs));
            if !grows || end >= self.bend {
                break;
            }
            jobs += 1;
        }
        let response = Time::try_from(worst.0 + late).map_err(|_| AnalysisError::Horizon)?;
        let excess = (response > task.deadline).then(|| {
            let due = (worst.1 - 1) * period + Work::from(task.deadline);
            let instant = Time::try_from(due.saturating_sub(late)).unwrap_or(Time::MAX);
            let demand = worst.1 * cost + quantum;
            Excess { instant, demand, supply: self.service(instant), first: false }
        });
        Ok(Some(Bound { response, excess }))
    }

    /// What several tasks get from it in any interval in which one of them is ready, wherever that
    /// begins: its final slope after a delay. A class is served no further ahead than its curve
    /// for eligible times, no further behind than its deadline curve, each but for a quantum.
    pub fn supply(&self, granularity: Granularity, delay: Time) -> Result<Supply, AnalysisError> {
        const NAME: &str = "service curve";
        require(self.rest > 0, NAME, "final slope", "above zero to serve a class", 0)?;
        let convex = Work::from(self.rest.saturating_sub(self.first)) * Work::from(self.bend);
        let behind = convex + 2 * Work::from(granularity.quantum) * Work::from(SECOND);
        let later = behind.div_ceil(self.rest.into())
            + Work::from(granularity.non_preemptive)
            + Work::from(delay);
        let later = Time::try_from(later).map_err(|_| AnalysisError::Horizon)?;
        Supply::bounded_delay(self.rest, later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERCENT: Time = SECOND / 100;

    fn curve(first: Time, bend: Time, rest: Time) -> ServiceCurve {
        ServiceCurve::new(first, bend, rest).unwrap()
    }

    fn response(curve: ServiceCurve, task: &Task, granularity: Granularity) -> Option<Bound> {
        curve.response(task, granularity, 0, &mut Steps::new(100_000)).unwrap()
    }

    prop_compose! {
        fn curves(most: Time)(
            first in 0..most, bend in 0..40u64, rest in 1..most,
        ) -> ServiceCurve {
            curve(first, bend, rest)
        }
    }

    proptest! {
        #[test]
        fn times_are_inverse_to_service(curve in curves(SECOND), service in 1..100u64) {
            let time = curve.time_for(service.into()).unwrap();
            prop_assert!(curve.service(time) >= service && curve.service(time - 1) < service);
        }

        #[test]
        fn admission_is_exact(
            parent in curves(SECOND), children in prop::collection::vec(curves(SECOND / 2), 1..5),
        ) {
            let asked = |t| children.iter().map(|child| child.exact(t)).sum::<Work>();
            let far = SECOND * 100;
            let exceeds = |t: &Time| asked(*t) > parent.exact(*t);
            let by_hand = (0..100).chain([far]).find(exceeds);
            let found = parent.admit(&children);
            prop_assert_eq!(found.is_some(), by_hand.is_some(), "{:?}", by_hand);
            prop_assert!(found.is_none_or(|found| exceeds(&found.instant)));
        }

        #[test]
        fn the_distance_is_the_longest(
            curve in curves(SECOND), cost in 1..20u64, period in 1..60u64, quantum in 0..5u64,
        ) {
            let task = Task::new("a", cost, period);
            let granularity = Granularity { quantum, non_preemptive: 3 };
            let found = response(curve, &task, granularity).map(|bound| bound.response);
            let end = |jobs: u64| curve.time_for((jobs * cost + quantum).into()).unwrap();
            let distances = (1..500).map(|jobs| end(jobs).saturating_sub((jobs - 1) * period) + 3);
            match found {
                Some(found) => prop_assert_eq!(found, distances.max().unwrap()),
                None => prop_assert!(cost * SECOND > period * curve.rest),
            }
        }
    }

    #[test]
    fn aggregates_above_the_cpu_are_refused() {
        // Of ledger S4-04: both reach 1.8 together between 10 and 20 ms, if they begin apart;
        // at once they fit until the concave one's bend.
        let ms = 1_000_000;
        let convex = curve(10 * PERCENT, 10 * ms, 90 * PERCENT);
        let concave = curve(90 * PERCENT, 10 * ms, 10 * PERCENT);
        assert_eq!(ServiceCurve::WHOLE.admit(&[convex, concave]), None);
        let excess = ServiceCurve::WHOLE.admit(&[concave, concave]).unwrap();
        assert_eq!(excess.to_string(), "demand 18ms by 10ms, supply 10ms");
        let flat = ServiceCurve::rate(60 * PERCENT).unwrap();
        let excess = ServiceCurve::WHOLE.admit(&[flat, flat]).unwrap();
        assert_eq!(excess.to_string(), "demand 1.2s by 1s, supply 1s");
    }

    #[test]
    fn a_concave_curve_answers_sooner_than_a_rate() {
        let second = SECOND;
        let task = Task::new("udp", 30_000_000, 3 * second);
        let concave = curve(9 * PERCENT, 3 * second, PERCENT);
        let linear = ServiceCurve::rate(PERCENT * 9 / 2).unwrap();
        let [soon, late] = [concave, linear]
            .map(|curve| response(curve, &task, Granularity::default()).unwrap().response);
        assert_eq!((soon, late), (333_333_334, 666_666_667));
        let quantum = Granularity { quantum: 1_000_000, non_preemptive: 1_000_000 };
        let bound = response(concave, &task, quantum).unwrap();
        assert_eq!(bound.response, 344_444_445 + 1_000_000);
        assert_eq!(response(ServiceCurve::rate(PERCENT / 2).unwrap(), &task, quantum), None);
    }

    #[test]
    fn curves_that_mean_nothing_are_refused() {
        assert!(ServiceCurve::new(0, 5, 0).is_err());
        assert!(ServiceCurve::new(5, 0, 0).is_err());
        assert!(ServiceCurve::new(SECOND + 1, 0, 1).is_err());
        assert!(ServiceCurve::rate(0).is_err());
        let ends = curve(5, u64::MAX, 0);
        assert_eq!(ends.time_for(u128::MAX), None);
        assert!(ends.supply(Granularity::default(), 0).is_err());
        let most = Granularity { quantum: u64::MAX, non_preemptive: u64::MAX };
        assert!(curve(0, u64::MAX, 1).supply(most, u64::MAX).is_err());
        let task = Task::new("a", 1, u64::MAX);
        let found = curve(1, 0, 1).response(&task, most, u64::MAX, &mut Steps::new(100));
        assert_eq!(found, Err(AnalysisError::Horizon));
    }
}
