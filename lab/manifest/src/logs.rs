//! Memories for what domains leave: logs, and why a program panicked that has none.

use crate::memory::Memory;
use crate::supervisor;
use crate::system::{Domain, Map, System};
use crate::target::Target;
use abi::Rights;
use abi::object::Resource;

impl System {
    /// Gives each domain that has a log a memory for it, which it finds mapped last.
    pub(crate) fn add_logs(&mut self) {
        for index in 0..self.domains.len() {
            let Some(bytes) = self.domains[index].log else { continue };
            let memory = self.memories.len();
            self.add_memory(&format!("log-{}", self.domains[index].name), bytes);
            let rights = Rights::READ.or(Rights::WRITE);
            self.domains[index].maps.push(Map { memory, rights });
        }
    }

    /// Gives each domain that has neither a log nor a console a memory that is laid out as a log,
    /// which it finds mapped last: there its program leaves why it panicked.
    pub fn add_panics(&mut self) {
        let tells = |domain: &Domain| {
            let mut targets = domain.caps.iter().map(|cap| cap.target);
            domain.log.is_some() || targets.any(|target| target == Target::Console)
        };
        let rights = Rights::READ.or(Rights::WRITE);
        for index in 0..self.domains.len() {
            if tells(&self.domains[index]) {
                continue;
            }
            let memory = self.memories.len();
            let name = self.add_memory(&format!("panics-{}", self.domains[index].name), abi::PAGE);
            self.panics.push(memory);
            self.domains[index].maps.push(Map { memory, rights });
            if let Some(at) = self.supervisor.filter(|_| self.domains[index].restart.is_some()) {
                let cap = supervisor::for_map(&self.domains[index], &name, memory, rights);
                self.domains[at].caps.push(cap);
                self.domains[at].slots += 1;
            }
        }
        let added = self.panics.len() as u64;
        self.memory += (added * abi::PAGE).next_multiple_of(1 << 20);
        // What a manifest gives has room for as much as before.
        for resource in [Resource::Memories, Resource::Mappings] {
            self.pools[resource as usize].size += added;
        }
        for resource in [Resource::Tables, Resource::Frames, Resource::Slots] {
            self.pools[resource as usize].given_at = None;
        }
    }

    /// The memory in which a domain's program leaves why it panicked, if it has no log.
    pub fn panics_of(&self, domain: &Domain) -> Option<&Memory> {
        let map = domain.maps.iter().find(|map| self.panics.contains(&map.memory));
        map.map(|map| &self.memories[map.memory])
    }

    /// The memory with a domain's log.
    pub fn log_of(&self, domain: &Domain) -> Option<&Memory> {
        let map = domain.log.and_then(|_| domain.maps.last());
        map.map(|map| &self.memories[map.memory])
    }
}
