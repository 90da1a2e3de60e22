//! The inventory, as the supervisor finds it in its memory.

use abi::supervision::{Inventory, Read};
use rt::{Env, Words};
use supervision::Name;

/// The inventory's name in the environment.
const INVENTORY: &str = "supervisor-inventory";

/// The inventory's words.
#[derive(Clone, Copy)]
pub struct Table(Words);

impl Read for Table {
    fn word(self, index: usize) -> Option<u64> {
        (index < self.0.len()).then(|| self.0.get(index))
    }
}

/// The inventory.
///
/// # Panics
///
/// If the environment has no sound one.
pub fn open(env: &Env) -> Inventory<Table> {
    let inventory = Inventory::open(Table(env.mem(INVENTORY)));
    inventory.unwrap_or_else(|| panic!("the inventory has an unknown layout"))
}

/// The name of a child.
pub fn name(env: &Env, child: u32) -> Name {
    let child = open(env).children().nth(child as usize);
    child.map_or(Name::new("?"), |(_, child)| Name::from_words(child.name))
}
