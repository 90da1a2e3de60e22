//! Boots a system on this machine.

use crate::archive::System;
use crate::port::Host;
use abi::PAGE;
use kernel::arena::Arena;
use kernel::boot;
use kernel::entry::Entry;
use kernel::events::Machine;
use kernel::system;
use kernel::variant::Variant;
use std::alloc::{Layout, alloc_zeroed};

/// Boots the kernel `S`; returns its CPUs, which have not entered the kernel yet. Its memory is
/// never freed: pools live for ever.
pub fn boot<S: system::System<Port: Host>>(
    hertz: u64,
    system: &System,
) -> impl Iterator<Item = Machine<S::Port>> + use<S> {
    let port: &'static S::Port = Box::leak(Box::new(S::Port::new(hertz)));
    let mut arena = memory(system.memory());
    let archive = boot::Archive::new(system.words);
    let machine = boot::carve(port, Variant::of::<S>(), archive, &mut arena);
    // SAFETY: no other thread knows of this kernel yet.
    let core = unsafe { Entry::<S>::enter(machine.kernel, machine.cpu) };
    boot::build(&core.manage(), archive, &mut arena);
    drop(core);
    let kernel = machine.kernel;
    (0..system.cpus).map(|number| Machine { kernel, cpu: kernel.cpu(number) })
}

/// RAM whose physical addresses are the host's.
fn memory(bytes: usize) -> Arena {
    let layout = Layout::from_size_align(bytes, PAGE as usize).expect("a size that fits");
    // SAFETY: the layout is not empty.
    let start = unsafe { alloc_zeroed(layout) };
    assert!(!start.is_null(), "out of memory");
    let physical = start.expose_provenance() as u64;
    // SAFETY: zeroed, never freed, and used through this arena alone; frames are atomics.
    unsafe { Arena::new(start, bytes, physical) }
}
