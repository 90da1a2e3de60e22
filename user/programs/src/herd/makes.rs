//! The attack by what is made and ended: threads that wait, and domains with what they hold.

use super::hostile::{CHILD, DOOR, FAR, Herd, Member};
use abi::object::Resource;
use rt::{Error, Message, Rights, Slot};
use rt::{cap, domain, ipc, signal};

/// Slots of a domain, each with a capability.
const SLOTS: u64 = 64;

/// As many threads as the herd has are made, wait at one endpoint, and lose it; then they end, and
/// a domain does.
pub fn creation(herd: &Herd) -> Result<(), Error> {
    let door = herd.slot(DOOR);
    signal::create_endpoint(door, Slot::NONE)?;
    for number in (0..herd.threads).take_while(|_| !herd.is_over()) {
        herd.start_one(number, |env, number| {
            let _ = ipc::send(Member::new(env, number).slot(DOOR), Message::empty(0), FAR);
        })?;
    }
    cap::destroy(door)?;
    for number in 0..herd.threads {
        // The attack may have ended before all were made.
        let _ = cap::destroy(herd.of(0, number));
    }
    let child = herd.slot(CHILD);
    domain::create(child, SLOTS, 20, [0; Resource::COUNT])?;
    for slot in 1..SLOTS as u32 {
        domain::grant(child, herd.member.env.cap("service"), Slot(slot), Rights::ALL)?;
    }
    cap::destroy(child)
}
