//! What the supervisor is given to make its children of: their images, and the inventory.

use abi::object::Resource;
use abi::supervision::{BEATS, Child, FAULTS, Grant, MAGIC, Map, Owned};
use abi::{PAGE, Rights, boot};

use crate::budget::Amounts;
use crate::elf::Image;
use crate::layout::{Area, Contents, ENVIRONMENT, STACKS, areas, buffer, tables};
use crate::owned;
use crate::problem::{Problem, quote};
use crate::supervisor::{cap_name, image_name, leaf_name, map_name, told_name};
use crate::system::{Capability, Domain, System};
use crate::target::Target;

/// Pages that one mapping has at most, and a memory object that is made at run time.
const MOST_PAGES: u64 = 512;

/// What children are made of.
#[derive(Default)]
pub struct Inventory {
    /// What each child's image holds: a whole number of pages.
    pub images: Vec<Vec<u8>>,
    /// The words of the inventory.
    pub words: Vec<u64>,
    /// What the supervisor needs of each resource to have all children at once.
    pub demand: Amounts,
}

/// A child's addresses.
#[derive(Default)]
struct Plan {
    image: Vec<u8>,
    /// Pages of fresh memory.
    fresh: u64,
    maps: Vec<Map>,
    /// What is to be in fresh memory, by the map that shows it.
    contents: Vec<(usize, Vec<u8>)>,
}

impl Inventory {
    /// The inventory of a system whose domains run these images; empty without a supervisor.
    pub fn of<'a>(
        system: &System,
        image: &dyn Fn(&Domain) -> &'a Image,
    ) -> Result<Inventory, Problem> {
        let mut made = Inventory::default();
        let Some(supervisor) = system.supervisor else { return Ok(made) };
        let slots = Slots(&system.domains[supervisor]);
        let owned = owned(system, &slots);
        made.words.extend([MAGIC, system.children().len() as u64, owned.len() as u64]);
        made.words.extend(owned.iter().flat_map(Owned::to_words));
        let mut contents: Vec<(usize, Vec<u8>)> = Vec::new();
        for domain in system.children() {
            let image = image(domain);
            let areas = areas(system, domain, image, None);
            let plan = plan(system, &slots, domain, &areas)?;
            let quotas = quotas(system, domain, &areas)?;
            let grants = grants(&slots, domain);
            let child = Child {
                fresh_pages: plan.fresh,
                maps: plan.maps.len(),
                grants: grants.len(),
                ..child(system, &slots, domain, image, &quotas)
            };
            made.words.extend(child.to_words());
            let first = made.words.len();
            let at = |(map, bytes)| (first + map * Map::WORDS, bytes);
            contents.extend(plan.contents.into_iter().map(at));
            made.words.extend(plan.maps.iter().flat_map(Map::to_words));
            made.words.extend(grants.iter().flat_map(Grant::to_words));
            made.images.push(plan.image);
            add(&mut made.demand, domain, &child);
        }
        // A mapping of the supervisor's own, by which it fills fresh memory.
        made.demand[Resource::Mappings as usize] += 1;
        for (map, bytes) in contents {
            made.words[map + Map::CONTENTS] = made.words.len() as u64;
            made.words.extend(bytes.chunks(8).map(word));
        }
        Ok(made)
    }

    /// The areas of the domains that boot.
    pub fn areas<'a>(
        &self,
        system: &System,
        image: &dyn Fn(&Domain) -> &'a Image,
    ) -> Vec<Vec<Area>> {
        let own = |index| (system.supervisor == Some(index)).then_some(&self.words[..]);
        let areas = |(index, domain)| areas(system, domain, image(domain), own(index));
        system.booted().iter().enumerate().map(areas).collect()
    }

    /// Bytes of all images.
    pub fn bytes(&self) -> u64 {
        self.images.iter().map(|image| image.len() as u64).sum()
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// The supervisor's slots by what they hold.
struct Slots<'a>(&'a Domain);

impl Slots<'_> {
    fn find(&self, name: &str) -> Option<u32> {
        let place = self.0.caps.iter().position(|cap| cap.name == name)?;
        Some(place as u32 + 1)
    }

    fn of(&self, name: &str) -> u32 {
        self.find(name).unwrap_or_else(|| panic!("the supervisor holds `{name}`"))
    }
}

/// Where everything of a child is: in its image, in fresh memory or in memory that is shared.
fn plan(system: &System, slots: &Slots, domain: &Domain, areas: &[Area]) -> Result<Plan, Problem> {
    let mut plan = Plan::default();
    for area in areas {
        let mut map = Map {
            memory: None,
            first: 0,
            pages: area.pages,
            address: area.address,
            rights: area.rights.0,
            contents: 0,
            bytes: 0,
        };
        match &area.contents {
            Contents::Own(bytes) if area.rights.contains(Rights::WRITE) => {
                map.first = plan.fresh;
                plan.fresh += area.pages;
                let used = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                map.bytes = used as u64;
                if used > 0 {
                    plan.contents.push((plan.maps.len(), bytes[..used].to_vec()));
                }
                plan.maps.push(map);
            }
            Contents::Own(bytes) => {
                map.memory = Some(slots.of(&image_name(domain)));
                map.first = plan.image.len() as u64 / PAGE;
                plan.image.extend(bytes);
                plan.image.resize(((map.first + area.pages) * PAGE) as usize, 0);
                plan.maps.extend(parts(map));
            }
            Contents::Shared(memory) => {
                let name = map_name(domain, &system.memories[*memory].name);
                map.memory = Some(slots.of(&name));
                plan.maps.extend(parts(map));
            }
        }
    }
    if plan.fresh <= MOST_PAGES {
        return Ok(plan);
    }
    let message = format!(
        "the stacks and the writable data of {} are {} pages; of a supervised domain {MOST_PAGES} \
         at most",
        quote(&domain.name),
        plan.fresh
    );
    let help = "lower `threads` or `stack`, or put data into shared memory";
    Err(system.source.problem(&domain.program_at, message, help))
}

/// A map, as several that are not too long.
fn parts(map: Map) -> impl Iterator<Item = Map> {
    (0..map.pages).step_by(MOST_PAGES as usize).map(move |at| Map {
        first: map.first + at,
        pages: (map.pages - at).min(MOST_PAGES),
        address: map.address + at * PAGE,
        ..map
    })
}

/// What a child is given of each resource.
fn quotas(
    system: &System,
    domain: &Domain,
    areas: &[Area],
) -> Result<[u16; Resource::COUNT], Problem> {
    let mut quotas = [0; Resource::COUNT];
    for resource in Resource::ALL {
        let own = if resource == Resource::Tables { tables(domain, areas) } else { 0 };
        let amount = domain.quota[resource as usize] + own;
        quotas[resource as usize] = u16::try_from(amount).map_err(|_| {
            let (name, resource) = (quote(&domain.name), resource.name());
            let message = format!("{name} needs {amount} {resource}, too many at run time");
            let help = format!("a supervised domain can be given {} at most", u16::MAX);
            system.source.problem(&domain.program_at, message, help)
        })?;
    }
    Ok(quotas)
}

/// What children alone hold, and the supervisor makes as it was.
fn owned(system: &System, slots: &Slots) -> Vec<Owned> {
    let owned = |(target, holders): &(Target, u32)| Owned {
        kind: target.kind(),
        slot: slots.of(&owned::cap(system, *target).name),
        holders: *holders,
    };
    system.owned.iter().map(owned).collect()
}

fn grants(slots: &Slots, domain: &Domain) -> Vec<Grant> {
    let grant = |(to, cap): (u32, &Capability)| Grant {
        from: slots.of(&cap_name(domain, &cap.name)),
        to,
        rights: cap.rights.0,
    };
    (1..).zip(&domain.caps).map(grant).collect()
}

fn child(
    system: &System,
    slots: &Slots,
    domain: &Domain,
    image: &Image,
    quotas: &[u16; Resource::COUNT],
) -> Child {
    let restart = domain.restart.as_ref().expect("it is supervised");
    let first = system.booted().len();
    let depends = restart.depends.iter().fold(0, |set, index| set | 1 << (index - first));
    let existing = u64::MAX >> (64 - system.cpus);
    Child {
        name: boot::name_words(&domain.name),
        priority: domain.priority.into(),
        max_priority: domain.max_priority.into(),
        slots: domain.slots.into(),
        cpus: domain.cpus.map_or(0, |cpus| cpus & existing),
        cpu: domain.cpu.into(),
        quotas: *quotas,
        entry: image.entry,
        stack: STACKS,
        argument: ENVIRONMENT,
        buffer: buffer(0),
        fresh_pages: 0,
        faults: slots.of(&cap_name(domain, FAULTS)),
        told: slots.find(&told_name(domain)),
        reservation: slots.find(&leaf_name(domain)),
        always: restart.always,
        at_most: restart.at_most,
        within: restart.within,
        heartbeat: slots.find(&cap_name(domain, BEATS)).and(restart.heartbeat),
        depends,
        maps: 0,
        grants: 0,
    }
}

/// Adds what the supervisor is charged for a child, or gives to it.
fn add(demand: &mut Amounts, domain: &Domain, child: &Child) {
    for (total, quota) in demand.iter_mut().zip(child.quotas) {
        *total += u64::from(quota);
    }
    let fresh = if child.fresh_pages > 0 { [1, child.fresh_pages + 1] } else { [0, 0] };
    let own = [
        (Resource::Domains, 1),
        (Resource::Threads, 1),
        (Resource::Memories, fresh[0]),
        (Resource::Frames, fresh[1]),
        (Resource::Mappings, child.maps as u64),
        (Resource::Slots, domain.slots.into()),
    ];
    for (resource, amount) in own {
        demand[resource as usize] += amount;
    }
}
