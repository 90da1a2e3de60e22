//! The archive's records about the scheduling tree.

use super::{Builder, Made};
use crate::access::{Exclusive, Ref};
use crate::kernel::Kernel;
use crate::object::{Domain, Reservation};
use crate::port::Port;
use abi::boot::ALL_CPUS;
use abi::call::Setting;
use abi::reservation::{LEVELS, Policy, Share, Words};
use section::init;

impl<P: Port> Kernel<P> {
    /// Makes an object of the root class of each CPU, and of the class that all CPUs share: the
    /// first in their pool.
    #[init]
    pub(super) fn make_roots(&'static self, all: &Exclusive<'_>) {
        for node in 0..self.trees.roots() {
            let root = self.reservations.take(all, None);
            all.open(root).node.set(node);
        }
    }
}

impl<P: Port> Builder<'_, '_, P> {
    /// The root class of a CPU, or with [`ALL_CPUS`] the class that all CPUs share.
    #[init]
    pub(super) fn root(&self, at: usize) -> Ref<Reservation<P>> {
        let cpu = self.field(at, 1);
        let shared = u64::from(self.kernel().trees.roots()).saturating_sub(1);
        let is_shared = cpu == u64::from(ALL_CPUS);
        let node = if is_shared { shared } else { cpu };
        let exists = shared > 0 && (is_shared || cpu < shared);
        let root = self.kernel().reservations.get(node as u32).filter(|_| exists);
        let Some(root) = root else { panic!("this kernel has no scheduling tree for CPU {cpu}") };
        if is_shared {
            let (code, words) = Share::Priority(self.field(at, 2) as u16).encode();
            let set = self.manager.change_reservation(root, Setting::Share as u64, code, words);
            set.unwrap_or_else(|_| wrong(at));
        }
        root
    }

    #[init]
    pub(super) fn reservation(&self, at: usize) -> Ref<Reservation<P>> {
        let class = self.reservation_named(at, 2);
        let policy = match self.field(at, 3) {
            0 => None,
            code => Some(Policy::from_code(code).unwrap_or_else(|| wrong(at))),
        };
        let share = Share::decode(self.field(at, 4), self.words(at, 5));
        let share = share.unwrap_or_else(|| wrong(at));
        let made = self.manager.add_reservation(self.owner(at, 1), class, policy, share);
        let reservation = made.unwrap_or_else(|_| wrong(at));
        let [server, budget, period, deadline] = self.words(at, 9);
        self.set(at, reservation, Setting::Budget, [server, budget, period, 0]);
        if policy.is_none() {
            let separation = self.field(at, 13);
            self.set(at, reservation, Setting::Timing, [deadline, separation, 0, 0]);
        }
        reservation
    }

    #[init]
    pub(super) fn window(&self, at: usize) {
        let words = [self.field(at, 2), self.field(at, 3), 0, 0];
        self.set(at, self.reservation_named(at, 1), Setting::Window, words);
    }

    #[init]
    pub(super) fn reserve(&self, at: usize) {
        let reservation = Some(self.reservation_named(at, 2));
        let reserved = match self.object(at, 1) {
            Made::Domain(domain) => self.manager.reserve_for_domain(domain, reservation),
            Made::Thread(thread) => self.manager.reserve_for_thread(thread, reservation),
            _ => wrong(at),
        };
        reserved.unwrap_or_else(|_| wrong(at));
    }

    #[init]
    pub(super) fn monitor(&self, at: usize) {
        let reservation = self.reservation_named(at, 1);
        let (monitor, bits) = (self.notification(at, 2), [self.field(at, 3), self.field(at, 4)]);
        // What the manifest watches is as urgent as any.
        let set = self.manager.monitor_reservation(reservation, monitor, bits, LEVELS - 1);
        set.unwrap_or_else(|_| wrong(at));
    }

    #[init]
    pub(super) fn background(&self, at: usize) {
        let words = [self.field(at, 2), self.field(at, 3), 0, 0];
        self.set(at, self.reservation_named(at, 1), Setting::Background, words);
    }

    #[init]
    pub(super) fn accounts(&self, at: usize) {
        match self.object(at, 1) {
            Made::Memory(memory) => {
                let (base, pages) = self.frames_of(memory);
                self.kernel().trees.leave_accounts(base, pages);
            }
            _ => wrong(at),
        }
    }

    /// Whether a domain's reservation, if it has one, is of a CPU.
    #[init]
    pub(super) fn can_run_on(&self, domain: Ref<Domain<P>>, cpu: u32) -> bool {
        let reservation = self.manager.all.open(domain).reservation.get();
        self.kernel().trees.home_of(reservation).is_none_or(|home| home.is_of(cpu))
    }

    #[init]
    fn set(&self, at: usize, reservation: Ref<Reservation<P>>, setting: Setting, words: Words) {
        let changed = self.manager.change_reservation(reservation, setting as u64, 0, words);
        changed.unwrap_or_else(|_| wrong(at));
    }

    #[init]
    fn words(&self, at: usize, index: usize) -> Words {
        [0, 1, 2, 3].map(|offset| self.field(at, index + offset))
    }

    #[init]
    fn reservation_named(&self, at: usize, index: usize) -> Ref<Reservation<P>> {
        match self.object(at, index) {
            Made::Reservation(reservation) => reservation,
            _ => wrong(at),
        }
    }
}

#[init]
fn wrong(at: usize) -> ! {
    panic!("the scheduling tree cannot have the reservation of the boot archive's word {at}")
}
