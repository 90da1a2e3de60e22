//! The driver of a network card.

use super::hardware;
use crate::network::{Bell, gate};
use flows::{Gate, Receive};
use network::{FRAME, LAYOUT};
use ring::{Owned, Sender};
use rt::Words;
use rt::device::Registers;
use rt::prelude::*;
use virtio::driver::{self, Admission, Link, NetworkDriver};

type Driver = NetworkDriver<Registers, Words, Words, Reserved, { 2 * LAYOUT.buffers() }>;

/// What has a unit passes.
struct Reserved(Gate<Words>);

impl Admission<Words> for Reserved {
    #[inline]
    fn admit(&mut self, to: &Sender<Words>, frame: &Owned, length: usize) -> Option<u32> {
        self.0.admit(to, frame, length)
    }
}

/// The driver: also memory `link`, capabilities `link` (physical) and `server` (signal), argument
/// `receive`, the reservations. The server signals the bell too.
pub fn driver(env: &Env) {
    let (registers, mut memory) = hardware(env);
    let headers = memory.cut(Driver::HEADERS).address;
    let queues = [(); 2].map(|()| memory.cut(Driver::QUEUE));
    let link = (Link::of(env, LAYOUT), LAYOUT);
    let reserved = Reserved(gate(env, env.mem("link"), "receive"));
    let mut driver = Driver::new(registers, headers, queues, link, reserved, FRAME);
    let bell = Bell::of(env, "bell");
    driver::run(&mut driver, env.cap("interrupt"), env.cap("server"), |driver, may_wait| {
        bell.next(may_wait, |request| {
            let (Reserved(gate), sender) = driver.admission();
            gate.look(sender);
            gate.dispatch(request)
        })
    })
}
