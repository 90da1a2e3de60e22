//! Writing a system and its programs as a boot archive.

use std::collections::BTreeMap;

use abi::boot::{Cache, HEADER_WORDS, MAGIC, NONE, Record};
use abi::boot::{
    WORD_BYTES, WORD_CHAINS, WORD_CPUS, WORD_INHERITANCE, WORD_LAZY_DEQUEUES, WORD_MAGIC,
    WORD_NONCE, WORD_RECORDS, WORD_SLICE, WORD_TICK,
};
use abi::object::Resource;
use abi::reservation::{Budget, Timing, Window};
use abi::{PAGE, boot};

use crate::budget::{self, Pool};
use crate::elf::Image;
use crate::inventory::Inventory;
use crate::layout::{Area, Contents, ENVIRONMENT, STACKS, buffer};
use crate::memory::Medium;
use crate::problem::{Problem, Problems, quote};
use crate::system::{Domain, Monitor, Reaction, System};
use crate::target::Target;

const WORD: usize = size_of::<u64>();

/// A boot archive.
#[derive(Clone, Debug)]
pub struct Archive {
    /// What the kernel reads, a whole number of pages.
    pub bytes: Vec<u8>,
    /// The system's shared memory objects, in the order of the manifest.
    pub memories: Vec<HostMemory>,
    /// The pools as the archive asks for them.
    pub pools: [Pool; Resource::COUNT],
}

/// Where to find a shared memory object of a machine that has booted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostMemory {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Byte offset in the archive of the word in which the kernel leaves its physical address.
    pub address_offset: usize,
    /// Whether the host reads it after the run.
    pub host: bool,
}

/// Packs a system with its programs, ELF files that `programs` finds by name. The nonce lets
/// the host find the archive in the machine's memory.
pub fn pack(
    system: &System,
    programs: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    nonce: u64,
) -> Result<Archive, Problems> {
    let images = images(system, programs)?;
    let image = |domain: &Domain| &images[domain.program.as_str()];
    let inventory = Inventory::of(system, &image)?;
    let areas = inventory.areas(system, &image);
    let pools = budget::pools(system, &inventory, &areas)?;
    let mut writer = Writer::default();
    writer.record(Record::Pools, &pools.each_ref().map(|pool| pool.size));
    for (index, (domain, areas)) in system.booted().iter().zip(&areas).enumerate() {
        let [low, high] = boot::name_words(&domain.name);
        let (highest, slots) = (domain.max_priority.into(), domain.slots.into());
        let mut fields = vec![low, high, highest, slots, domain.cpus.unwrap_or(u64::MAX)];
        fields.extend(budget::granted(system, index, &inventory, areas));
        writer.record(Record::Domain, &fields);
    }
    let numbers = Numbers::of(system, &areas);
    reservations(&mut writer, system, &numbers);
    objects(&mut writer, system, &numbers);
    monitors(&mut writer, system, &numbers);
    let memories = memories(&mut writer, system, &areas, &inventory);
    if let Some(trace) = &system.trace {
        // Before the threads, whose beginnings it tells.
        let memory = numbers.of_target(Target::Memory(trace.memory));
        writer.record(Record::Trace, &[memory, trace.keep as u64, trace.events]);
    }
    if let Some(accounts) = system.accounts {
        writer.record(Record::Accounts, &[numbers.of_target(Target::Memory(accounts))]);
    }
    for (index, domain) in system.booted().iter().enumerate() {
        let entry = image(domain).entry;
        let fault = domain.fault_handler.as_ref();
        let handler =
            fault.map_or(NONE, |fault| numbers.of_target(Target::Endpoint(fault.endpoint)));
        let badge = fault.map_or(0, |fault| fault.badge);
        let (owner, priority) = (index as u64, domain.priority.into());
        let reservation = domain.reservation.map(Target::Reservation);
        let reservation = reservation.map(|leaf| numbers.of_target(leaf));
        // The domains that the supervisor makes do not run on what is its own.
        let is_maker = system.supervisor == Some(index);
        if let Some(leaf) = reservation.filter(|_| !is_maker) {
            writer.record(Record::Reserve, &[index as u64, leaf]);
        }
        let (start, cpu) = ([entry, STACKS, ENVIRONMENT, buffer(0)], domain.cpu.into());
        let [entry, stack, argument, buffer] = start;
        let fields = [owner, priority, entry, stack, argument, buffer, handler, badge, cpu];
        writer.record(Record::Thread, &fields);
        if let Some(leaf) = reservation.filter(|_| is_maker) {
            let thread = numbers.of_target(Target::Thread(index));
            writer.record(Record::Reserve, &[thread, leaf]);
        }
    }
    mappings(&mut writer, &areas, &numbers);
    for (index, domain) in system.booted().iter().enumerate() {
        for (position, cap) in domain.caps.iter().enumerate() {
            let object = numbers.of_target(cap.target);
            let (domain, slot) = (index as u64, position as u64 + 1);
            writer.record(
                Record::Capability,
                &[domain, slot, object, cap.rights.0.into(), cap.badge],
            );
        }
    }
    let bytes = writer.finish(system, nonce);
    budget::fits(system, &pools, &areas, bytes.len() as u64 + inventory.bytes())?;
    Ok(Archive { bytes, memories, pools })
}

fn images<'a>(
    system: &'a System,
    programs: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<BTreeMap<&'a str, Image>, Problem> {
    let mut images = BTreeMap::new();
    for domain in &system.domains {
        if images.contains_key(domain.program.as_str()) {
            continue;
        }
        let problem = |message, help| system.source.problem(&domain.program_at, message, help);
        let name = quote(&domain.program);
        let file = programs(&domain.program).map_err(|reason| {
            let help = "name one of Giusto's programs, a crate or an ELF file";
            problem(format!("there is no program {name}: {reason}"), help)
        })?;
        let image = Image::read(&file)
            .map_err(|(what, help)| problem(format!("program {name} {what}"), help))?;
        images.insert(domain.program.as_str(), image);
    }
    Ok(images)
}

/// First number of each kind of object: objects are numbered as their records follow each other.
struct Numbers {
    /// The CPUs whose roots are named.
    roots: Vec<u32>,
    domains: u64,
    reservations: u64,
    notifications: u64,
    endpoints: u64,
    interrupts: u64,
    timers: u64,
    memories: u64,
    areas: u64,
    images: u64,
    threads: u64,
}

impl Numbers {
    fn of(system: &System, areas: &[Vec<Area>]) -> Numbers {
        let own = |area: &&Area| matches!(area.contents, Contents::Own(_));
        let own_memories = areas.iter().flatten().filter(own).count() as u64;
        let roots = system.roots();
        let domains = areas.len() as u64;
        let reservations = domains + roots.len() as u64;
        let notifications = reservations + system.reservations.len() as u64;
        let endpoints = notifications + system.notifications.len() as u64;
        let interrupts = endpoints + system.endpoints.len() as u64;
        let timers = interrupts + system.interrupts.len() as u64;
        let memories = timers + system.timers.len() as u64;
        let areas = memories + system.memories.len() as u64;
        let images = areas + own_memories;
        let threads = images + system.children().len() as u64;
        Numbers {
            roots,
            domains,
            reservations,
            notifications,
            endpoints,
            interrupts,
            timers,
            memories,
            areas,
            images,
            threads,
        }
    }

    fn of_target(&self, target: Target) -> u64 {
        match target {
            Target::Domain(index) => index as u64,
            Target::Notification(index) => self.notifications + index as u64,
            Target::Endpoint(index) => self.endpoints + index as u64,
            Target::Interrupt(index) => self.interrupts + index as u64,
            Target::Timer(index) => self.timers + index as u64,
            Target::Memory(index) => self.memories + index as u64,
            Target::Image(child) => self.images + child as u64,
            Target::Thread(index) => self.threads + index as u64,
            Target::Reservation(index) => self.reservations + index as u64,
            Target::Root(cpu) => {
                let place = self.roots.iter().position(|root| *root == cpu);
                self.domains + place.expect("each root that is used is named") as u64
            }
            Target::Console => boot::CONSOLE,
            Target::System => boot::SYSTEM,
        }
    }
}

/// The roots that are used, the reservations, each behind its class, and the windows.
fn reservations(writer: &mut Writer, system: &System, numbers: &Numbers) {
    for cpu in &numbers.roots {
        writer.record(Record::Root, &[(*cpu).into(), system.shared_priority.into()]);
    }
    for reservation in &system.reservations {
        let class = reservation.class.map_or(Target::Root(reservation.cpu), Target::Reservation);
        let policy = reservation.policy.map_or(0, |policy| policy as u64);
        let (code, share) = reservation.share.encode();
        let [server, budget, period, _] = Budget::encode(reservation.limit);
        let [deadline, separation, ..] = Timing::encode(reservation.timing);
        let head = [boot::NO_OWNER, numbers.of_target(class), policy, code];
        let tail = [server, budget, period, deadline, separation];
        writer.record(Record::Reservation, &[&head[..], &share, &tail].concat());
    }
    for (index, reservation) in system.reservations.iter().enumerate() {
        for Window { end, partition } in &reservation.windows {
            let class = numbers.of_target(Target::Reservation(index));
            writer.record(Record::Window, &[class, *end, (*partition).into()]);
        }
    }
}

/// What happens when reservations run out of time, and what is told of that.
fn monitors(writer: &mut Writer, system: &System, numbers: &Numbers) {
    for (index, reservation) in system.reservations.iter().enumerate() {
        if let Some(Monitor { notification, missed, overran }) = reservation.monitor {
            let watched = numbers.of_target(Target::Reservation(index));
            let told = numbers.of_target(Target::Notification(notification));
            writer.record(Record::Monitor, &[watched, told, missed, overran]);
        }
        let falls = [reservation.overrun, reservation.miss].map(|it| it == Reaction::Background);
        if falls.contains(&true) {
            let at = numbers.of_target(Target::Reservation(index));
            let [overrun, miss] = falls.map(u64::from);
            writer.record(Record::Background, &[at, overrun, miss]);
        }
    }
}

/// Everything that signals or is sent to. It has no owner, so it lives as long as the system.
fn objects(writer: &mut Writer, system: &System, numbers: &Numbers) {
    let notification = |index| numbers.of_target(Target::Notification(index));
    for _ in &system.notifications {
        writer.record(Record::Notification, &[boot::NO_OWNER]);
    }
    for endpoint in &system.endpoints {
        let attached = endpoint.notification.map_or(NONE, notification);
        writer.record(Record::Endpoint, &[boot::NO_OWNER, attached]);
    }
    for interrupt in &system.interrupts {
        let signalled = notification(interrupt.notification);
        let (irq, cpu) = (interrupt.irq.into(), interrupt.cpu.into());
        let fields = [boot::NO_OWNER, irq, signalled, interrupt.badge, cpu];
        writer.record(Record::Interrupt, &fields);
    }
    for timer in &system.timers {
        let fields = [boot::NO_OWNER, notification(timer.notification), timer.badge];
        writer.record(Record::Timer, &fields);
    }
}

/// The shared memory objects, then the domains' own in the order of their areas, then the images.
fn memories(
    writer: &mut Writer,
    system: &System,
    areas: &[Vec<Area>],
    inventory: &Inventory,
) -> Vec<HostMemory> {
    let mut memories = Vec::new();
    for memory in &system.memories {
        memories.push(HostMemory {
            name: memory.name.clone(),
            bytes: memory.bytes,
            address_offset: match memory.medium {
                Medium::Ram => writer.memory(memory.pages(), &memory.contents),
                Medium::Device { at, cache } => {
                    writer.device(memory.pages(), at - memory.offset(), cache)
                }
                Medium::Ports { first, number } => writer.ports(first, number),
            },
            host: memory.host,
        });
    }
    for area in areas.iter().flatten() {
        if let Contents::Own(bytes) = &area.contents {
            writer.memory(area.pages, bytes);
        }
    }
    for image in &inventory.images {
        writer.memory(image.len() as u64 / PAGE, image);
    }
    memories
}

fn mappings(writer: &mut Writer, areas: &[Vec<Area>], numbers: &Numbers) {
    let mut own = numbers.areas;
    for (index, areas) in areas.iter().enumerate() {
        for area in areas {
            let memory = match area.contents {
                Contents::Shared(memory) => numbers.of_target(Target::Memory(memory)),
                Contents::Own(_) => {
                    own += 1;
                    own - 1
                }
            };
            let (domain, rights) = (index as u64, area.rights.0.into());
            writer.record(Record::Map, &[domain, memory, 0, area.address, area.pages, rights]);
        }
    }
}

/// Collects records, and the data that follow them.
#[derive(Default)]
struct Writer {
    records: u64,
    words: Vec<u64>,
    data: Vec<u8>,
    /// Words that hold an offset into the data until it is known where the data begin.
    offsets: Vec<usize>,
}

impl Writer {
    fn record(&mut self, record: Record, fields: &[u64]) {
        assert_eq!(1 + fields.len(), record.words(), "a {record:?} record has its length");
        self.words.push(record.head());
        self.words.extend(fields);
        self.records += 1;
    }

    /// A memory object without an owner. Returns where its physical address will be.
    fn memory(&mut self, pages: u64, bytes: &[u8]) -> usize {
        let length = bytes.len() as u64;
        self.record(Record::Memory, &[boot::NO_OWNER, pages, self.data.len() as u64, length, 0]);
        let last = self.words.len() - 1;
        if length > 0 {
            self.offsets.push(last - 2);
            self.data.extend(bytes);
            self.data.resize(self.data.len().next_multiple_of(PAGE as usize), 0);
        } else {
            self.words[last - 2] = 0;
        }
        (HEADER_WORDS + last) * WORD
    }

    /// Device memory. Returns where its physical address is.
    fn device(&mut self, pages: u64, at: u64, cache: Cache) -> usize {
        self.record(Record::Device, &[boot::NO_OWNER, pages, cache as u64, at]);
        (HEADER_WORDS + self.words.len() - 1) * WORD
    }

    /// I/O ports. Returns where the first one is.
    fn ports(&mut self, first: u16, number: u32) -> usize {
        self.record(Record::Ports, &[boot::NO_OWNER, number.into(), first.into()]);
        (HEADER_WORDS + self.words.len() - 1) * WORD
    }

    fn finish(mut self, system: &System, nonce: u64) -> Vec<u8> {
        let data_at = ((HEADER_WORDS + self.words.len()) * WORD).next_multiple_of(PAGE as usize);
        for word in &self.offsets {
            self.words[*word] += data_at as u64;
        }
        let mut header = [0; HEADER_WORDS];
        header[WORD_MAGIC] = MAGIC;
        header[WORD_BYTES] = (data_at + self.data.len()) as u64;
        header[WORD_RECORDS] = self.records;
        header[WORD_TICK] = system.tick;
        header[WORD_SLICE] = system.timeslice / system.tick;
        header[WORD_LAZY_DEQUEUES] = system.lazy_dequeues.into();
        header[WORD_CHAINS] = system.preempt_chains.into();
        header[WORD_INHERITANCE] = system.inheritance as u64;
        header[WORD_NONCE] = nonce;
        header[WORD_CPUS] = system.cpus.into();
        let words = header.iter().chain(&self.words);
        let mut bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        bytes.resize(data_at, 0);
        bytes.extend(&self.data);
        bytes
    }
}
