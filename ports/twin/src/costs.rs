//! What each step costs in units of virtual time.

use kernel::cost::{CostEvent, Queue};
use twin_protocol::Options;

/// A way into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryCost {
    /// The fast path of a call, or of a reply that waits, was tried.
    Attempt,
    /// That of a send with a receive elsewhere.
    AttemptBoth,
    /// The general path went on with what the first had found.
    Left,
    /// It went on with what the second had found.
    LeftBoth,
    /// A call, or a reply that waits, took the general path.
    Message,
    /// The IPC primitive with both its halves spelled out took the general path.
    Exchange,
    /// Another system call.
    Call,
    /// An interrupt.
    Interrupt,
    /// A fault.
    Fault,
}

impl EntryCost {
    /// How many there are.
    pub const KINDS: usize = 9;
}

/// Units of virtual time for each kind of entry and step. A unit is an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// By [`EntryCost`].
    pub entries: [u32; EntryCost::KINDS],
    /// By [`CostEvent::kind`]; for [`CostEvent::Copy`], for each word.
    pub steps: [u32; CostEvent::KINDS],
    /// Until an interrupt reaches another CPU.
    pub ipi: u32,
    /// A round of a loop that waits for another CPU.
    pub spin: u32,
    /// An atomic exchange, under a lock.
    pub exchange: u32,
    /// A transaction's begin and end.
    pub transaction: u32,
    /// A memory barrier, where processors need one to order accesses; else 0.
    pub barrier: u32,
}

impl Costs {
    /// The usual ones, as the options change them: where sections take a time of their own, what
    /// is left.
    pub fn of(options: &Options) -> Costs {
        let mut costs = Costs::default();
        if options.weakly_ordered {
            costs.order_weakly();
        }
        if options.service.is_some() {
            let (spin, exchange, transaction, barrier) = (0, 0, 0, 0);
            let steps = [0; CostEvent::KINDS];
            costs = Costs { steps, spin, exchange, transaction, barrier, ..costs };
        }
        costs
    }

    /// Makes them those of a processor that orders memory weakly, such as a Cortex-A9: a barrier
    /// takes 6 to 19 cycles (S1-E01), and an exchange is a loop of five instructions between its
    /// barriers.
    fn order_weakly(&mut self) {
        (self.barrier, self.exchange) = (12, 5);
    }
}

impl Default for Costs {
    /// Calibrated on what ping-pong, hot-potato and ipc-queueing take under all
    /// kernels on the machine `qemu-x86_64`: each figure there comes out within 10 %. What CPUs do
    /// to each other is a guess of the right size.
    fn default() -> Costs {
        let (entries, steps) = ([0; EntryCost::KINDS], [0; CostEvent::KINDS]);
        let (ipi, spin, exchange, transaction, barrier) = (1000, 10, 20, 40, 0);
        let mut costs = Costs { entries, steps, ipi, spin, exchange, transaction, barrier };
        for (entry, cost) in [
            (EntryCost::Attempt, 42),
            (EntryCost::AttemptBoth, 66),
            (EntryCost::Left, 64),
            (EntryCost::LeftBoth, 130),
            (EntryCost::Message, 66),
            (EntryCost::Exchange, 180),
            (EntryCost::Call, 104),
            (EntryCost::Interrupt, 200),
            (EntryCost::Fault, 170),
        ] {
            costs.entries[entry as usize] = cost;
        }
        for (step, cost) in [
            (CostEvent::Resolve, 36),
            (CostEvent::LookUp, 9),
            (CostEvent::Link(Queue::Ready, 0), 32),
            (CostEvent::Link(Queue::Waiting, 0), 28),
            (CostEvent::Unlink(Queue::Ready, 0), 32),
            (CostEvent::Unlink(Queue::Waiting, 0), 19),
            (CostEvent::Search, 44),
            (CostEvent::Scan, 9),
            (CostEvent::Compare, 7),
            (CostEvent::Meld, 28),
            (CostEvent::Buffers, 80),
            (CostEvent::Copy(1), 1),
            (CostEvent::Status(0), 9),
            (CostEvent::Switch(0), 35),
        ] {
            costs.steps[step.kind()] = cost;
        }
        costs
    }
}
