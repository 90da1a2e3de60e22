//! Data structures against plain models.

mod capabilities;
mod console;
mod generations;
mod lists;
mod quotas;
mod senders;
mod time;
mod wear;

use crate::support::host::Host;
use kernel::access::{Guarded, Ref};
use kernel::object::{Domain, Thread};

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Objects of their own, in no pool.
fn objects<T>(count: u32, make: impl Fn() -> T) -> Vec<Ref<T>> {
    (0..count).map(|index| Ref::new(leak(Guarded::vacant(make(), index, 0)))).collect()
}

fn threads(count: u32) -> Vec<Ref<Thread<Host>>> {
    let domain = objects(1, || Domain::new(0, &[]))[0];
    objects(count, || Thread::new(domain, 0))
}
