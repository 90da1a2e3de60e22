//! Invariants that need this machine's page tables.

use super::host::Host;
use super::space::Page;
use abi::object::Resource;
use abi::{PAGE, Rights};
use kernel::access::{Exclusive, Life, Ref};
use kernel::events::Machine;
use kernel::object::memory::Frames;
use kernel::object::{Domain, Mapping, Thread};
use kernel::port::Port;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

/// Stage and index at which a domain's destruction gives its page tables back.
const TABLES_STAGE: u8 = 10;

/// Checks that each domain's page tables hold what its mappings and message buffers say and
/// nothing else, and that the tables are those it is charged for.
pub fn check(machine: Machine<Host>, whole: &Exclusive<'_>) {
    let mut tables = BTreeSet::new();
    for index in 0..machine.kernel.domains.size() {
        let domain = machine.kernel.domains.get(index).expect("below the size");
        check_domain(machine, whole, domain, &mut tables);
    }
    let (_, used) = machine.kernel.tables.size_and_used();
    assert!(used as usize == tables.len(), "a page table is lost");
}

fn check_domain(
    machine: Machine<Host>,
    whole: &Exclusive<'_>,
    at: Ref<Domain<Host>>,
    tables: &mut BTreeSet<u64>,
) {
    let domain = whole.open(at);
    let (mut found, mut count) = (Vec::new(), 0);
    domain.space.walk(
        machine.kernel.port,
        &mut |table| {
            assert!(tables.insert(table), "a page table is used twice");
            count += 1;
        },
        &mut |page| found.push(page),
    );
    if at.life() == Life::Vacant {
        assert!(count == 0, "a vacant domain has page tables");
        return;
    }
    let mut expected = buffers(machine, whole, at);
    domain.mappings.each(|mapping| expected.extend(pages_of(machine, whole.open(mapping), whole)));
    expected.sort();
    assert!(found == expected, "page tables differ from mappings: {found:x?}, {expected:x?}");
    let given: u32 = (0..machine.kernel.domains.size())
        .filter_map(|index| machine.kernel.domains.get(index))
        .filter(|inner| inner.life() != Life::Vacant)
        .map(|inner| whole.open(inner))
        .filter(|inner| kernel::object::Pooled::owner(*inner).get() == Some(at))
        .map(|inner| inner.quotas.limit(Resource::Tables))
        .sum();
    let returned = match domain.sweep.get() {
        (TABLES_STAGE, index) => index,
        _ => 0,
    };
    let done = domain.sweep.get().0 > TABLES_STAGE;
    let charged = domain.quotas.used(Resource::Tables) - given;
    assert!(done || charged == count + returned, "a charge for tables differs from the tables");
}

fn buffers(machine: Machine<Host>, whole: &Exclusive<'_>, domain: Ref<Domain<Host>>) -> Vec<Page> {
    let kernel = machine.kernel;
    let threads = (0..kernel.threads.size()).filter_map(|index| kernel.threads.get(index));
    threads
        .filter(|thread| thread.life() != Life::Vacant)
        .map(|thread| whole.open(thread))
        .map(|thread| (thread.buffer, at_home(whole, thread)))
        .filter(|(_, (home, at))| *home == domain && *at != 0)
        .map(|(frame, (_, at))| Page { at, frame, rights: Rights::READ.or(Rights::WRITE).0 })
        .collect()
}

/// The domain that a thread belongs to, and the address of its message buffer there.
fn at_home(whole: &Exclusive<'_>, thread: &Thread<Host>) -> (Ref<Domain<Host>>, u64) {
    let mut at = (thread.domain.get(), thread.buffer_at.get());
    let mut next = thread.inside.get();
    while let Some(stack) = next {
        let activation = whole.open(stack);
        let from = activation.from.get().expect("a thread has come from somewhere");
        (at, next) = ((from, activation.buffer_at.get()), activation.outer.get());
    }
    at
}

fn pages_of(machine: Machine<Host>, mapping: &Mapping<Host>, whole: &Exclusive<'_>) -> Vec<Page> {
    let memory = whole.open(mapping.memory.get().expect("a mapping maps memory"));
    (0..mapping.done.get())
        .map(|page| {
            let offset = mapping.first.get() + page;
            let frame = match memory.frames.get() {
                Frames::Contiguous(base) => base + offset * PAGE,
                Frames::Indexed(index) => {
                    machine.kernel.port.frame(index)[offset as usize].load(Relaxed)
                }
            };
            let at = mapping.at.get() + page * PAGE;
            Page { at, frame, rights: rights_of(machine, mapping, whole, page, at) }
        })
        .collect()
}

/// While rights are being changed, pages not yet reached have others.
fn rights_of(
    machine: Machine<Host>,
    mapping: &Mapping<Host>,
    whole: &Exclusive<'_>,
    page: u64,
    at: u64,
) -> u8 {
    if page < mapping.protected.get() {
        return mapping.rights.get().0;
    }
    let domain = whole.open(mapping.domain.get().expect("a mapping is in a domain"));
    let mut rights = 0;
    domain.space.walk(machine.kernel.port, &mut |_| {}, &mut |page| {
        if page.at == at {
            rights = page.rights;
        }
    });
    rights
}
