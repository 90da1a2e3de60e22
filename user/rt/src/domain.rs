//! Domains.

use crate::Slot;
use crate::arch::{self, ANY, word};
use crate::noted;
use crate::system::{self, done};
use abi::call::Call;
use abi::object::Resource;
use abi::{Error, Rights};

/// What a new domain may create and hold, in the order of [`Resource`].
pub type Quotas = [u16; Resource::COUNT];

/// Creates a domain with a capability table of `slots` slots; its quotas are taken from the
/// caller's. Its threads may use the same CPUs.
pub fn create(slot: Slot, slots: u64, max_priority: u64, quotas: Quotas) -> Result<(), Error> {
    create_on(0, slot, slots, max_priority, quotas)
}

/// [`create`] with a set of CPUs, a bit each, that threads of the domain may use.
pub fn create_on(
    cpus: u64,
    slot: Slot,
    slots: u64,
    max_priority: u64,
    quotas: Quotas,
) -> Result<(), Error> {
    let mut words = [0; 4];
    for (i, quota) in quotas.into_iter().enumerate() {
        words[i / 4] |= u64::from(quota) << (16 * (i % 4));
    }
    let a = [word(slot.word()), word(slots), word(max_priority), word(cpus), ANY, ANY];
    let outcome = arch::syscall(Call::DomainCreate as u64, a, arch::words(words));
    noted::result(outcome.status, Call::DomainCreate, [slot.word(), slots, max_priority])
}

/// Names a domain that a program has made: for `ps`, traces and what is told of its faults, where
/// the name stands behind that of the manifest's domain that it is in. A name has at most 16
/// letters, digits, `-`, `_` and `.`; an empty one takes the old one away.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for another name, [`Error::WrongState`] for a domain of the manifest;
/// and the capability needs the right to control.
pub fn name(domain: Slot, name: &str) -> Result<(), Error> {
    system::name(domain, name)
}

/// Copies a capability of the caller's into an empty slot of a domain, with at most these rights.
pub fn grant(domain: Slot, from: Slot, to: Slot, rights: Rights) -> Result<(), Error> {
    done(Call::DomainGrant, [domain.word(), from.word(), to.word(), u64::from(rights.0)])
}
