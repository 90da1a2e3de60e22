//! What threads make and destroy: each kind with the calls that it takes, in two slots.

use super::KINDS;
use crate::random::Random;
use abi::object::Resource;
use abi::reservation::Share;
use rt::memory::{self, Range};
use rt::thread::{self, Spec};
use rt::train::{self, Entry, Visitor};
use rt::{Env, Error, PAGE, Rights, Slot, Words, cap, domain, reservation, signal, system};

const RW: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);
/// Where things are mapped: all within one table.
const MAPPED: u64 = 0x50_0000_0000;
/// Pages of a thing that is mapped.
const PAGES: u64 = 2;
/// Bytes of memory that a thing has for stacks.
pub const STACK: usize = 2048;
/// Nanoseconds after which a deadline passes and a thread that was made ends.
const SOON: u64 = 20_000;

/// The table that maps things is there from now on: it is charged for as long as the domain lives.
pub fn prepare(slots: [Slot; 2]) -> Result<(), Error> {
    let thing = Thing { slots, number: 0 };
    thing.map()?;
    slots.into_iter().rev().try_for_each(cap::destroy)
}

/// A thread that was made: it sleeps, and ends.
fn nap(_: &Env, _: u64) {
    system::sleep(SOON);
}

/// What no thread enters.
struct Nothing;

impl Entry for Nothing {
    type Question = [u64; 4];
    type Answer = [u64; 4];
    fn enter(_: Visitor, words: [u64; 4]) -> [u64; 4] {
        words
    }
}

/// A place for an object.
#[derive(Clone, Copy)]
pub struct Thing {
    /// Two slots, empty or with what was made.
    pub slots: [Slot; 2],
    /// Which one of its domain it is.
    pub number: usize,
}

impl Thing {
    /// Makes an object of a kind.
    pub fn make(&self, env: &Env, kind: usize, random: &mut Random) -> Result<(), Error> {
        let [slot, second] = self.slots;
        match KINDS[kind] {
            "endpoints" => signal::create_endpoint(slot, Slot::NONE),
            "deadlines" => {
                signal::create_notification(second)?;
                signal::create_timer(slot, second)?;
                signal::set_timer(slot, system::clock() + random.below(SOON))
            }
            "mappings" => self.map(),
            "threads" => {
                let spec =
                    Spec { domain: Slot::NONE, priority: 110, buffer: 0, handler: Slot::NONE };
                thread::start_on(env, self.stack(env), slot, spec, (nap, 0))
            }
            "trains" => train::export::<Nothing>(env, slot, self.stack(env), 2, 0),
            "reservations" => {
                let root = env.cap("root");
                reservation::create_leaf(slot, root, Share::Priority(random.below(100) as u16))
            }
            _ => {
                let mut quotas = [0; Resource::COUNT];
                quotas[Resource::Tables as usize] = 1;
                domain::create(slot, 4, 90, quotas)
            }
        }
    }

    fn map(&self) -> Result<(), Error> {
        let [memory, mapping] = self.slots;
        memory::create(memory, PAGES)?;
        let address = MAPPED + self.number as u64 * PAGES * PAGE;
        let all = Range { memory, first: 0, pages: PAGES, address };
        memory::map(mapping, Slot::NONE, all, RW)
    }

    fn stack(&self, env: &Env) -> Words {
        env.mem(env.arg("stacks").expect("its stacks")).part(self.number * STACK / 8, STACK / 8)
    }

    /// Destroys what there is, also what came of a making that has failed.
    pub fn destroy(&self) -> Result<(), Error> {
        for slot in self.slots {
            match cap::destroy(slot) {
                // A thread that has ended, and what went with something else.
                Err(Error::Stale) => cap::delete(slot)?,
                Err(Error::NoCapability) => {}
                other => other?,
            }
        }
        Ok(())
    }
}
