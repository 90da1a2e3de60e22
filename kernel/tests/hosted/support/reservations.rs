//! What programs do with reservations, where the kernel has a scheduling tree.

use super::board::{Board, body};
use super::context::Regs;
use super::host::Host;
use super::rng::Rng;
use super::scene::system as call;
use super::town::NOTIFICATION;
use abi::call::{Call, Setting};
use abi::reservation::{Budget, Curve, Policy, Server, Share, WHOLE, Words};
use kernel::object::capability::Capability;
use kernel::port::Port;
use kernel::system::System;
use policies::tree::NodeId;

/// A program that manages reservations.
pub struct Manages<'a, S: System<Port = Host>> {
    /// Where it runs.
    pub board: &'a Board<S>,
    /// What it goes by.
    pub rng: &'a Rng,
    /// Which thread it is.
    pub thread: u32,
    /// A slot that is empty, mostly.
    pub empty: u64,
    /// A thread that it can name, mostly.
    pub named: u64,
    /// A domain, likewise.
    pub domain: u64,
}

impl<S: System<Port = Host>> Manages<'_, S> {
    /// A call that makes sense, mostly.
    pub fn call(&self) -> Regs {
        let rng = self.rng;
        let (at, class) = (self.reservation(), self.reservation());
        match rng.below(16) {
            0..4 => {
                let (code, words) = self.share_in(class);
                let policy = if rng.once_in(2) { 0 } else { 1 + rng.below(4) };
                call(Call::ReservationCreate, &[self.empty, class, policy, code]).with_words(words)
            }
            4..8 => self.set(at),
            8..10 => {
                let (code, words) = self.share_in(class);
                call(Call::ReservationJoin, &[at, class, code]).with_words(words)
            }
            10..14 => {
                let to = if rng.once_in(8) { self.domain } else { self.named };
                call(Call::Reserve, &[to, if rng.once_in(4) { 0 } else { at }])
            }
            14 if rng.once_in(3) => call(Call::Destroy, &[at]),
            _ => call(Call::ReservationInspect, &[at, rng.below(3)]),
        }
    }

    fn set(&self, at: u64) -> Regs {
        let (rng, now) = (self.rng, self.board.host.now());
        let (setting, code, words) = match rng.below(11) {
            0..2 => {
                let (code, words) = self.share_among(at);
                (Setting::Share, code, words)
            }
            2..5 => (Setting::Budget, 0, self.budget()),
            5 => (Setting::Timing, 0, [self.time(), self.time(), 0, 0]),
            6..8 => {
                let told = if rng.once_in(6) { 0 } else { NOTIFICATION + rng.below(2) };
                (Setting::Monitor, told, [rng.below(2), rng.below(2), 0, 0])
            }
            8 => (Setting::Background, 0, [rng.below(2), rng.below(2), 0, 0]),
            9 => (Setting::Frame, 0, [now, 0, 0, 0]),
            _ => (Setting::Window, 0, [rng.below(1_000_000), rng.below(3), 0, 0]),
        };
        call(Call::ReservationSet, &[at, setting as u64, code]).with_words(words)
    }

    fn budget(&self) -> Words {
        let rng = self.rng;
        let server = rng.pick(&Server::ALL);
        match rng.below(8) {
            0 => Budget::encode(None),
            1 => [rng.below(6), self.time(), self.time(), 0],
            _ => Budget::encode(Some(Budget::new(server, self.time() / 4, self.time()))),
        }
    }

    fn time(&self) -> u64 {
        let rng = self.rng;
        match rng.below(12) {
            0 => rng.pick(&[0, 1, 999, 1_000, 1 << 62, (1 << 62) + 1, u64::MAX]),
            1..4 => 100_000,
            _ => 100_000 + rng.below(3_000_000),
        }
    }

    fn reservation(&self) -> u64 {
        let slots = body(self.board.thread(self.thread).domain.get()).slots;
        let named = |cell: &kernel::access::Steady<Capability<Host>>| {
            matches!(cell.get(), Capability::Reservation(_))
        };
        let slots: Vec<u64> =
            (0..).zip(slots).filter(|(_, cell)| named(cell)).map(|(slot, _)| slot).collect();
        if slots.is_empty() { self.rng.below(64) } else { self.rng.pick(&slots) }
    }

    /// The policy of the class that a slot names, or above the reservation that it names.
    fn policy(&self, slot: u64, above: bool) -> Option<Policy> {
        let slots = body(self.board.thread(self.thread).domain.get()).slots;
        let Capability::Reservation(cap) = slots.get(slot as usize)?.get() else { return None };
        let class = if above { body(cap.at).class.get()? } else { cap.at };
        let node = NodeId(body(class).node.get());
        self.board.machine.kernel.trees.with(|tree| tree.policy(node))?
    }

    fn share_in(&self, class: u64) -> (u64, Words) {
        self.share(self.policy(class, false))
    }

    fn share_among(&self, at: u64) -> (u64, Words) {
        self.share(self.policy(at, true))
    }

    fn share(&self, policy: Option<Policy>) -> (u64, Words) {
        let rng = self.rng;
        let slope = || rng.pick(&[1, WHOLE / 10, WHOLE / 3, WHOLE]);
        let curve = Curve { slope: slope(), bend: rng.below(3) * 1_000_000, rest: slope() };
        let policy = if rng.once_in(10) { None } else { policy };
        match policy {
            Some(Policy::FixedPriority) => Share::Priority(rng.below(513) as u16),
            Some(Policy::EarliestDeadline) => Share::Deadline,
            Some(Policy::ServiceCurves) if rng.once_in(3) => {
                Share::Curve { guaranteed: None, share: curve }
            }
            Some(Policy::ServiceCurves) => Share::curve(curve),
            Some(Policy::Partitions) => {
                Share::Partition { number: rng.below(4) as u16, priority: rng.below(300) as u16 }
            }
            None => return (rng.below(7), [rng.next(), rng.below(3), rng.next(), 0]),
        }
        .encode()
    }
}
