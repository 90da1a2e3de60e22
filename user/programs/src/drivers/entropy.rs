//! The driver of a source of random bytes.

use super::hardware;
use rt::Words;
use rt::device::Registers;
use rt::prelude::*;
use virtio::driver::EntropyDriver;
use virtio::entropy::Entropy;

type Driver = EntropyDriver<Registers, Words>;

/// The driver: also capability `entropy` (receive).
pub fn driver(env: &Env) {
    let (registers, mut memory) = hardware(env);
    let (buffer, queue) = (memory.cut(Driver::BUFFER), memory.cut(Driver::QUEUE));
    let (bell, interrupt) = (env.cap("bell"), env.cap("interrupt"));
    let mut driver = Driver::new(registers, buffer, queue, bell, interrupt);
    let why = driver.serve(env.cap("entropy"));
    panic!("no more requests: {why:?}");
}
