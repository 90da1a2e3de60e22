//! What guards the kernel of a machine: a type each, and its name.

use crate::hardware::Hardware;
use crate::sections::Timed;
use crate::transactions::Modelled;
use kernel::locks::{Big, Elision, Fine, LockPolicy, Relax, Unlocked};

/// CPUs that a machine can have.
pub const MOST_CPUS: u32 = 64;
/// Nodes of a queue lock for them.
const NODES: usize = 128;

/// A lock policy that the twin can run a kernel under.
pub trait Locking: LockPolicy {
    /// Whether there may be several CPUs.
    const SMP: bool = true;
}

impl Locking for Unlocked {
    const SMP: bool = false;
}

/// One lock around everything.
pub type BigLock = Timed<Big<Spin, NODES>>;

impl Locking for BigLock {}

/// Locks of single objects.
pub type FineLocks = Timed<Fine<Spin, { MOST_CPUS as usize }>>;

impl Locking for FineLocks {}

/// The same, left out by the transactions of the machine's CPUs.
pub type ElidedLock = Timed<Elision<Modelled, Spin, NODES>>;

impl Locking for ElidedLock {}

/// A round of a loop that waits for another CPU: that CPU may go on.
pub struct Spin;

impl Relax for Spin {
    fn relax() {
        Hardware::current().spin();
    }
}
