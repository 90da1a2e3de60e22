//! Where a debugger finds what threads are doing: constants of an image, of which the kernel itself
//! uses none.

use crate::access::{Guarded, Life};
use crate::cpu::Cpu;
use crate::events::Machine;
use crate::kernel::Kernel;
use crate::object::thread::{Wait, flag};
use crate::object::waiter::{Place, Target};
use crate::object::{Domain, Endpoint, Interrupt, Notification, Thread, Train};
use crate::pool::Pool;
use crate::port::Port;
use abi::layout::{LIVE, Layout};
use core::mem::offset_of;

/// Bytes in a word.
const WORD: usize = 8;

/// The layout of a port's kernel, which is found from a [`Machine`].
pub const fn of<P: Port>() -> Layout {
    const { assert!(Life::Live as u8 == LIVE) };
    let condition = offset_of!(Thread<P>, futex.target) + offset_of!(Target, condition);
    // What tells that there is one comes first.
    let place = condition + size_of::<Option<Place>>() - size_of::<Place>();
    let name = offset_of!(Thread<P>, name);
    let layout = Layout {
        machine_kernel: offset_of!(Machine<P>, kernel) as u64,
        kernel_cpus: offset_of!(Kernel<P>, cpus) as u64,
        kernel_threads: (offset_of!(Kernel<P>, threads) + Pool::<Thread<P>>::SLOTS) as u64,
        kernel_endpoints: (offset_of!(Kernel<P>, endpoints) + Pool::<Endpoint<P>>::SLOTS) as u64,
        kernel_interrupts: (offset_of!(Kernel<P>, interrupts) + Pool::<Interrupt<P>>::USED) as u64,
        cpu_size: size_of::<Cpu<P>>() as u64,
        cpu_current: offset_of!(Cpu<P>, current) as u64,
        cpu_idle: offset_of!(Cpu<P>, idle) as u64,
        cpu_armed: Cpu::<P>::ARMED as u64,
        thread_size: size_of::<Guarded<Thread<P>>>() as u64,
        thread_life: Guarded::<Thread<P>>::LIFE as u64,
        thread_incarnation: Guarded::<Thread<P>>::INCARNATION as u64,
        thread_index: Guarded::<Thread<P>>::INDEX as u64,
        thread_state: Thread::<P>::STATE as u64,
        thread_flags: Thread::<P>::FLAGS as u64,
        thread_deadline: Thread::<P>::DEADLINE as u64,
        thread_domain: Thread::<P>::DOMAIN as u64,
        thread_server: offset_of!(Thread<P>, server) as u64,
        thread_wait: offset_of!(Thread<P>, wait) as u64,
        thread_named: (name + offset_of!((u64, [u64; 2]), 0)) as u64,
        thread_name: (name + offset_of!((u64, [u64; 2]), 1)) as u64,
        thread_turnstile: offset_of!(Thread<P>, inherit.waits) as u64,
        thread_described: offset_of!(Thread<P>, inherit.turnstile.address) as u64,
        thread_conditional: condition as u64,
        thread_condition: (place + offset_of!(Place, at)) as u64,
        thread_mutex: (offset_of!(Thread<P>, futex.target)
            + offset_of!(Target, mutex)
            + offset_of!(Place, at)) as u64,
        domain_name: offset_of!(Domain<P>, name) as u64,
        domain_owner: Domain::<P>::OWNER as u64,
        endpoint_size: size_of::<Guarded<Endpoint<P>>>() as u64,
        endpoint_life: Guarded::<Endpoint<P>>::LIFE as u64,
        endpoint_given_up: Endpoint::<P>::GIVEN_UP as u64,
        endpoint_index: Guarded::<Endpoint<P>>::INDEX as u64,
        notification_index: Guarded::<Notification<P>>::INDEX as u64,
        train_index: Guarded::<Train<P>>::INDEX as u64,
        flag_suspended: flag::SUSPENDED as u64,
        flag_deadline: flag::DEADLINE as u64,
        flag_ended: flag::ENDED as u64,
    };
    assert!(size_of::<Wait<P>>() == 2 * WORD, "a word that says what, and an address");
    assert!(size_of::<Option<Machine<P>>>() == 2 * WORD, "two addresses");
    layout
}
