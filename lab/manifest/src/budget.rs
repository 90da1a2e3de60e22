//! Pools: what boot takes, what quotas promise, and whether the machine has it.

use abi::PAGE;
use abi::object::{MOST_THREADS, Resource};

use crate::inventory::Inventory;
use crate::layout::{Area, Contents, tables};
use crate::problem::{Problem, Span};
use crate::system::{Domain, System};
use crate::units::spell_size;

/// An amount of every resource.
pub type Amounts = [u64; Resource::COUNT];

/// The kernel's store of one kind of resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pool {
    /// What the objects of the manifest and the domains' own start take.
    pub boot: u64,
    /// The sum of the quotas in the manifest.
    pub quotas: u64,
    /// Its size, at least what boot and quotas need together.
    pub size: u64,
    /// Where the manifest gives the size, if it does.
    pub given_at: Option<Span>,
}

impl Pool {
    /// What is taken or promised.
    pub fn used(&self) -> u64 {
        self.boot + self.quotas
    }
}

/// What a domain's quota has to cover at boot.
pub fn own(domain: &Domain, areas: &[Area]) -> Amounts {
    let mut own = [0; Resource::COUNT];
    own[Resource::Threads as usize] = 1;
    own[Resource::Slots as usize] = u64::from(domain.slots);
    own[Resource::Tables as usize] = tables(domain, areas);
    own
}

/// What a domain may create at run time; the supervisor may create all of its children.
fn quota(system: &System, index: usize, inventory: &Inventory) -> Amounts {
    let (quota, demand) = (&system.domains[index].quota, &inventory.demand);
    let further = |resource| if system.supervisor == Some(index) { demand[resource] } else { 0 };
    std::array::from_fn(|resource| quota[resource] + further(resource))
}

/// What the record of a domain that boots grants it: its quota and what its own start takes.
pub fn granted(system: &System, index: usize, inventory: &Inventory, areas: &[Area]) -> Amounts {
    let (quota, own) = (quota(system, index, inventory), own(&system.domains[index], areas));
    std::array::from_fn(|resource| quota[resource] + own[resource])
}

/// The objects without an owner.
fn unowned(system: &System, inventory: &Inventory, areas: &[Vec<Area>]) -> Amounts {
    let booted = areas.len();
    let areas = || areas.iter().flatten();
    let own = areas().filter(|area| matches!(area.contents, Contents::Own(_))).count();
    let counts = [
        (Resource::Domains, booted),
        (Resource::Endpoints, system.endpoints.len()),
        (Resource::Notifications, system.notifications.len()),
        (Resource::Interrupts, system.interrupts.len()),
        (Resource::Timers, system.timers.len()),
        (Resource::Memories, system.memories.len() + own + inventory.images.len()),
        (Resource::Mappings, areas().count()),
        (Resource::Reservations, system.reservations.len()),
    ];
    let mut amounts = [0; Resource::COUNT];
    for (resource, count) in counts {
        amounts[resource as usize] = count as u64;
    }
    amounts
}

/// The pools of a system whose domains that boot have these areas. A size that the manifest gives
/// has to be enough; another grows as needed.
pub fn pools(
    system: &System,
    inventory: &Inventory,
    areas: &[Vec<Area>],
) -> Result<[Pool; Resource::COUNT], Problem> {
    let mut boot = unowned(system, inventory, areas);
    let mut quotas = [0; Resource::COUNT];
    for (index, areas) in areas.iter().enumerate() {
        let (own, quota) = (own(&system.domains[index], areas), quota(system, index, inventory));
        for resource in 0..Resource::COUNT {
            boot[resource] += own[resource];
            quotas[resource] += quota[resource];
        }
    }
    let mut pools = system.pools.clone();
    for resource in Resource::ALL {
        let pool = &mut pools[resource as usize];
        (pool.boot, pool.quotas) = (boot[resource as usize], quotas[resource as usize]);
        let needed = pool.used();
        match &pool.given_at {
            Some(span) if pool.size < needed => {
                return Err(too_small(system, resource, pool, span));
            }
            Some(_) => {}
            None => pool.size = pool.size.max(needed),
        }
    }
    match &pools[Resource::Threads as usize] {
        threads if threads.size > MOST_THREADS as u64 => Err(too_many_threads(system, threads)),
        _ => Ok(pools),
    }
}

fn too_many_threads(system: &System, threads: &Pool) -> Problem {
    let message = format!("a system has at most {MOST_THREADS} threads, not {}", threads.size);
    let help = "lower the pool of threads, or quotas of threads";
    system.source.problem(threads.given_at.as_ref().unwrap_or(&system.memory_at), message, help)
}

fn too_small(system: &System, resource: Resource, pool: &Pool, span: &Span) -> Problem {
    let name = resource.name();
    let message = format!(
        "the pool of {name} is too small by {}: it has {}, boot takes {} and the quotas sum to {}",
        pool.used() - pool.size,
        pool.size,
        pool.boot,
        pool.quotas
    );
    let lower = if pool.quotas > 0 { ", or lower quotas" } else { "" };
    let help = format!("write `{name} = {}` or more{lower}", pool.used());
    system.source.problem(span, message, help)
}

/// Memory for the kernel itself, the machine's own use and what rounding loses.
const KERNEL: u64 = 4 << 20;

/// Roughly the bytes that one object of a pool takes.
const fn bytes_each(resource: Resource) -> u64 {
    match resource {
        Resource::Threads => PAGE + 2048,
        Resource::Frames | Resource::Tables => PAGE,
        // A root table, and a capability table for those that programs create.
        Resource::Domains => 2 * PAGE,
        Resource::Slots => 32,
        Resource::Reservations => 2560,
        _ => 128,
    }
}

/// Refuses a system that does not fit into the machine's memory. The archive holds `data` bytes
/// beside what the areas take.
pub fn fits(
    system: &System,
    pools: &[Pool; Resource::COUNT],
    areas: &[Vec<Area>],
    data: u64,
) -> Result<(), Problem> {
    let own = areas.iter().flatten().filter(|area| matches!(area.contents, Contents::Own(_)));
    let private: u64 = own.map(|area| area.pages * PAGE).sum();
    let ram = system.memories.iter().filter(|memory| memory.is_ram());
    let shared: u64 = ram.map(|memory| memory.bytes).sum();
    let pooled: u64 = Resource::ALL
        .iter()
        .map(|resource| pools[*resource as usize].size * bytes_each(*resource))
        .sum();
    let needed = KERNEL + private + shared + pooled + data;
    if needed <= system.memory {
        return Ok(());
    }
    let megabytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let message = format!(
        "{} of memory are too small: the system needs about {}M ({}M shared memory, {}M programs \
         and stacks, {}M pools, {}M kernel and archive)",
        spell_size(system.memory),
        megabytes(needed),
        megabytes(shared),
        megabytes(private),
        megabytes(pooled),
        megabytes(KERNEL + data)
    );
    let help = "raise `memory`, or lower sizes, pools and quotas";
    Err(system.source.problem(&system.memory_at, message, help))
}
