//! What is controlled.

use crate::Parameters;

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

/// A frame on a bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// 11 bits; the lower one goes first where two nodes send at once.
    pub id: u16,
    /// How many bytes of `data` it has, 8 at most.
    pub len: u8,
    /// What it says; zeros behind its length.
    pub data: [u8; 8],
}

impl Frame {
    /// A frame with these bytes, 8 at most.
    pub fn new(id: u16, bytes: &[u8]) -> Frame {
        let mut data = [0; 8];
        let len = bytes.len().min(8);
        data[..len].copy_from_slice(&bytes[..len]);
        Frame { id, len: len as u8, data }
    }
}
