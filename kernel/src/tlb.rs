//! What is noted of changes of page tables, for TLB shootdowns ([`crate::smp`]).

use cells::Cell;

/// Proof that a change of page tables was noted: [`Shootdown::change`] makes it.
pub struct Change(());

impl Change {
    /// A change where there is one CPU: no other TLB is to be told.
    #[inline(always)]
    pub(crate) fn on_one_cpu() -> Change {
        Change(())
    }
}

/// A request that every CPU flushes its TLB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Requests are numbered in their order.
    pub(crate) number: u64,
    /// The CPU that need not, since it made all changes.
    pub(crate) by: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No TLB holds what was taken away.
    Complete,
    /// Something was changed since the last request; by one CPU, or by several.
    Changed { by: Option<u32> },
    /// The request was issued behind the last change.
    Requested(Ticket),
}

/// What became of the changes to an object's pages.
pub struct Shootdown(Cell<State>);

impl Shootdown {
    /// Nothing was changed.
    pub const fn new() -> Shootdown {
        Shootdown(Cell::new(State::Complete))
    }

    /// Notes a change that this CPU makes, and that it invalidates in its own TLB.
    pub fn change(&self, cpu: u32) -> Change {
        let by = match self.0.get() {
            State::Complete => Some(cpu),
            State::Changed { by } | State::Requested(Ticket { by, .. }) => {
                by.filter(|by| *by == cpu)
            }
        };
        self.0.set(State::Changed { by });
        Change(())
    }

    /// The request for the changes so far. `issue` is told which CPU need not flush, and returns
    /// the number.
    pub(crate) fn request(&self, issue: impl FnOnce(Option<u32>) -> u64) -> Ticket {
        let ticket = match self.0.get() {
            State::Complete => Ticket { number: 0, by: None },
            State::Changed { by } => Ticket { number: issue(by), by },
            State::Requested(ticket) => ticket,
        };
        self.0.set(State::Requested(ticket));
        ticket
    }

    /// Every CPU has done what a ticket asked for.
    pub(crate) fn complete(&self, ticket: Ticket) {
        if self.0.get() == State::Requested(ticket) {
            self.0.set(State::Complete);
        }
    }
}

impl Default for Shootdown {
    fn default() -> Self {
        Shootdown::new()
    }
}
