//! What can be counted of instructions (S0-43).

use crate::machine::Does;

/// Something that instructions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// They are executed.
    Instructions,
    /// They may go on elsewhere than behind themselves: jumps, calls, returns.
    Branches,
    /// They load an operand from memory.
    Loads,
    /// They store one.
    Stores,
    /// They do either.
    MemoryAccesses,
}

impl Event {
    /// All events.
    pub const ALL: [Event; 5] =
        [Event::Instructions, Event::Branches, Event::Loads, Event::Stores, Event::MemoryAccesses];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Event::Instructions => "instructions",
            Event::Branches => "branches",
            Event::Loads => "loads",
            Event::Stores => "stores",
            Event::MemoryAccesses => "memory-accesses",
        }
    }

    /// The event with this name.
    pub fn find(name: &str) -> Option<Event> {
        Event::ALL.into_iter().find(|event| event.name() == name)
    }

    /// How often it happens when an instruction that does this is executed.
    pub fn of(self, does: &Does) -> u64 {
        match self {
            Event::Instructions => 1,
            Event::Branches => does.branches.into(),
            Event::Loads => does.loads,
            Event::Stores => does.stores,
            Event::MemoryAccesses => does.loads + does.stores,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_name_and_its_count() {
        let does = Does { branches: true, loads: 2, stores: 1, ..Does::default() };
        let counts = Event::ALL.map(|event| {
            assert_eq!(Event::find(event.name()), Some(event));
            event.of(&does)
        });
        assert_eq!(counts, [1, 1, 2, 1, 3]);
        assert_eq!(Event::find("cache-misses"), None);
    }
}
