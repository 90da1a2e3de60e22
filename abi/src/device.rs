//! Registers of devices to control: 64-bit words from the beginning of a page, by index.
//!
//! A bit of a status that says "write 1" is cleared by writing a word with it. A device asks for
//! its interrupt as long as it has a reason: so the reason is taken away before the interrupt is
//! acknowledged, or it comes again.

/// Pulses of a length that is set: what a drive or a heater gets in part.
pub mod pwm {
    /// Nanoseconds from pulse to pulse; 50,000 at first.
    pub const PERIOD: usize = 0;
    /// How long each is, in nanoseconds: from 0 to the period.
    pub const DUTY: usize = 1;
    /// [`ON`], [`INTERRUPT`].
    pub const CONTROL: usize = 2;
    /// [`ENDED`]: write 1.
    pub const STATUS: usize = 3;
    /// Of the control: there are pulses.
    pub const ON: u64 = 1;
    /// Of the control: it interrupts when a period ends.
    pub const INTERRUPT: u64 = 2;
    /// Of the status: a period has ended.
    pub const ENDED: u64 = 1;
    /// The shortest period, and the longest one: others are taken for these.
    pub const SHORTEST: u64 = 1_000;
    /// Likewise.
    pub const LONGEST: u64 = 1_000_000_000;
}

/// A converter from a value outside to a number.
pub mod adc {
    /// [`START`], [`INTERRUPT`].
    pub const CONTROL: usize = 0;
    /// [`DONE`], which reading the result clears, or [`BUSY`].
    pub const STATUS: usize = 1;
    /// What was measured, 0 to [`GREATEST`].
    pub const RESULT: usize = 2;
    /// Of the control: begins, unless it is busy.
    pub const START: u64 = 1;
    /// Of the control: it interrupts when there is a result.
    pub const INTERRUPT: u64 = 2;
    /// Of the status: there is a result that was not read.
    pub const DONE: u64 = 1;
    /// Of the status: it measures.
    pub const BUSY: u64 = 2;
    /// The greatest result.
    pub const GREATEST: u64 = 4095;
    /// Nanoseconds that it measures.
    pub const TIME: u64 = 10_000;
}

/// A counter of how far something has moved.
pub mod encoder {
    /// [`INTERRUPT`].
    pub const CONTROL: usize = 0;
    /// [`MOVED`]: write 1.
    pub const STATUS: usize = 1;
    /// Counts since the start, as a signed number.
    pub const COUNT: usize = 2;
    /// It has moved when the count differs by so many from that of the last time; 1 at first.
    pub const EVERY: usize = 3;
    /// Of the control: it interrupts when it has moved.
    pub const INTERRUPT: u64 = 2;
    /// Of the status: it has moved.
    pub const MOVED: u64 = 1;
}

/// Pins, a bit each: the first wire is bit 0.
pub mod gpio {
    /// What those pins have that are driven.
    pub const OUT: usize = 0;
    /// What all have.
    pub const IN: usize = 1;
    /// Pins that are driven; none at first.
    pub const DRIVEN: usize = 2;
    /// Pins that interrupt when they go from 0 to 1.
    pub const RISES: usize = 3;
    /// Pins that interrupt when they go from 1 to 0.
    pub const FALLS: usize = 4;
    /// Pins that have done what they interrupt for: write 1.
    pub const EDGES: usize = 5;
    /// Pins at most.
    pub const PINS: usize = 64;
}

/// A node on a bus like CAN: frames of up to 8 bytes, with 11 bits that say what they are about.
pub mod can {
    /// [`SEND`], [`INTERRUPT`].
    pub const CONTROL: usize = 0;
    /// [`SENDING`], [`RECEIVED`], [`LOST`].
    pub const STATUS: usize = 1;
    /// Id, length and bytes of the frame to send, the first byte lowest.
    pub const SEND_ID: usize = 2;
    /// Likewise.
    pub const SEND_LEN: usize = 3;
    /// Likewise.
    pub const SEND_DATA: usize = 4;
    /// Id, length and bytes of the first frame that was received.
    pub const ID: usize = 5;
    /// Likewise.
    pub const LEN: usize = 6;
    /// Likewise.
    pub const DATA: usize = 7;
    /// Written: the first frame that was received goes, and the next one is there.
    pub const NEXT: usize = 8;
    /// Of the control: sends, unless it is sending.
    pub const SEND: u64 = 1;
    /// Of the control: it interrupts while there is a frame that was received.
    pub const INTERRUPT: u64 = 2;
    /// Of the status: a frame is on its way.
    pub const SENDING: u64 = 1;
    /// Of the status: there is a frame that was received.
    pub const RECEIVED: u64 = 2;
    /// Of the status: one came when [`ROOM`] waited already, and is lost: write 1.
    pub const LOST: u64 = 4;
    /// Frames that wait to be taken at most.
    pub const ROOM: usize = 8;
    /// Nanoseconds of a bit: 500 kbit/s.
    pub const BIT: u64 = 2_000;
    /// Bits of a frame beside its bytes.
    pub const BITS: u64 = 47;
    /// Bytes of a frame at most.
    pub const BYTES: usize = 8;

    /// A frame.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Frame {
        /// What it is about: 11 bits.
        pub id: u16,
        /// How many bytes it has.
        pub len: u8,
        /// The bytes; zeros behind its length.
        pub data: [u8; BYTES],
    }

    impl Frame {
        /// A frame with the first 11 bits of an id and the first 8 of these bytes.
        pub fn new(id: u16, bytes: &[u8]) -> Frame {
            let mut data = [0; BYTES];
            let len = bytes.len().min(BYTES);
            data[..len].copy_from_slice(&bytes[..len]);
            Frame { id: id & 0x7ff, len: len as u8, data }
        }

        /// The bytes that it has.
        pub fn bytes(&self) -> &[u8] {
            &self.data[..usize::from(self.len).min(BYTES)]
        }
    }
}
