//! How far CPUs are from each other, as far as a cache line is concerned.

use serde::Serialize;

/// Sockets with equally many CPUs each; CPUs are numbered socket by socket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Topology {
    /// How many sockets.
    pub sockets: usize,
    /// CPUs of each.
    pub per_socket: usize,
    /// Time in which a modified line comes from another CPU of the socket.
    pub within: f64,
    /// Time in which it comes from another socket.
    pub across: f64,
}

impl Topology {
    /// How many CPUs it has.
    pub fn cpus(&self) -> usize {
        self.sockets * self.per_socket
    }

    /// Whether two CPUs are on different sockets.
    pub fn is_across(&self, from: usize, to: usize) -> bool {
        from / self.per_socket != to / self.per_socket
    }

    /// L: what a line takes from its last owner to the next; nothing to the same one.
    pub fn transfer(&self, from: usize, to: usize) -> f64 {
        if from == to {
            0.0
        } else if self.is_across(from, to) {
            self.across
        } else {
            self.within
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_take_longer_from_afar() {
        let topology = Topology { sockets: 2, per_socket: 14, within: 115.0, across: 218.0 };
        assert_eq!(topology.cpus(), 28);
        for (from, to, time) in [(3, 3, 0.0), (0, 13, 115.0), (13, 14, 218.0), (27, 14, 115.0)] {
            assert_eq!(topology.transfer(from, to), time, "{from} to {to}");
        }
    }
}
