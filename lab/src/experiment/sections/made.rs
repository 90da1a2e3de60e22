//! What the loads made the kernel do, so that nothing is left out: each call, each kind of object
//! destroyed, each kind of fault and each way that a fault takes. All is counted from the traces,
//! and what there is to count is enumerated by `abi`: what is new there and in no load is an error.

use abi::Error;
use abi::call::{Call, ThreadState};
use abi::message::FaultKind;
use abi::object::Kind;
use abi::trace::{Event, entry};
use anyhow::{Result, ensure};
use std::collections::BTreeMap;
use trace::{Moment, Trace};

/// The way that a fault takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPath {
    /// The handler waits, and is told at once.
    Taken,
    /// The handler is busy: the thread queues.
    Queued,
    /// There is no handler: the console is told, and the thread stops.
    Unhandled,
    /// The thread is inside another domain, and leaves it; the console is told.
    Inside,
}

impl FaultPath {
    const ALL: [FaultPath; 4] =
        [FaultPath::Taken, FaultPath::Queued, FaultPath::Unhandled, FaultPath::Inside];

    /// The way of the fault in a section, if there was one.
    pub fn of(section: &[Moment]) -> Option<FaultPath> {
        let fault = section.iter().position(|moment| moment.event == Event::Fault)?;
        let thread = section[fault].thread;
        let told = |moment: &Moment| match moment.event {
            Event::Message => Some(FaultPath::Taken),
            Event::Queue => Some(FaultPath::Queued),
            Event::Block if moment.extra == ThreadState::Suspended as u16 => {
                Some(FaultPath::Unhandled)
            }
            Event::Fail if moment.argument == Error::Faulted as u32 => Some(FaultPath::Inside),
            // What such a thread held is given up in steps, between which others may come.
            Event::Preempt => Some(FaultPath::Unhandled),
            _ => None,
        };
        section[fault..].iter().filter(|moment| moment.thread == thread).find_map(told)
    }

    /// Whether the console is told, if the domain may still have it told.
    pub fn tells_console(self) -> bool {
        matches!(self, FaultPath::Unhandled | FaultPath::Inside)
    }
}

/// How often what was made, by what it is called in messages.
#[derive(Clone, Debug, Default)]
pub struct Made(BTreeMap<String, u64>);

fn call_name(call: Call) -> String {
    format!("the call `{call:?}` with success")
}

fn kind_name(kind: Kind) -> String {
    format!("the destruction of an object of kind `{kind:?}`")
}

fn fault_name(kind: FaultKind) -> String {
    format!("a fault of kind `{}`", kind.name())
}

fn path_name(path: FaultPath) -> String {
    format!("a fault on the way `{path:?}`")
}

impl Made {
    /// Counts what a trace of one CPU has.
    pub fn count(&mut self, trace: &Trace) {
        let enters = |moment: &Moment| moment.event == Event::Enter;
        let mut rest = &trace.moments[..];
        while let Some(first) = rest.iter().position(enters) {
            let behind = rest[first + 1..]
                .iter()
                .position(|moment| enters(moment) || moment.event == Event::Exit);
            let end = behind.map_or(rest.len(), |behind| first + 1 + behind);
            self.count_section(&rest[first..end]);
            rest = &rest[end..];
        }
    }

    /// Counts what lies between an entry of the kernel and the exit. The last call has none.
    fn count_section(&mut self, section: &[Moment]) {
        let (code, thread) = (section[0].argument, section[0].thread);
        // Nothing to read yet is no failure.
        let is_error = |code| code != Error::Timeout as u32;
        let failed = |moment: &Moment| {
            moment.event == Event::Fail && moment.thread == thread && is_error(moment.argument)
        };
        if code <= entry::LAST_CALL
            && let Some(call) = Call::from_number(code.into())
            && !section.iter().any(failed)
        {
            self.add(call_name(call));
        }
        for moment in section {
            let kind = Kind::ALL.into_iter().find(|kind| *kind as u32 == moment.argument);
            match (moment.event, kind) {
                (Event::Destroy, Some(kind)) => self.add(kind_name(kind)),
                (Event::Fault, _) => {
                    if let Some(kind) = FaultKind::from_code(moment.argument) {
                        self.add(fault_name(kind));
                    }
                }
                _ => {}
            }
        }
        if let Some(path) = FaultPath::of(section) {
            self.add(path_name(path));
        }
    }

    fn add(&mut self, what: String) {
        *self.0.entry(what).or_default() += 1;
    }

    /// Counts what others have made as well.
    pub fn add_all(&mut self, others: &Made) {
        for (what, count) in &others.0 {
            *self.0.entry(what.clone()).or_default() += count;
        }
    }

    /// What never was made, under a kernel with a scheduling tree or without.
    fn missing(&self, has_tree: bool) -> Vec<String> {
        let knows = |call: &Call| has_tree || !is_of_tree(*call);
        let calls = Call::ALL.into_iter().filter(knows).map(call_name);
        let kinds = Kind::ALL.into_iter().filter(|kind| ends(*kind, has_tree)).map(kind_name);
        // Those that no other kind means take the same ways.
        let named = |kind: &FaultKind| *kind != FaultKind::Other;
        let faults = FaultKind::ALL.into_iter().filter(named).map(fault_name);
        let paths = FaultPath::ALL.into_iter().map(path_name);
        let all = calls.chain(kinds).chain(faults).chain(paths);
        all.filter(|what| !self.0.contains_key(what)).collect()
    }

    /// Refuses loads that leave something out of what a kernel does, with a scheduling tree or
    /// without.
    ///
    /// # Errors
    /// Each call, destruction, kind and way of a fault that no trace has.
    pub fn check(&self, has_tree: bool) -> Result<()> {
        let missing = self.missing(has_tree).join(", ");
        ensure!(missing.is_empty(), "no load of `sections` makes {missing}: give it one");
        Ok(())
    }
}

/// Whether a kernel without a scheduling tree does not know a call.
fn is_of_tree(call: Call) -> bool {
    call != Call::Name
        && (Call::ReservationCreate as u8..=Call::TimeoutsFollow as u8).contains(&(call as u8))
}

/// Whether there are objects of a kind that calls destroy, where there is a tree or not.
fn ends(kind: Kind, has_tree: bool) -> bool {
    match kind {
        Kind::Reply | Kind::Console | Kind::System => false,
        Kind::Reservation => has_tree,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(event: Event, argument: u32) -> Moment {
        Moment { steps: 0, ns: 0, event, thread: 1, argument, extra: 0, cpu: 0, cost: 0 }
    }

    #[test]
    fn what_no_load_makes_is_named() {
        let mut made = Made::default();
        made.count_section(&[moment(Event::Enter, Call::Serve as u32)]);
        made.count_section(&[
            moment(Event::Enter, Call::Destroy as u32),
            moment(Event::Destroy, Kind::Train as u32),
        ]);
        let error = made.check(false).unwrap_err().to_string();
        assert!(error.contains("`TrainCreate`") && error.contains("`Inside`"), "{error}");
        assert!(!error.contains("`Serve`") && !error.contains("`Train`"), "{error}");
        assert!(!error.contains("Reservation"), "{error}");
        let error = made.check(true).unwrap_err().to_string();
        assert!(error.contains("`ReservationJoin`") && error.contains("`Reservation`"), "{error}");
    }

    #[test]
    fn what_several_runs_have_made_counts_together() {
        let (mut one, mut other) = (Made::default(), Made::default());
        other.count_section(&[moment(Event::Enter, Call::Reserve as u32)]);
        one.add_all(&other);
        let error = one.check(true).unwrap_err().to_string();
        assert!(!error.contains("`Reserve`") && error.contains("`ReservationSet`"), "{error}");
    }

    #[test]
    fn a_call_that_fails_is_not_made() {
        let mut made = Made::default();
        let fails = moment(Event::Fail, Error::Stale as u32);
        made.count_section(&[moment(Event::Enter, Call::Serve as u32), fails]);
        assert!(made.check(false).unwrap_err().to_string().contains("`Serve`"));
    }

    #[test]
    fn a_fault_inside_is_told_to_the_console_as_one_without_a_handler() {
        let fault = moment(Event::Fault, FaultKind::Memory as u32);
        let fails = moment(Event::Fail, Error::Faulted as u32);
        let path = FaultPath::of(&[fault, fails]);
        assert_eq!(path, Some(FaultPath::Inside));
        assert!(path.is_some_and(FaultPath::tells_console));
        assert_eq!(FaultPath::of(&[fault, moment(Event::Queue, 3)]), Some(FaultPath::Queued));
    }
}
