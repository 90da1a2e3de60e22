//! The driver of a network card.

use super::{hardware, start};
use network::{FRAME, LAYOUT};
use rt::Words;
use rt::device::Registers;
use rt::prelude::*;
use virtio::driver::{Link, NetworkDriver};

type Driver = NetworkDriver<Registers, Words, Words, { 2 * LAYOUT.buffers() }>;

/// The driver: also memory `link`, capabilities `link` (physical) and `server` (signal). The server
/// signals the bell too.
pub fn driver(env: &Env) {
    let (registers, mut memory) = hardware(env);
    let headers = memory.cut(Driver::HEADERS).address;
    let queues = [(); 2].map(|()| memory.cut(Driver::QUEUE));
    let link = (Link::of(env, LAYOUT), LAYOUT);
    start(env, Driver::new(registers, headers, queues, link, FRAME), "server");
}
