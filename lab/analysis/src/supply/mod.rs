//! Supply bound functions: the least CPU time that a class gets in any interval of some length.
//!
//! All of them are superadditive, `sbf(s + t) >= sbf(s) + sbf(t)`, which the tests rely on.

mod linear;
mod periodic;
mod windows;

pub use linear::Linear;
pub use periodic::Periodic;
pub use windows::{Window, Windows};

use crate::error::require;
use crate::task::Work;
use crate::{AnalysisError, Time};

/// A guaranteed supply of CPU time. Values are valid by construction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supply {
    form: Form,
    single: bool,
}

/// The kinds of bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Whole,
    Periodic(Periodic),
    Linear(Linear),
    Windows(Windows),
}

impl From<Form> for Supply {
    fn from(form: Form) -> Supply {
        Supply { form, single: false }
    }
}

impl Supply {
    /// A CPU that does nothing else.
    pub fn whole() -> Supply {
        Form::Whole.into()
    }

    /// A periodic server that gets `budget` in each period, at whatever time of it: sbf of
    /// ledger S2B-04. `0 < budget <= period`, in ns.
    pub fn periodic(period: Time, budget: Time) -> Result<Supply, AnalysisError> {
        Supply::periodic_within(period, budget, period)
    }

    /// A periodic server inside another supply, whose budget is delivered within `response` of
    /// the beginning of each period: the parent's response-time bound of the server.
    /// `budget <= response <= period`, in ns.
    pub fn periodic_within(
        period: Time,
        budget: Time,
        response: Time,
    ) -> Result<Supply, AnalysisError> {
        check_server(period, budget)?;
        require(
            (budget..=period).contains(&response),
            SERVER,
            "response time",
            "from the budget to the period",
            response,
        )?;
        let full = budget == period;
        Ok(if full { Form::Whole } else { Form::Periodic(Periodic::new(period, budget, response)) }
            .into())
    }

    /// lsbf of ledger S2B-04, a line below the periodic server's sbf: rate `budget/period` after
    /// a delay of `2 (period - budget)`.
    pub fn linear(period: Time, budget: Time) -> Result<Supply, AnalysisError> {
        check_server(period, budget)?;
        let delay = 2 * (Work::from(period) - Work::from(budget));
        Ok(Form::Linear(Linear { budget, period, delay }).into())
    }

    /// A hard constant-bandwidth server: a used-up budget comes back at the server's deadline.
    /// While it has work it supplies no less than a periodic server.
    pub fn hard_cbs(period: Time, budget: Time) -> Result<Supply, AnalysisError> {
        Supply::periodic(period, budget)
    }

    /// A soft constant-bandwidth server (ledger S2B-01): a used-up budget comes back at once with
    /// a later deadline. Rate `budget/period` after a delay of `period - budget`, for one task
    /// alone: with several, one can move the deadline of all arbitrarily far.
    pub fn soft_cbs(period: Time, budget: Time) -> Result<Supply, AnalysisError> {
        check_server(period, budget)?;
        let delay = Work::from(period) - Work::from(budget);
        Ok(Supply { form: Form::Linear(Linear { budget, period, delay }), single: true })
    }

    /// A sporadic server: each unit of budget comes back one period after it was ready to be
    /// used, and is supplied within a period of that. As the parts of a budget that was used in
    /// parts come back singly, this is the periodic server's sbf, later by `budget`.
    pub fn sporadic(period: Time, budget: Time) -> Result<Supply, AnalysisError> {
        check_server(period, budget)?;
        if budget == period {
            return Ok(Supply::whole());
        }
        Ok(Form::Periodic(Periodic::later(period, budget, budget)).into())
    }

    /// The windows of one partition in a major frame (ledger S2D-07), in ns: exact sbf over all
    /// instants of the frame. Windows may have any order and touch, and must not overlap.
    pub fn windows(frame: Time, windows: &[Window]) -> Result<Supply, AnalysisError> {
        let windows = Windows::new(frame, windows)?;
        Ok(if windows.total() == frame { Form::Whole } else { Form::Windows(windows) }.into())
    }

    /// Rate `rate` (ns of CPU time per second, 1 to 10^9) after `delay` ns.
    pub fn bounded_delay(rate: Time, delay: Time) -> Result<Supply, AnalysisError> {
        check_server(SECOND, rate)?;
        let linear = Linear { budget: rate, period: SECOND, delay: delay.into() };
        Ok(Form::Linear(linear).into())
    }

    /// sbf: the least CPU time in any interval of length `length`, in ns.
    pub fn provided(&self, length: Time) -> Time {
        match &self.form {
            Form::Whole => length,
            Form::Periodic(periodic) => periodic.provided(length),
            Form::Linear(linear) => linear.provided(length),
            Form::Windows(windows) => windows.provided(length),
        }
    }

    /// The shortest length of which every interval has `demand`; `None` if it exceeds 2^64 ns.
    pub fn time_for(&self, demand: u128) -> Option<Time> {
        if demand == 0 {
            return Some(0);
        }
        let demand = Time::try_from(demand).ok()?;
        match &self.form {
            Form::Whole => Some(demand),
            Form::Periodic(periodic) => periodic.time_for(demand),
            Form::Linear(linear) => linear.time_for(demand),
            Form::Windows(windows) => windows.time_for(demand),
        }
    }

    /// `(period, budget)`: once the supply has begun, `sbf(t + period) = sbf(t) + budget`.
    pub fn cycle(&self) -> (Time, Time) {
        match &self.form {
            Form::Whole => (1, 1),
            Form::Periodic(periodic) => periodic.cycle(),
            Form::Linear(linear) => (linear.period, linear.budget),
            Form::Windows(windows) => (windows.frame(), windows.total()),
        }
    }

    /// The least delay after which a line with the rate of [`Supply::cycle`] is nowhere above
    /// sbf, in ns, rounded up.
    pub fn delay(&self) -> u128 {
        match &self.form {
            Form::Whole => 0,
            Form::Periodic(periodic) => periodic.delay(),
            Form::Linear(linear) => linear.delay,
            Form::Windows(windows) => windows.delay(),
        }
    }

    /// Whether nothing else runs on the CPU.
    pub fn is_whole(&self) -> bool {
        self.form == Form::Whole
    }

    /// Whether the bound holds for one task alone.
    pub fn is_for_one_task(&self) -> bool {
        self.single
    }

    /// The terms of one evaluation.
    pub(crate) fn terms(&self) -> usize {
        match &self.form {
            Form::Windows(windows) => windows.terms(),
            _ => 1,
        }
    }
}

/// A second, in ns.
pub(crate) const SECOND: Time = 1_000_000_000;

const SERVER: &str = "server";

fn check_server(period: Time, budget: Time) -> Result<(), AnalysisError> {
    require(period > 0, SERVER, "period", "above zero", period)?;
    let good = (1..=period).contains(&budget);
    require(good, SERVER, "budget", "from 1 ns to the period", budget)
}
