//! What asks for CPU time: tasks, streams of interference, reservations.

use crate::error::require;
use crate::{AnalysisError, Time};

/// Work, as a sum over many jobs.
pub(crate) type Work = u128;

/// A sporadic or periodic task: one job after the other, preemptible, never suspended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What messages call it.
    pub name: String,
    /// C: the longest execution time of a job, in ns, at least 1.
    pub execution: Time,
    /// T: the period, or the least time between two arrivals, in ns, at least 1.
    pub period: Time,
    /// D: from a job's arrival to when it must be complete, in ns, at least 1. May exceed T; then
    /// a job begins when its predecessor is complete.
    pub deadline: Time,
    /// J: from a job's arrival to when it is ready at the latest, in ns.
    pub jitter: Time,
    /// B: how long less urgent tasks delay a job at most (locks, non-preemptible sections), in ns.
    pub blocking: Time,
    /// Greater is more urgent, as in the kernel. EDF ignores it.
    pub priority: u32,
    /// What the kernel lets a job use if it takes longer than C, in ns: others have to reckon with
    /// that. Below C it means nothing.
    pub limit: Time,
}

impl Task {
    /// A task with its deadline at the end of the period, no jitter, no blocking and priority 0.
    pub fn new(name: &str, execution: Time, period: Time) -> Task {
        Task {
            name: name.to_string(),
            execution,
            period,
            deadline: period,
            jitter: 0,
            blocking: 0,
            priority: 0,
            limit: execution,
        }
    }

    /// The same with a deadline.
    pub fn deadline(self, deadline: Time) -> Task {
        Task { deadline, ..self }
    }

    /// The same with a release jitter.
    pub fn jitter(self, jitter: Time) -> Task {
        Task { jitter, ..self }
    }

    /// The same with blocking.
    pub fn blocking(self, blocking: Time) -> Task {
        Task { blocking, ..self }
    }

    /// The same with a priority.
    pub fn priority(self, priority: u32) -> Task {
        Task { priority, ..self }
    }

    /// The same for which others have to reckon with `limit`.
    pub fn limit(self, limit: Time) -> Task {
        Task { limit, ..self }
    }

    /// The task as others have to see it: all its jobs use what they may.
    pub(crate) fn at_its_limit(&self) -> Task {
        Task { execution: self.execution.max(self.limit), ..self.clone() }
    }

    pub(crate) fn check(&self) -> Result<(), AnalysisError> {
        let field = |field, value| require(value > 0, &self.name, field, "above zero", value);
        field("execution time", self.execution)?;
        field("period", self.period)?;
        field("deadline", self.deadline)
    }

    /// Its jobs as a stream.
    pub(crate) fn stream(&self) -> Stream {
        Stream { cost: self.execution, period: self.period, jitter: self.jitter }
    }

    /// How many jobs can both arrive and be due in an interval that ends at `end` and begins when
    /// the first of them is released: with deadlines at D - J, D - J + T, ...
    pub(crate) fn due(&self, end: i128) -> Work {
        let first = self.first_due();
        if end < first { 0 } else { ((end - first) / i128::from(self.period)) as Work + 1 }
    }

    /// D - J.
    pub(crate) fn first_due(&self) -> i128 {
        i128::from(self.deadline) - i128::from(self.jitter)
    }
}

/// Work that comes before everything else: interrupts, or threads of a more urgent partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The cost of one occurrence, in ns.
    pub cost: Time,
    /// The least time between two, in ns, at least 1.
    pub period: Time,
    /// By how much one can be late, in ns.
    pub jitter: Time,
}

impl Stream {
    pub(crate) fn check(&self, name: &str) -> Result<(), AnalysisError> {
        require(self.period > 0, name, "period of interference", "above zero", 0)
    }

    /// How many occur in an interval of length `length` that is open at its end.
    pub(crate) fn released(&self, length: Time) -> Work {
        if length == 0 {
            return 0;
        }
        (Work::from(length) + Work::from(self.jitter)).div_ceil(Work::from(self.period))
    }

    /// The work that is released in such an interval.
    pub(crate) fn work(&self, length: Time) -> Work {
        self.released(length).saturating_mul(Work::from(self.cost))
    }
}

/// A constant-bandwidth server seen from its EDF siblings: in no interval is more than its share
/// due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// Q, in ns.
    pub budget: Time,
    /// T, in ns, at least Q.
    pub period: Time,
}

impl Reservation {
    /// The work due in an interval of this length, in 2^-32 ns, rounded up.
    pub(crate) fn due(&self, length: Time) -> Work {
        // Q <= T, so the quotient is at most `length` times 2^32.
        let whole = Work::from(length) * Work::from(self.budget);
        let period = Work::from(self.period);
        let (quotient, rest) = (whole / period, whole % period);
        (quotient << 32) + (rest << 32).div_ceil(period)
    }
}

/// What runs on one supply under one policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// What comes before all of them.
    pub interference: Vec<Stream>,
    /// Constant-bandwidth servers beside them; for EDF alone.
    pub reservations: Vec<Reservation>,
    /// By how much a scheduler can take a job's deadline for later than it is, in ns: as late as it
    /// sees releases. For EDF alone.
    pub blur: Time,
}

impl Workload {
    /// These tasks and nothing else.
    pub fn of(tasks: &[Task]) -> Workload {
        Workload { tasks: tasks.to_vec(), ..Workload::default() }
    }

    /// The same as task `index` has to see it: all others at their limits.
    pub(crate) fn seen_by(&self, index: Option<usize>) -> Workload {
        let task = |(place, task): (usize, &Task)| match Some(place) == index {
            true => task.clone(),
            false => task.at_its_limit(),
        };
        let tasks = self.tasks.iter().enumerate().map(task).collect();
        Workload { tasks, ..self.clone() }
    }

    /// The terms of one evaluation of its demand.
    pub(crate) fn terms(&self) -> usize {
        self.tasks.len() + self.interference.len() + self.reservations.len()
    }

    pub(crate) fn check(&self) -> Result<(), AnalysisError> {
        self.tasks.iter().try_for_each(Task::check)?;
        self.interference.iter().try_for_each(|stream| stream.check("interference"))?;
        for Reservation { budget, period } in &self.reservations {
            require(*period > 0, "reservation", "period", "above zero", *period)?;
            require(budget <= period, "reservation", "budget", "at most the period", *budget)?;
        }
        Ok(())
    }

    /// The work of all interference in an interval that is open at its end.
    pub(crate) fn interference(&self, length: Time) -> Work {
        total(self.interference.iter().map(|stream| stream.work(length)))
    }

    /// What all reservations have due in an interval of this length. Time is counted in whole ns
    /// and budgets are too, so the fraction that remains is never due.
    pub(crate) fn reserved(&self, length: Time) -> Work {
        total(self.reservations.iter().map(|reservation| reservation.due(length))) >> 32
    }
}

/// A sum that stays at its greatest value: then it exceeds every supply.
pub(crate) fn total(works: impl Iterator<Item = Work>) -> Work {
    works.fold(0, Work::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_counted_at_the_edges() {
        let stream = Stream { cost: 3, period: 10, jitter: 4 };
        let counts = [0, 1, 6, 7, 16, 17].map(|length| stream.released(length));
        assert_eq!(counts, [0, 1, 1, 2, 2, 3]);
        let task = Task::new("a", 3, 10).deadline(25).jitter(4);
        assert_eq!([-1, 20, 21, 30, 31].map(|end| task.due(end)), [0, 0, 1, 1, 2]);
        assert_eq!(Task::new("a", 1, 10).deadline(5).jitter(7).due(0), 1);
    }

    #[test]
    fn the_greatest_numbers_do_not_overflow() {
        let most = Time::MAX;
        let task = Task::new("a", most, 1).jitter(most);
        assert_eq!(task.stream().work(most), Work::MAX, "stays at the top");
        assert_eq!(task.due(i128::from(most)), 2 * Work::from(most));
        let reservation = Reservation { budget: most, period: most };
        assert_eq!(reservation.due(most) >> 32, Work::from(most));
    }

    #[test]
    fn thirds_make_a_whole() {
        let third = Reservation { budget: 1, period: 3 };
        let workload = Workload { reservations: vec![third; 3], ..Workload::default() };
        assert_eq!([1, 2, 100].map(|length| workload.reserved(length)), [1, 2, 100]);
    }
}
