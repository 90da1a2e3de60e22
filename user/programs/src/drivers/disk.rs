//! The driver of a disk.

use super::{hardware, start};
use rt::Words;
use rt::device::Registers;
use rt::prelude::*;
use virtio::block::LAYOUT;
use virtio::driver::{BlockDriver, Link};

type Driver = BlockDriver<Registers, Words, Words>;

/// The driver: also memory `link`, capabilities `link` (physical) and `client` (signal). The client
/// signals the bell too.
pub fn driver(env: &Env) {
    let (registers, mut memory) = hardware(env);
    let (headers, queue) = (memory.cut(Driver::HEADERS), memory.cut(Driver::QUEUE));
    start(env, Driver::new(registers, headers, queue, Link::of(env, LAYOUT)), "client");
}
