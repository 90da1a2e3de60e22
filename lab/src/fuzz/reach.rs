//! What fuzzing came across: which calls ended in which way.

use abi::Error;
use abi::call::Call;
use serde_json::{Value, json};
use twin_protocol::{Calls, End, Outcome};

/// Errors of a call that looks capabilities up.
const NAMING: &[Error] =
    &[Error::NoCapability, Error::WrongKind, Error::Stale, Error::MissingRight];
/// Errors of a call that creates an object in a slot.
const CREATING: &[Error] =
    &[Error::NoCapability, Error::SlotOccupied, Error::QuotaExceeded, Error::PoolExhausted];

/// The errors that a call can end with, beside those of [`NAMING`] and [`CREATING`]; whether it
/// looks capabilities up and whether it creates.
fn errors(call: Call) -> (bool, bool, &'static [Error]) {
    use Error::*;
    match call {
        Call::Ipc => (
            true,
            false,
            &[
                InvalidArgument,
                NoReply,
                SelfSend,
                Timeout,
                TooLong,
                NoBuffer,
                NotTaken,
                Destroyed,
                Cancelled,
                Abandoned,
            ],
        ),
        Call::Call => {
            (true, false, &[TooLong, NoBuffer, NotTaken, Destroyed, Cancelled, Abandoned])
        }
        Call::ReplyWait => (true, false, &[TooLong, Destroyed, Cancelled]),
        Call::Signal | Call::CapDelete | Call::ThreadResume | Call::ThreadSuspend => {
            (true, false, &[])
        }
        Call::ThreadInspect | Call::TimerSet | Call::InterruptAck | Call::MemoryAddress => {
            (true, false, &[])
        }
        Call::InterruptRoute | Call::PortRead | Call::PortWrite => {
            (true, false, &[InvalidArgument])
        }
        Call::Yield => (true, false, &[WrongState]),
        Call::Null | Call::Clock => (false, false, &[]),
        Call::Fact => (false, false, &[InvalidArgument]),
        Call::CapCopy => (true, false, &[SlotOccupied, InvalidArgument]),
        Call::CapRevoke => (true, false, &[]),
        Call::CapSaveReply => (false, false, &[NoCapability, NoReply, SlotOccupied]),
        Call::CapInspect => (false, false, &[NoCapability, Stale]),
        Call::Destroy => (true, false, &[WrongState]),
        Call::EndpointCreate => (true, true, &[WrongState]),
        Call::NotificationCreate => (false, true, &[]),
        Call::TimerCreate => (true, true, &[]),
        Call::MemoryCreate => (false, true, &[InvalidArgument]),
        Call::Map => (true, true, &[InvalidArgument, BadAddress, AddressInUse, WriteExecute]),
        Call::Protect => (true, false, &[WriteExecute, InvalidArgument]),
        Call::DomainCreate => (false, true, &[InvalidArgument, PriorityTooHigh]),
        Call::DomainGrant => (true, false, &[SlotOccupied]),
        Call::ThreadCreate => {
            (true, true, &[InvalidArgument, PriorityTooHigh, BadAddress, AddressInUse])
        }
        Call::ThreadExchange => (true, false, &[WrongState, InvalidArgument, BadAddress]),
        Call::ThreadPriority => (true, false, &[InvalidArgument, PriorityTooHigh]),
        Call::ThreadMigrate => (true, false, &[InvalidArgument]),
        // The kernels that are fuzzed have no scheduling tree.
        Call::ReservationCreate
        | Call::ReservationSet
        | Call::ReservationJoin
        | Call::Reserve
        | Call::ReservationInspect => (false, false, &[UnknownCall]),
        Call::Name => (true, false, &[InvalidArgument, WrongState]),
        // The console is always ready here.
        Call::ConsoleWrite => (true, false, &[InvalidArgument]),
        Call::ConsoleRead => (true, false, &[Timeout]),
        Call::Shutdown => (true, false, &[]),
        Call::Inspect => (true, false, &[InvalidArgument]),
        Call::Observe => (true, false, &[InvalidArgument, WrongState]),
        _ => errors_of_waits(call),
    }
}

/// The same of calls on mutexes, conditions and trains.
fn errors_of_waits(call: Call) -> (bool, bool, &'static [Error]) {
    use Error::*;
    match call {
        Call::MutexWait | Call::CondWait => {
            (false, false, &[InvalidArgument, BadAddress, Changed, Timeout, Cancelled])
        }
        Call::MutexWake => (false, false, &[BadAddress, BrokenQueue]),
        Call::InheritWait => {
            (false, false, &[InvalidArgument, BadAddress, Changed, BrokenQueue, Timeout])
        }
        Call::InheritWake => (false, false, &[InvalidArgument, BadAddress, WrongState]),
        Call::Ceiling => (false, false, &[InvalidArgument, PriorityTooHigh]),
        Call::Serve => (true, false, &[InvalidArgument, HelpsAlready, NoHelper]),
        Call::InheritCondWait => {
            (false, false, &[InvalidArgument, BadAddress, Changed, BrokenQueue, Timeout])
        }
        Call::InheritRequeue => (false, false, &[InvalidArgument, BadAddress]),
        Call::InheritHelp => (false, false, &[InvalidArgument, BadAddress, Stale]),
        Call::CondRequeue => (false, false, &[InvalidArgument, BadAddress, BrokenQueue]),
        Call::TrainCreate => (false, true, &[InvalidArgument, BadAddress]),
        Call::TrainCall => (true, false, &[Faulted]),
        Call::TrainReturn => (false, false, &[WrongState]),
        _ => (false, false, &[]),
    }
}

/// What a call that looks capabilities up cannot say all the same, since of the objects that it
/// accepts none can be stale, or every capability has the right.
const NEVER: &[(Call, Error)] = &[
    (Call::CapDelete, Error::WrongKind),
    (Call::CapDelete, Error::Stale),
    (Call::CapDelete, Error::MissingRight),
    (Call::CapCopy, Error::WrongKind),
    // The console and the system can be neither revoked nor destroyed.
    (Call::ConsoleWrite, Error::Stale),
    (Call::ConsoleRead, Error::Stale),
    (Call::Shutdown, Error::Stale),
    (Call::Inspect, Error::Stale),
    (Call::Observe, Error::Stale),
    // There is room for as many as the quotas promise.
    (Call::TrainCreate, Error::PoolExhausted),
    // Two capabilities to one train, by one of which it ends, are too rare to wait for.
    (Call::TrainCall, Error::Stale),
];

/// Calls that never succeed here, and do in the kernel's hosted tests: the address that a train
/// leads to is any one, so that each visit ends with a fault; and there are no I/O ports.
const FAILING: [Call; 4] = [Call::TrainCall, Call::TrainReturn, Call::PortRead, Call::PortWrite];

/// Everything that was come across.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// Entries into the kernel, and stretches of work: after each, all invariants were checked.
    pub steps: u64,
    /// Kernel events.
    pub events: u64,
    /// Runs that a program ended.
    pub shutdowns: u64,
    /// The most threads that were blocked at once.
    pub most_blocked: u32,
    calls: Calls,
}

impl Reach {
    /// Adds a run.
    pub fn add(&mut self, outcome: &Outcome) {
        self.steps += outcome.entries;
        self.events += outcome.events;
        self.shutdowns += u64::from(matches!(outcome.end, End::Done(_)));
        self.most_blocked = self.most_blocked.max(outcome.most_blocked);
        self.calls.add(&outcome.calls);
    }

    /// System calls that ended, and how many of them did what was asked.
    pub fn calls(&self) -> (u64, u64) {
        self.calls.iter().fold((0, 0), |(all, done), (_, status, count)| {
            (all + count, done + if status.result().is_ok() { count } else { 0 })
        })
    }

    /// Whether a call ended so at least once; without an error: did what was asked.
    pub fn has(&self, call: Call, error: Option<Error>) -> bool {
        let wanted = |status: abi::Status| status.result().err() == error;
        self.calls.iter().any(|(number, status, _)| number == call as u8 && wanted(status))
    }

    /// What was not come across although it can be.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for call in Call::ALL {
            let (names, creates, further) = errors(call);
            // The tree knows all calls.
            if further.contains(&Error::UnknownCall) && self.has(call, None) {
                continue;
            }
            let known = call != Call::Shutdown
                && !FAILING.contains(&call)
                && !further.contains(&Error::UnknownCall);
            if known && !self.has(call, None) {
                missing.push(format!("{call:?} succeeds"));
            }
            let naming = NAMING.iter().filter(|_| names);
            let creating = CREATING.iter().filter(|_| creates);
            for error in naming.chain(creating).chain(further) {
                let never = NEVER.contains(&(call, *error));
                let line = format!("{call:?} fails with {error:?}");
                if !never && !self.has(call, Some(*error)) && !missing.contains(&line) {
                    missing.push(line);
                }
            }
        }
        if self.shutdowns == 0 {
            missing.push("a program ends a run".to_string());
        }
        if self.most_blocked < 100 {
            missing.push(format!("a hundred threads blocked at once, only {}", self.most_blocked));
        }
        let (all, done) = self.calls();
        if done * 2 < all {
            missing.push(format!("half of the calls succeed, only {done} of {all}"));
        }
        missing
    }

    /// All of it in numbers.
    pub fn summary(&self) -> Value {
        let (all, done) = self.calls();
        let by_call = Call::ALL.iter().map(|call| {
            let own = self.calls.iter().filter(|(number, ..)| *number == *call as u8);
            let mut ends = serde_json::Map::new();
            for (_, status, count) in own {
                let end = match status.result() {
                    Ok(()) => "Ok".to_string(),
                    Err(error) => format!("{error:?}"),
                };
                let sum = ends.get(&end).and_then(Value::as_u64).unwrap_or(0) + count;
                ends.insert(end, json!(sum));
            }
            (format!("{call:?}"), Value::Object(ends))
        });
        json!({
            "steps": self.steps,
            "events": self.events,
            "calls": all,
            "succeeded": done,
            "most_blocked": self.most_blocked,
            "shutdowns": self.shutdowns,
            "by_call": by_call.collect::<serde_json::Map<_, _>>(),
        })
    }
}
