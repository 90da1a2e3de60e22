//! What system calls do with the slots that they are given, and which quotas they use: so that a
//! failed call can be told with the slot, right or quota that it failed for.

use crate::call::Call;
use crate::object::Resource;
use crate::{Kind, Rights};

/// Arguments of a call that say what it is about: those with slots, and what was asked for.
pub type About = [u64; 3];

/// A slot that a call is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Which word of [`About`] it stands in.
    pub word: usize,
    /// How far left it stands there.
    pub shift: u32,
    /// What the call wants of it.
    pub wants: Wants,
}

/// What a call wants of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// A capability to an object of one of these kinds (any, if there are none), with these rights.
    /// 0 may stand for nothing.
    Capability(&'static [Kind], Rights),
    /// Nothing: it is to be filled.
    Empty,
    /// The same, but it is one of another domain's table.
    EmptyThere,
}

const fn needs(word: usize, kinds: &'static [Kind], rights: Rights) -> Use {
    Use { word, shift: 0, wants: Wants::Capability(kinds, rights) }
}

const fn fills(word: usize) -> Use {
    Use { word, shift: 0, wants: Wants::Empty }
}

/// An endpoint, in the low half of word 0, to send to.
const SENDS: Use = needs(0, &[Kind::Endpoint, Kind::Reply], Rights::SEND);

/// An endpoint or notification in word 0, to receive from.
const RECEIVES: Use = needs(0, &[Kind::Endpoint, Kind::Notification], Rights::RECEIVE);

/// The slots that a call is given, in the order in which it looks at them.
pub fn uses(call: Call) -> &'static [Use] {
    use Kind::*;
    const CONTROL: Rights = Rights::CONTROL;
    match call {
        Call::Ipc => &const { [SENDS, Use { shift: 32, ..RECEIVES }] },
        Call::Call => &[SENDS],
        Call::ReplyWait | Call::Serve => &[RECEIVES],
        Call::Signal => &const { [needs(0, &[Notification], Rights::SEND)] },
        Call::CapCopy => &const { [needs(0, &[], Rights::COPY), fills(1)] },
        Call::CapDelete | Call::CapInspect => &const { [needs(0, &[], Rights::NONE)] },
        Call::CapRevoke => &const { [needs(0, &[], Rights::REVOKE)] },
        Call::CapSaveReply
        | Call::NotificationCreate
        | Call::MemoryCreate
        | Call::DomainCreate
        | Call::TrainCreate => &const { [fills(0)] },
        Call::Destroy => &const { [needs(0, &[], Rights::DESTROY)] },
        Call::EndpointCreate => &const { [fills(0), needs(1, &[Notification], Rights::RECEIVE)] },
        Call::TimerCreate => &const { [fills(0), needs(1, &[Notification], Rights::SEND)] },
        Call::TimerSet => &const { [needs(0, &[Timer], CONTROL)] },
        Call::InterruptAck | Call::InterruptRoute => &const { [needs(0, &[Interrupt], CONTROL)] },
        Call::Map => {
            &const { [needs(0, &[Domain], CONTROL), needs(1, &[Memory], Rights::NONE), fills(2)] }
        }
        Call::Protect => &const { [needs(0, &[Mapping], CONTROL)] },
        Call::MemoryAddress => &const { [needs(0, &[Memory], Rights::PHYSICAL)] },
        Call::PortRead => &const { [needs(0, &[Memory], Rights::READ)] },
        Call::PortWrite => &const { [needs(0, &[Memory], Rights::WRITE)] },
        Call::DomainGrant => {
            &const {
                let there = Use { wants: Wants::EmptyThere, ..fills(2) };
                [needs(0, &[Domain], CONTROL), needs(1, &[], Rights::COPY), there]
            }
        }
        Call::ThreadCreate => {
            &const { [fills(0), needs(1, &[Domain], CONTROL), needs(2, &[Endpoint], Rights::SEND)] }
        }
        Call::Yield
        | Call::ThreadExchange
        | Call::ThreadResume
        | Call::ThreadSuspend
        | Call::ThreadPriority
        | Call::ThreadInspect
        | Call::ThreadMigrate => &const { [needs(0, &[Thread], CONTROL)] },
        Call::ReservationCreate => &const { [fills(0), needs(1, &[Reservation], Rights::DIVIDE)] },
        Call::ReservationJoin => {
            &const { [needs(0, &[Reservation], CONTROL), needs(1, &[Reservation], Rights::DIVIDE)] }
        }
        Call::ReservationSet => {
            &const { [needs(0, &[Reservation], CONTROL), needs(2, &[Notification], Rights::SEND)] }
        }
        Call::Reserve => {
            &const {
                let thread_or_domain = needs(0, &[Thread, Domain], CONTROL);
                [thread_or_domain, needs(1, &[Reservation], Rights::RESERVE)]
            }
        }
        Call::ReservationInspect => &const { [needs(0, &[Reservation], Rights::NONE)] },
        Call::Name => &const { [needs(0, &[Thread, Domain], CONTROL)] },
        Call::ConsoleWrite | Call::ConsoleRead => &const { [needs(0, &[Console], CONTROL)] },
        Call::Shutdown | Call::Inspect | Call::Observe => &const { [needs(0, &[System], CONTROL)] },
        Call::TrainCall => &const { [needs(0, &[Train], Rights::SEND)] },
        _ => &[],
    }
}

/// The resources that a call uses up, of which one of each unless [`asks`] says more.
pub fn resources(call: Call) -> &'static [Resource] {
    match call {
        Call::EndpointCreate => &[Resource::Endpoints],
        Call::NotificationCreate => &[Resource::Notifications],
        Call::TimerCreate => &[Resource::Timers],
        Call::MemoryCreate => &[Resource::Memories, Resource::Frames],
        Call::Map => &[Resource::Mappings, Resource::Tables],
        Call::DomainCreate => &[Resource::Domains, Resource::Slots],
        Call::ThreadCreate => &[Resource::Threads, Resource::Tables],
        Call::ReservationCreate => &[Resource::Reservations],
        Call::TrainCreate => &[Resource::Trains, Resource::Stacks],
        _ => &[],
    }
}

/// How many of a resource a call asks for.
pub fn asks(call: Call, about: About, resource: Resource) -> u64 {
    match (call, resource) {
        // Memory has a frame of its own besides its pages.
        (Call::MemoryCreate, Resource::Frames) => about[1].saturating_add(1),
        (Call::DomainCreate, Resource::Slots) => about[1],
        (Call::TrainCreate, Resource::Stacks) => about[1],
        _ => 1,
    }
}
