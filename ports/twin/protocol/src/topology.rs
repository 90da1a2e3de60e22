//! How far CPUs and memory are from each other (S1-14).

use serde::{Deserialize, Serialize};

/// Sockets with equally many CPUs each; CPUs are numbered socket by socket. Times are in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

    /// What a line takes from memory to a CPU.
    pub fn fetch(&self, to: u32) -> u64 {
        if self.socket(to) == 0 { self.memory } else { self.memory_across }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topology_has_a_name_or_figures() {
        assert_eq!(Topology::parse("x86"), Ok(Topology::X86));
        assert_eq!(Topology::parse("2x14,115,218,185,265"), Ok(Topology::X86));
        for wrong in ["sparc", "2x14", "0x14,1,2,3,4", "2x14,1,2,3,-4", ""] {
            assert!(Topology::parse(wrong).is_err(), "{wrong}");
        }
    }
}
