//! A node on a bus.

use super::Registers;
use crate::Words;
pub use abi::device::can::Frame;
use abi::device::can::{
    CONTROL, DATA, ID, INTERRUPT, LEN, LOST, NEXT, RECEIVED, SEND, SEND_DATA, SEND_ID, SEND_LEN,
    SENDING, STATUS,
};

/// Sends and receives frames.
#[derive(Clone, Copy)]
pub struct Can(Registers);

impl Can {
    /// The device whose registers are in some memory.
    pub fn new(words: Words) -> Can {
        Can(Registers::new(words))
    }

    /// Sends a frame of up to 8 bytes to all others on the bus. False: it is sending another one.
    pub fn send(&self, id: u16, bytes: &[u8]) -> bool {
        if self.0.read(STATUS) & SENDING != 0 {
            return false;
        }
        let frame = Frame::new(id, bytes);
        self.0.write(SEND_ID, frame.id.into());
        self.0.write(SEND_LEN, frame.len.into());
        self.0.write(SEND_DATA, u64::from_le_bytes(frame.data));
        self.0.write(CONTROL, self.0.read(CONTROL) | SEND);
        true
    }

    /// Takes the first frame that was received; 8 wait at most. To be asked until there is none
    /// before the interrupt is acknowledged.
    pub fn receive(&self) -> Option<Frame> {
        if self.0.read(STATUS) & RECEIVED == 0 {
            return None;
        }
        let [id, len, data] = [ID, LEN, DATA].map(|register| self.0.read(register));
        self.0.write(NEXT, 1);
        Some(Frame { id: id as u16, len: len as u8, data: data.to_le_bytes() })
    }

    /// It interrupts while there is a frame that was received, or not.
    pub fn interrupt(&self, on: bool) {
        self.0.write(CONTROL, if on { INTERRUPT } else { 0 });
    }

    /// Whether frames were lost since this was asked last.
    pub fn has_lost(&self) -> bool {
        let lost = self.0.read(STATUS) & LOST != 0;
        self.0.write(STATUS, LOST);
        lost
    }
}
