//! Wires that lead back.

use crate::{Frame, Parameters, Plant};
use std::collections::VecDeque;

/// Frames that it has for the bus at most.
const MOST: usize = 16;

/// What is put on a wire, `a` to `d`, is measured there; a frame comes back with the next id.
#[derive(Default)]
pub struct Loopback {
    wires: [f64; 4],
    frames: VecDeque<Frame>,
}

impl Loopback {
    /// Without parameters.
    ///
    /// # Errors
    ///
    /// There are some; which, in words.
    pub fn new(parameters: &Parameters) -> Result<Loopback, String> {
        parameters.only(&[])?;
        Ok(Loopback::default())
    }
}

impl Plant for Loopback {
    fn wires(&self) -> &[&'static str] {
        &["a", "b", "c", "d"]
    }

    fn get(&self, wire: usize) -> f64 {
        self.wires[wire]
    }

    fn set(&mut self, wire: usize, value: f64) {
        self.wires[wire] = value;
    }

    fn step(&mut self, _seconds: f64) {}

    fn receive(&mut self, frame: Frame) {
        if self.frames.len() < MOST {
            self.frames.push_back(Frame::new(frame.id + 1, frame.bytes()));
        }
    }

    fn send(&mut self) -> Option<Frame> {
        self.frames.pop_front()
    }
}
