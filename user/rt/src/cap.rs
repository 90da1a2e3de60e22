//! Capabilities: copying, revoking, inspecting, destroying.

use crate::Slot;
use crate::system::{done, results};
use abi::call::Call;
use abi::{Error, Kind, Rights};

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The kind of object.
    pub kind: Kind,
    /// What may be done with it.
    pub rights: Rights,
    /// The badge that the capability carries.
    pub badge: u64,
}

impl Held {
    /// What the two result words of an inspection mean; none for an empty slot.
    pub fn from_words(kind_and_rights: u64, badge: u64) -> Option<Held> {
        let kind = Kind::from_code(kind_and_rights & 0xff)?;
        Some(Held { kind, rights: Rights((kind_and_rights >> 8) as u8), badge })
    }
}

/// Copies a capability to an empty slot, with at most these rights.
#[inline(always)]
pub fn copy(from: Slot, to: Slot, rights: Rights) -> Result<(), Error> {
    mint(from, to, rights, 0)
}

/// [`copy`] that gives an unbadged capability a badge.
#[inline(always)]
pub fn mint(from: Slot, to: Slot, rights: Rights, badge: u64) -> Result<(), Error> {
    done(Call::CapCopy, [from.word(), to.word(), u64::from(rights.0), badge])
}

/// Empties a slot.
#[inline(always)]
pub fn delete(slot: Slot) -> Result<(), Error> {
    done(Call::CapDelete, [slot.word()])
}

/// Makes every other capability to the object stale.
#[inline(always)]
pub fn revoke(slot: Slot) -> Result<(), Error> {
    done(Call::CapRevoke, [slot.word()])
}

/// Moves the reply right that the thread holds to an empty slot.
pub fn save_reply(to: Slot) -> Result<(), Error> {
    done(Call::CapSaveReply, [to.word()])
}

/// What a slot holds.
pub fn inspect(slot: Slot) -> Result<Held, Error> {
    let outcome = results(Call::CapInspect, [slot.word()])?;
    Held::from_words(outcome.badge, outcome.info.0).ok_or(Error::NoCapability)
}

/// Destroys the object that a slot names.
#[inline(always)]
pub fn destroy(slot: Slot) -> Result<(), Error> {
    done(Call::Destroy, [slot.word()])
}
