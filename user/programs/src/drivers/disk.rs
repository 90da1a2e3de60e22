//! The driver of a disk.

use super::hardware;
use rt::device::Registers;
use rt::prelude::*;
use rt::{Words, ipc};
use virtio::block::LAYOUT;
use virtio::driver::{self, BlockDriver, Link};

type Driver = BlockDriver<Registers, Words, Words>;

/// The driver: also memory `link`, capabilities `link` (physical) and `client` (signal). The client
/// signals the bell too.
pub fn driver(env: &Env) {
    let (registers, mut memory) = hardware(env);
    let (headers, queue) = (memory.cut(Driver::HEADERS), memory.cut(Driver::QUEUE));
    let mut driver = Driver::new(registers, headers, queue, Link::of(env, LAYOUT));
    let bell = env.cap("bell");
    driver::run(&mut driver, env.cap("interrupt"), env.cap("client"), |_, may_wait| {
        may_wait.then(|| ipc::receive(bell, Wait::NEVER).expect("the notification is there"))
    })
}
