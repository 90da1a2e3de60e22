//! What is controlled.

use crate::Parameters;
use abi::device::can::Frame;

/// Nanoseconds between two steps of a plant.
pub const STEP: u64 = 50_000;

/// A model of what is controlled: it has wires, each of which is acted on by a device or measured
/// by some, and goes on in steps of [`STEP`]. The same steps give the same values, whatever reads
/// them and however often.
pub trait Plant {
    /// The names of its wires.
    fn wires(&self) -> &[&'static str];

    /// What the wire with this index has now, in units of its own.
    fn get(&self, wire: usize) -> f64;

    /// A device puts this on the wire with this index, until it puts something else there. What is
    /// only measured stays as it is.
    fn set(&mut self, wire: usize, value: f64);

    /// So many seconds pass.
    fn step(&mut self, seconds: f64);

    /// A frame comes from the bus. What a plant without a bus does with it: nothing.
    fn receive(&mut self, _frame: Frame) {}

    /// The next frame that it has for the bus, if there is one.
    fn send(&mut self) -> Option<Frame> {
        None
    }
}

/// Makes a plant.
pub type Make = fn(&Parameters) -> Result<Box<dyn Plant>, String>;
