//! Which CPU has which line of memory, and what it costs to bring one (S1-14).
//!
//! A line is with no CPU, with CPUs that have read it, or with the one that has written it last.
//! Caches are taken to be endless: what a CPU has it keeps until another one writes.

use crate::meter;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use twin_protocol::{Options, Topology};

/// Bytes of a line.
pub const LINE: usize = 64;

/// The directory of the lines of a stretch of memory.
pub struct Lines {
    topology: Topology,
    first: usize,
    /// The CPUs that have each line, a bit each.
    holders: RefCell<Vec<u64>>,
    /// The CPU that has written it last and has it alone, plus one; 0: none.
    owners: RefCell<Vec<u8>>,
    /// When accesses are noted.
    observed: Range<u64>,
    /// The CPUs that have touched and that have written lines meanwhile, a bit each.
    touched: RefCell<BTreeMap<usize, [u64; 2]>>,
}

impl Lines {
    /// The directory that the options need, if they need one.
    pub fn of(options: &Options, first: usize, bytes: usize) -> Option<Lines> {
        let needed = options.topology.is_some() || options.observed.is_some();
        let topology = options.topology.unwrap_or(Topology::FREE);
        needed.then(|| Lines::new(topology, options.observed.clone(), first, bytes))
    }

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
            // A reader has it from the nearest; a writer waits for the farthest to lose it.
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
    fn what_lies_across_two_lines_costs_both() {
        let lines = lines();
        assert_eq!(lines.access(0, 60, 8, false), 2 * 185);
        assert_eq!(lines.access(14, 128, 8, false), 265, "memory is the first socket's");
        assert_eq!(lines.access(0, 1 << 20, 8, true), 0, "not followed");
    }
}
