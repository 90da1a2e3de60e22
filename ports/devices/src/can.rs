//! A node on a bus.

use crate::{Device, Frame, Outside};
use abi::device::can::{
    BIT, BITS, CONTROL, DATA, ID, INTERRUPT, LEN, LOST, NEXT, RECEIVED, ROOM, SEND, SEND_DATA,
    SEND_ID, SEND_LEN, SENDING, STATUS,
};
use std::collections::VecDeque;

/// Sends to all others on the bus, and receives from all.
#[derive(Default)]
pub struct Can {
    frame: Frame,
    /// When the frame that it sends has arrived.
    arrives: Option<u64>,
    received: VecDeque<Frame>,
    interrupts: bool,
    lost: bool,
}

impl Device for Can {
    fn read(&mut self, register: usize, _: &mut Outside) -> u64 {
        let first = self.received.front().copied().unwrap_or_default();
        match register {
            CONTROL => u64::from(self.interrupts) * INTERRUPT,
            STATUS => {
                let sending = u64::from(self.arrives.is_some()) * SENDING;
                let received = u64::from(!self.received.is_empty()) * RECEIVED;
                let lost = u64::from(self.lost) * LOST;
                sending | received | lost
            }
            SEND_ID => self.frame.id.into(),
            SEND_LEN => self.frame.len.into(),
            SEND_DATA => u64::from_le_bytes(self.frame.data),
            ID => first.id.into(),
            LEN => first.len.into(),
            DATA => u64::from_le_bytes(first.data),
            _ => 0,
        }
    }

    fn write(&mut self, register: usize, value: u64, outside: &mut Outside) {
        match register {
            CONTROL => {
                self.interrupts = value & INTERRUPT != 0;
                if value & SEND != 0 && self.arrives.is_none() {
                    let bits = BITS + 8 * u64::from(self.frame.len);
                    self.arrives = Some(outside.occupy(bits * BIT));
                }
            }
            STATUS => self.lost &= value & LOST == 0,
            // What is on its way stays as it is.
            _ if self.arrives.is_some() && register != NEXT => {}
            SEND_ID => self.frame.id = value as u16 & 0x7ff,
            SEND_LEN => self.frame.len = value.min(8) as u8,
            SEND_DATA => self.frame.data = value.to_le_bytes(),
            NEXT => drop(self.received.pop_front()),
            _ => {}
        }
    }

    fn asks(&self) -> bool {
        self.interrupts && !self.received.is_empty()
    }

    fn next(&self) -> Option<u64> {
        self.arrives
    }

    fn wake(&mut self, outside: &mut Outside) {
        self.arrives = None;
        // Bytes behind its length are not sent.
        outside.send(Frame::new(self.frame.id, self.frame.bytes()));
    }

    fn watches(&self) -> bool {
        self.interrupts
    }

    fn receive(&mut self, frame: Frame) {
        match self.received.len() < ROOM {
            true => self.received.push_back(frame),
            false => self.lost = true,
        }
    }
}
