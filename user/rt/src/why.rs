//! Why a call has failed, for people: with the slot, right or quota that it failed for.

use crate::cap::Held;
use crate::noted::Noted;
use crate::system::simple;
use crate::{Env, Slot, arch};
use abi::boot::name_words;
use abi::call::{Call, MAP_RIGHTS_SHIFT, NOTHING, REPLY, Table};
use abi::object::Resource;
use abi::reservation::LEAST_BUDGET;
use abi::uses::{Use, Wants, asks, resources, uses};
use abi::{Error, Info, Kind, Rights, Status};
use core::fmt::{self, Display, Write};

/// The table of domains.
const DOMAINS: u64 = Table::Domain as u64;

/// Why a call has failed; see [`Env::why`]. What it says of slots and quotas is looked up when it
/// is shown. What is used of a quota is told to programs with the capability `system`.
pub struct Why {
    env: Env,
    error: Error,
    noted: Option<Noted>,
}

/// The culprit among the slots of a call.
struct Culprit {
    slot: Slot,
    wants: Wants,
    holds: Result<Held, Error>,
}

impl Why {
    pub(crate) fn new(env: Env, error: Error) -> Why {
        let own = |noted: &Noted| noted.error == error && arch::note::is_own(&env, noted.stack);
        Why { env, error, noted: Noted::last().filter(own) }
    }

    /// Why a call has failed whose error a panic's message names; none if it names no such error.
    pub(crate) fn of_panic(env: Env, message: impl Display) -> Option<Why> {
        let why = Why::new(env, Noted::last()?.error);
        let mut name = Name { bytes: [0; 24], length: 0 };
        let _ = write!(name, "{:?}", why.error);
        let mut sought = Sought { name: name.text(), found: false };
        let _ = write!(sought, "{message}");
        (sought.found && why.noted.is_some()).then_some(why)
    }

    /// The first slot of the call to which the error applies.
    fn culprit(&self, noted: &Noted) -> Option<Culprit> {
        uses(noted.call).iter().find_map(|one| {
            let slot = Slot((noted.about[one.word] >> one.shift) as u32);
            let culprit = Culprit { slot, wants: wanted(noted, one), holds: inspect(slot) };
            culprit.is_to_blame(self.error).then_some(culprit)
        })
    }

    /// A slot, with the name that the manifest gives it.
    fn slot(&self, f: &mut fmt::Formatter, slot: Slot) -> fmt::Result {
        write!(f, "slot {}", slot.0)?;
        match self.env.caps().find(|(_, named)| *named == slot) {
            Some((name, _)) => write!(f, " (`{name}`)"),
            None => Ok(()),
        }
    }

    fn show_slots(&self, f: &mut fmt::Formatter, noted: &Noted) -> fmt::Result {
        let Some(Culprit { slot, wants, holds }) = self.culprit(noted) else {
            return self.show_all(f, noted);
        };
        match wants {
            Wants::EmptyThere => write!(f, "slot {}", slot.0)?,
            _ => self.slot(f, slot)?,
        }
        match (self.error, wants, holds) {
            (Error::NoCapability, Wants::Capability(..), _) => f.write_str(" is empty"),
            (Error::NoCapability, ..) => f.write_str(" is not in the domain's table"),
            (Error::Stale, ..) => f.write_str(": its object is gone, or was revoked"),
            (Error::SlotOccupied, Wants::EmptyThere, _) => f.write_str(" of that domain is in use"),
            (Error::SlotOccupied, _, Ok(held)) => {
                write!(f, " is in use: it holds a capability to {}", Article(held.kind))
            }
            (Error::WrongKind, Wants::Capability(kinds, _), Ok(held)) => {
                write!(f, " holds {}, not ", Article(held.kind))?;
                kinds.iter().enumerate().try_for_each(|(index, kind)| {
                    write!(f, "{}{}", if index > 0 { " or " } else { "" }, Article(*kind))
                })
            }
            (Error::MissingRight, Wants::Capability(_, rights), Ok(held)) => {
                let missing = Rights(rights.0 & !held.rights.0);
                let all = held.kind.own_rights().iter().chain(&Rights::COMMON);
                let mut all = all.filter(|(_, right)| missing.contains(*right));
                let first = all.next().map_or("?", |(name, _)| name);
                write!(f, " lacks the right to {first}")?;
                all.try_for_each(|(name, _)| write!(f, ", {name}"))
            }
            _ => write!(f, ": {:?}", self.error),
        }
    }

    /// All slots of the call: none of them is to blame any more.
    fn show_all(&self, f: &mut fmt::Formatter, noted: &Noted) -> fmt::Result {
        write!(f, "{:?}", self.error)?;
        for (index, one) in uses(noted.call).iter().enumerate() {
            let slot = Slot((noted.about[one.word] >> one.shift) as u32);
            f.write_str(if index == 0 { ", of " } else { ", " })?;
            self.slot(f, slot)?;
        }
        Ok(())
    }

    /// The quotas, or pools, of which there is not as much as the call asks for.
    fn show_resources(&self, f: &mut fmt::Formatter, noted: &Noted) -> fmt::Result {
        let (of, domain) = match self.error {
            Error::QuotaExceeded => ("the quota", self.domain()),
            _ => ("the pool", Some(0)),
        };
        let used = |resource: Resource| match self.error {
            Error::QuotaExceeded => self.row(Table::Quota, (resource as u64) << 32 | domain?),
            _ => self.row(Table::Pool, resource as u64),
        };
        let mut any = false;
        for resource in resources(noted.call) {
            let asked = asks(noted.call, noted.about, *resource);
            let Some([used, all]) =
                used(*resource).filter(|[used, all]| used.saturating_add(asked) > *all)
            else {
                continue;
            };
            let (and, name) = (if any { "; " } else { "" }, resource.name());
            any = true;
            match used < all {
                true => write!(f, "{and}{of} of {name} has {used} of {all} in use, {asked} asked")?,
                false => write!(f, "{and}{of} of {name} is used up: {used} of {all}")?,
            }
        }
        if any {
            return Ok(());
        }
        write!(f, "{of} of ")?;
        for (index, resource) in resources(noted.call).iter().enumerate() {
            write!(f, "{}{}", if index > 0 { " or " } else { "" }, resource.name())?;
        }
        f.write_str(" is used up")
    }

    /// The first two words of a row, if the program may see tables.
    fn row(&self, table: Table, index: u64) -> Option<[u64; 2]> {
        let system = self.env.find_cap("system")?;
        let outcome = simple(Call::Inspect, [system.word(), table as u64, index]);
        outcome.status.result().ok().map(|()| [outcome.badge, outcome.info.0])
    }

    /// The index of the program's domain, which is one of the manifest's.
    fn domain(&self) -> Option<u64> {
        let (system, name) = (self.env.find_cap("system")?, name_words(self.env.name()));
        (0..)
            .map(|index| (index, simple(Call::Inspect, [system.word(), DOMAINS, index])))
            .take_while(|(_, row)| row.status == Status::OK)
            .find(|(index, row)| {
                let inside = row.words[2] >> 32;
                row.badge != 0 && row.words[..2] == name && inside == *index
            })
            .map(|(index, _)| index)
    }
}

impl Culprit {
    fn is_to_blame(&self, error: Error) -> bool {
        let Culprit { slot, wants, holds } = self;
        match (error, wants) {
            (_, Wants::Capability(..)) if [NOTHING, REPLY].contains(&slot.0) => {
                // As a number for nothing it is no slot; and slot 0 holds nothing.
                false
            }
            (Error::NoCapability, Wants::Capability(..)) => *holds == Err(Error::NoCapability),
            (Error::NoCapability, _) => slot.0 == NOTHING || holds.is_err(),
            (Error::Stale, Wants::Capability(..)) => *holds == Err(Error::Stale),
            (Error::SlotOccupied, Wants::Empty) => *holds != Err(Error::NoCapability),
            (Error::SlotOccupied, Wants::EmptyThere) => true,
            (Error::WrongKind, Wants::Capability(kinds, _)) => {
                let fits = |held: Held| kinds.is_empty() || kinds.contains(&held.kind);
                holds.is_ok_and(|held| !fits(held))
            }
            (Error::MissingRight, Wants::Capability(_, rights)) => {
                holds.is_ok_and(|held| !held.rights.contains(*rights))
            }
            _ => false,
        }
    }
}

/// What a call wants of a slot, with the rights that depend on its other arguments.
fn wanted(noted: &Noted, one: &Use) -> Wants {
    match (noted.call, one.wants) {
        (Call::Ipc | Call::Call, Wants::Capability(kinds, rights))
            if one.shift == 0 && Info(noted.about[1]).has_capability() =>
        {
            Wants::Capability(kinds, rights | Rights::GRANT)
        }
        (Call::Map, Wants::Capability(kinds, Rights::NONE)) => {
            Wants::Capability(kinds, Rights((noted.about[2] >> MAP_RIGHTS_SHIFT) as u8))
        }
        (_, wants) => wants,
    }
}

/// What a slot holds now. This fails without a note.
fn inspect(slot: Slot) -> Result<Held, Error> {
    let outcome = simple(Call::CapInspect, [slot.word()]);
    outcome.status.result()?;
    Held::from_words(outcome.badge, outcome.info.0).ok_or(Error::NoCapability)
}

impl Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Some(noted) = &self.noted else { return write!(f, "{:?}", self.error) };
        write!(f, "{:?}: ", noted.call)?;
        match self.error {
            Error::QuotaExceeded | Error::PoolExhausted => self.show_resources(f, noted),
            Error::PriorityTooHigh => {
                let priority = match noted.call {
                    Call::ThreadCreate => noted.about[2] >> 32,
                    Call::DomainCreate => noted.about[2],
                    _ => noted.about[1],
                };
                write!(f, "priority {priority} is above the domain's `max_priority`")
            }
            Error::BudgetTooSmall => {
                write!(f, "the budget is below the least one, {} us", LEAST_BUDGET / 1_000)
            }
            _ => self.show_slots(f, noted),
        }
    }
}

/// A kind of object, with its article.
struct Article(Kind);

impl Display for Article {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let article = match self.0 {
            Kind::Console | Kind::System => "the",
            Kind::Endpoint | Kind::Interrupt => "an",
            _ => "a",
        };
        write!(f, "{article} {}", self.0.name())
    }
}

/// The name of an error.
struct Name {
    bytes: [u8; 24],
    length: usize,
}

impl Name {
    fn text(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("?")
    }
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.length + text.len();
        self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}

/// Looks for a name in a text that is written.
struct Sought<'a> {
    name: &'a str,
    found: bool,
}

impl Write for Sought<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.found |= text.split(|c: char| !c.is_alphanumeric()).any(|word| word == self.name);
        Ok(())
    }
}
