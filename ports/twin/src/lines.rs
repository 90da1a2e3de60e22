//! Which CPU has which line of memory, and what it costs to bring one (S1-14).
//!
//! A line is with nobody, with CPUs that have read it, or with the one that has written it last.
//! Caches are taken to be endless: what a CPU has it keeps until another one writes.

use crate::meter;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of a line.
pub const LINE: usize = 64;

/// Sockets with equally many CPUs each; CPUs are numbered socket by socket. Times are in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// How many sockets.
    pub sockets: u32,
    /// CPUs of each.
    pub per_socket: u32,
    /// Time in which a line comes from another CPU of the socket.
    pub within: u64,
    /// Time in which it comes from another socket.
    pub across: u64,
    /// Time in which it comes from memory, which belongs to the first socket.
    pub memory: u64,
    /// The same to another socket.
    pub memory_across: u64,
}

impl Topology {
    /// Two sockets of 14 CPUs, Xeon E5-2683 v3 (S1-14).
    pub const X86: Topology = Topology {
        sockets: 2,
        per_socket: 14,
        within: 115,
        across: 218,
        memory: 185,
        memory_across: 265,
    };

    /// Four CPUs, Cortex-A9 of an i.MX6Q (S1-14).
    pub const ARM: Topology = Topology {
        sockets: 1,
        per_socket: 4,
        within: 17,
        across: 17,
        memory: 140,
        memory_across: 140,
    };

    /// CPUs to which nothing is far.
    pub const FREE: Topology =
        Topology { sockets: 1, per_socket: 64, within: 0, across: 0, memory: 0, memory_across: 0 };

    /// A topology by its name, or by its figures.
    pub fn parse(text: &str) -> Result<Topology, String> {
        match text {
            "x86" => return Ok(Topology::X86),
            "arm" => return Ok(Topology::ARM),
            _ => {}
        }
        let wrong = || {
            let form = "SOCKETSxCPUS,WITHIN,ACROSS,MEMORY,MEMORY_ACROSS";
            format!("`{text}` is neither x86 nor arm nor figures of the form {form}")
        };
        let numbers: Result<Vec<u64>, _> = text.split(['x', ',']).map(str::parse).collect();
        let numbers: [u64; 6] = numbers.ok().and_then(|n| n.try_into().ok()).ok_or_else(wrong)?;
        let [sockets, per_socket, within, across, memory, memory_across] = numbers;
        let counts = 1..=64;
        if !counts.contains(&sockets) || !counts.contains(&per_socket) {
            return Err(wrong());
        }
        let (sockets, per_socket) = (sockets as u32, per_socket as u32);
        Ok(Topology { sockets, per_socket, within, across, memory, memory_across })
    }

    fn socket(&self, cpu: u32) -> u32 {
        cpu / self.per_socket
    }

    /// L: what a line takes from one CPU to another; nothing to the same one.
    pub fn transfer(&self, from: u32, to: u32) -> u64 {
        if from == to {
            0
        } else if self.socket(from) == self.socket(to) {
            self.within
        } else {
            self.across
        }
    }

    fn fetch(&self, to: u32) -> u64 {
        if self.socket(to) == 0 { self.memory } else { self.memory_across }
    }
}

/// The directory of the lines of a stretch of memory.
pub struct Lines {
    topology: Topology,
    first: usize,
    /// Who has each line: a bit for each CPU.
    holders: RefCell<Vec<u64>>,
    /// Who has written it last and has it alone: the CPU plus one; 0: nobody.
    owners: RefCell<Vec<u8>>,
    /// When accesses are noted.
    observed: Range<u64>,
    /// Who has touched and who has written lines meanwhile: a bit for each CPU.
    touched: RefCell<BTreeMap<usize, [u64; 2]>>,
}

impl Lines {
    /// Lines from this address, none of which any CPU has. Between two instants it is noted which
    /// lines are shared.
    pub fn new(
        topology: Topology,
        observed: Option<Range<u64>>,
        first: usize,
        bytes: usize,
    ) -> Lines {
        let count = bytes / LINE;
        let (holders, owners) = (RefCell::new(vec![0; count]), RefCell::new(vec![0; count]));
        let observed = observed.unwrap_or_default();
        Lines { topology, first, holders, owners, observed, touched: RefCell::default() }
    }

    /// Offsets of the lines that one CPU has written and another one touched.
    pub fn shared(&self) -> Vec<usize> {
        let touched = self.touched.borrow();
        let shared = |(_, [by, written]): &(&usize, &[u64; 2])| {
            *written != 0 && (*by & by.wrapping_sub(1)) != 0
        };
        touched.iter().filter(shared).map(|(line, _)| line * LINE).collect()
    }

    fn note(&self, cpu: u32, index: usize, writes: bool) {
        let mut touched = self.touched.borrow_mut();
        let [by, written] = touched.entry(index).or_default();
        *by |= 1 << cpu;
        *written |= u64::from(writes) << cpu;
    }

    /// What an access of a CPU costs; the lines are where it leaves them.
    pub fn access(&self, cpu: u32, at: usize, bytes: usize, writes: bool) -> u64 {
        let (first, last) = (at / LINE, (at + bytes.max(1) - 1) / LINE);
        (first..=last).map(|line| self.line(cpu, line * LINE, writes)).sum()
    }

    fn line(&self, cpu: u32, at: usize, writes: bool) -> u64 {
        let index = at.wrapping_sub(self.first) / LINE;
        let (mut holders, mut owners) = (self.holders.borrow_mut(), self.owners.borrow_mut());
        let (Some(holders), Some(owner)) = (holders.get_mut(index), owners.get_mut(index)) else {
            return 0;
        };
        if self.observed.contains(&meter::now()) {
            self.note(cpu, index, writes);
        }
        let me = 1 << cpu;
        let others = (0..u64::BITS).filter(|other| *holders & !me & 1 << other != 0);
        let ways = others.map(|other| self.topology.transfer(other, cpu));
        let cost = match (*holders, writes) {
            (0, _) => self.topology.fetch(cpu),
            // Who reads has it from the nearest; who writes waits for the farthest to lose it.
            (held, false) if held & me != 0 => return 0,
            (_, false) => ways.min().unwrap_or(0),
            (_, true) if u32::from(*owner) == cpu + 1 => return 0,
            (_, true) => ways.max().unwrap_or(0),
        };
        *holders = if writes { me } else { *holders | me };
        *owner = if writes { cpu as u8 + 1 } else { 0 };
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Lines {
        Lines::new(Topology::X86, None, 0, 4096)
    }

    #[test]
    fn a_line_is_shared_that_one_writes_and_another_touches() {
        let lines = Lines::new(Topology::FREE, Some(0..1), 0, 4096);
        for (cpu, at, writes) in [(0, 0, true), (0, 64, false), (1, 64, false), (0, 0, false)] {
            lines.access(cpu, at, 8, writes);
        }
        assert!(lines.shared().is_empty());
        lines.access(1, 8, 8, false);
        lines.access(2, 72, 8, true);
        assert_eq!(lines.shared(), [0, 64]);
    }

    #[test]
    fn a_line_comes_from_where_it_is() {
        let lines = lines();
        assert_eq!(lines.access(0, 8, 8, true), 185, "from memory");
        assert_eq!(lines.access(0, 16, 8, true), 0, "the same line again");
        assert_eq!(lines.access(1, 8, 8, false), 115, "from another CPU");
        assert_eq!(lines.access(20, 8, 8, false), 218, "from another socket");
        assert_eq!(lines.access(21, 8, 8, false), 115, "from the nearest");
        assert_eq!(lines.access(1, 8, 8, true), 218, "until the farthest has lost it");
        assert_eq!(lines.access(1, 8, 8, true), 0, "it is its own");
        assert_eq!(lines.access(0, 8, 8, false), 115, "from its owner");
    }

    #[test]
    fn a_topology_has_a_name_or_figures() {
        assert_eq!(Topology::parse("x86"), Ok(Topology::X86));
        assert_eq!(Topology::parse("2x14,115,218,185,265"), Ok(Topology::X86));
        for wrong in ["sparc", "2x14", "0x14,1,2,3,4", "2x14,1,2,3,-4", ""] {
            assert!(Topology::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_lies_across_two_lines_costs_both() {
        let lines = lines();
        assert_eq!(lines.access(0, 60, 8, false), 2 * 185);
        assert_eq!(lines.access(14, 128, 8, false), 265, "memory is the first socket's");
        assert_eq!(lines.access(0, 1 << 20, 8, true), 0, "not followed");
    }
}
