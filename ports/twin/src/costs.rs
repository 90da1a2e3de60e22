//! What each step costs in units of virtual time.

use kernel::step::Step;

/// A way into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A fast path was tried.
    Attempt,
    /// An IPC system call took the general path.
    Message,
    /// Another system call.
    Call,
    /// An interrupt.
    Interrupt,
    /// A fault.
    Fault,
}

impl Entry {
    /// How many there are.
    pub const KINDS: usize = 5;
}

/// Units of virtual time for each kind of entry and step. A unit is an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// By [`Entry`].
    pub entries: [u32; Entry::KINDS],
    /// By [`Step::kind`]; for [`Step::Copy`], for each word.
    pub steps: [u32; Step::KINDS],
}

impl Default for Costs {
    /// Calibrated so that message costs come out as on the machine `qemu-x86_64`.
    fn default() -> Costs {
        Costs {
            entries: [40, 60, 100, 150, 200],
            //      plan look link unlink rotate scan compare copy message status switch
            steps: [50, 12, 12, 12, 6, 6, 6, 1, 0, 4, 40],
        }
    }
}
