//! A system in a page of text.

mod tree;

pub use tree::spell_curve;

use abi::PAGE;
use abi::boot::ALL_CPUS;
use abi::object::Resource;
use comfy_table::{CellAlignment, Table, presets};

use crate::devices::Devices;
use crate::memory::Medium;
use crate::rights::{spell_mapping, spell_rights};
use crate::system::{Capability, Interrupt, System};
use crate::target::Target;
use crate::units::{spell_duration, spell_size};

impl System {
    /// The choices for all of it, and its reservations or else its domains, if they fit into so
    /// many lines.
    pub fn brief(&self, lines: usize) -> String {
        let domains = self.domains.len();
        let (table, what) = match self.reservations.len() {
            0 => (self.domain_table(), format!("{domains} domains")),
            nodes => (tree::table(self), format!("{domains} domains, {nodes} reservations")),
        };
        let shown = if table.row_count() < lines { table.to_string() } else { what };
        trimmed(&format!("{}{shown}\n", self.head()))
    }

    /// What the system consists of: domains with their capabilities, shared memory and pools.
    pub fn summary(&self) -> String {
        let mut text = self.head();
        text += &format!("{}\n\n", self.domain_table());
        if self.supervisor.is_some() {
            text += &format!("{}\n\n", self.restart_table());
        }
        if !self.reservations.is_empty() {
            text += &format!("{}\n\n", tree::table(self));
        }
        if self.domains.iter().any(|domain| !domain.caps.is_empty()) {
            text += &format!("{}\n\n", self.capability_table());
        }
        if !self.memories.is_empty() {
            text += &format!("{}\n\n", self.memory_table());
        }
        if let Some(devices) = &self.devices {
            text += &format!("{}\n\n", self.device_table(devices));
        }
        if !self.attached.is_empty() {
            text += &format!("{}\n\n", self.attached_table());
        }
        text += &format!("{}\n", self.pool_table());
        trimmed(&text)
    }

    /// The choices for all of it.
    fn head(&self) -> String {
        format!(
            "kernel {}, {} of memory, tick {}, time slice {}\n\n",
            self.kernel,
            spell_size(self.memory),
            spell_duration(self.tick),
            match self.timeslice == System::no_slice(self.tick) {
                true => "none".to_string(),
                false => spell_duration(self.timeslice),
            }
        )
    }

    /// The name of a capability's object, with its kind.
    pub fn target_name(&self, target: Target) -> String {
        let name = match target {
            Target::Endpoint(index) => &self.endpoints[index].name,
            Target::Notification(index) => &self.notifications[index].name,
            Target::Interrupt(index) => &self.interrupts[index].name,
            Target::Timer(index) => &self.timers[index].name,
            Target::Memory(index) => &self.memories[index].name,
            Target::Domain(index) | Target::Thread(index) => &self.domains[index].name,
            Target::Reservation(index) => &self.reservations[index].name,
            Target::Root(ALL_CPUS) => return "class of all CPUs".to_string(),
            Target::Root(cpu) => return format!("root of CPU {cpu}"),
            Target::Image(child) => return format!("image of {}", self.children()[child].name),
            Target::Console | Target::System => return target.kind().name().into(),
        };
        format!("{} {name}", target.kind().name())
    }

    fn domain_table(&self) -> Table {
        let mut table = plain(&["domain", "program", "priority", "max", "threads", "slots"], 2);
        for domain in &self.domains {
            table.add_row([
                domain.name.clone(),
                domain.program.clone(),
                domain.priority.to_string(),
                domain.max_priority.to_string(),
                domain.threads.to_string(),
                format!("{}/{}", domain.caps.len(), domain.slots),
            ]);
        }
        table
    }

    fn restart_table(&self) -> Table {
        let titles = ["supervised", "restart", "at most", "within", "heartbeat", "depends on"];
        let mut table = plain(&titles, usize::MAX);
        for domain in self.children() {
            let Some(restart) = &domain.restart else { continue };
            let depends = restart.depends.iter().map(|index| self.domains[*index].name.as_str());
            table.add_row([
                domain.name.clone(),
                (if restart.always { "always" } else { "on-failure" }).to_string(),
                restart.at_most.to_string(),
                spell_duration(restart.within),
                restart.heartbeat.map_or("-".to_string(), spell_duration),
                depends.collect::<Vec<_>>().join(", "),
            ]);
        }
        table
    }

    fn capability_table(&self) -> Table {
        let mut table = plain(&["domain", "slot", "capability", "object", "rights"], usize::MAX);
        for domain in &self.domains {
            // What the supervisor holds for a child stands there.
            let own = domain.caps.iter().enumerate().filter(|(_, cap)| !cap.name.contains('.'));
            for (index, cap) in own {
                table.add_row([
                    domain.name.clone(),
                    (index + 1).to_string(),
                    cap.name.clone(),
                    self.target_name(cap.target),
                    rights_and_badge(cap),
                ]);
            }
        }
        table
    }

    fn memory_table(&self) -> Table {
        let mut table = plain(&["memory", "size", "mapped by"], usize::MAX);
        for (index, memory) in self.memories.iter().enumerate() {
            let mappers = self.domains.iter().flat_map(|domain| {
                let maps = domain.maps.iter().filter(|map| map.memory == index);
                maps.map(|map| format!("{} ({})", domain.name, spell_mapping(map.rights)))
            });
            let mappers = mappers.chain(memory.host.then(|| "the host".to_string()));
            let mappers = mappers.collect::<Vec<_>>().join(", ");
            let size = match memory.medium {
                Medium::Ram => spell_size(memory.bytes),
                Medium::Device { at, cache } => {
                    let size = spell_size(memory.pages() * PAGE);
                    format!("{size} at {at:#x}, {}", cache.name())
                }
                Medium::Ports { first, number: 1 } => format!("I/O port {first:#x}"),
                Medium::Ports { first, number } => {
                    format!("{number} I/O ports from {first:#x} on")
                }
            };
            table.add_row([memory.name.clone(), size, mappers]);
        }
        table
    }

    fn device_table(&self, devices: &Devices) -> Table {
        let plant = format!("wires of {}", devices.setup.plant);
        let mut table = plain(&["device", "kind", "interrupt", &plant], usize::MAX);
        for device in &devices.setup.devices {
            let its = |one: &&Interrupt| device.irq.map(u32::from) == Some(one.irq);
            let interrupt = self.interrupts.iter().find(its).map(|one| one.name.clone());
            let wires = device.wires.join(", ");
            let row = [device.name.clone(), device.kind.clone()];
            table.add_row(row.into_iter().chain([interrupt.unwrap_or_default(), wires]));
        }
        table
    }

    fn attached_table(&self) -> Table {
        let mut table = plain(&["device", "kind", "IRQ", "interrupt"], usize::MAX);
        for device in &self.attached {
            let interrupt = self.interrupts.iter().find(|one| one.irq == device.irq());
            table.add_row([
                device.name.clone(),
                device.kind().to_string(),
                device.irq().to_string(),
                interrupt.map(|one| one.name.clone()).unwrap_or_default(),
            ]);
        }
        table
    }

    fn pool_table(&self) -> Table {
        let mut table = plain(&["pool", "boot", "quotas", "used", "size"], 1);
        for resource in Resource::ALL {
            let pool = &self.pools[resource as usize];
            let numbers = [pool.boot, pool.quotas, pool.used(), pool.size];
            let cells = numbers.iter().map(u64::to_string);
            table.add_row([resource.name().to_string()].into_iter().chain(cells));
        }
        table
    }
}

/// The lines of a text without what is blank at their ends.
fn trimmed(text: &str) -> String {
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

fn rights_and_badge(cap: &Capability) -> String {
    let rights = spell_rights(cap.target.kind(), cap.rights);
    if cap.badge == 0 { rights } else { format!("{rights}, badge {:#x}", cap.badge) }
}

/// A table without lines whose columns from `numbers` on are numbers.
fn plain(titles: &[&str], numbers: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(titles);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if index >= numbers {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
