//! How urgent threads and reservations are in the root of their CPU.

use crate::system::System;
use abi::reservation::Share;

impl System {
    /// The priority in the root of its CPU of a thread with this priority in a domain, by the
    /// domain's number: those of the manifest from 1. One that is not there has no reservation.
    pub fn urgency(&self, domain: u32, priority: u16) -> u16 {
        let domain = (domain as usize).checked_sub(1).and_then(|index| self.domains.get(index));
        match domain.and_then(|domain| domain.reservation) {
            Some(leaf) => self.urgency_of(leaf),
            None => priority,
        }
    }

    /// The priority of a reservation, or of the outermost class around it, in the root of its CPU.
    pub fn urgency_of(&self, reservation: usize) -> u16 {
        let node = &self.reservations[reservation];
        match (node.class, node.share) {
            (Some(class), _) => self.urgency_of(class),
            _ if node.cpu == abi::boot::ALL_CPUS => self.shared_priority,
            (None, Share::Priority(priority)) => priority,
            (None, _) => 0,
        }
    }

    /// A reservation and the classes that it is in, the innermost first.
    pub fn around(&self, reservation: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(reservation), |at| self.reservations[*at].class)
    }
}
