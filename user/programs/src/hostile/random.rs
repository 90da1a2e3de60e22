//! System calls with random arguments, from seeds, most of them near the edges of what is
//! allowed. The judge cancels those that would block for ever.

use super::{ALLOWED, Attempts, CANCEL};
use crate::random::Random;
use abi::call::Call;
use rt::arch::{self, word};
use rt::{Env, Error, Message, Rights, Slot, Wait};
use rt::{cap, domain, ipc, memory, signal, system, thread};

/// Calls between two refills of the toys.
const BATCH: u64 = 200;

/// Values at the edges of ranges.
const EDGES: [u64; 24] = [
    0,
    1,
    2,
    3,
    7,
    8,
    63,
    64,
    127,
    128,
    255,
    256,
    0xfff,
    0x1000,
    0x8_0000_0000,
    0x8_0000_1000,
    0xffff_ffff,
    1 << 32,
    abi::USER_TOP - abi::PAGE,
    abi::USER_TOP,
    0x8000_0000_0000,
    0xffff_8000_0000_0000,
    u64::MAX - 1,
    u64::MAX,
];

/// Objects that [`refill`] makes, and slots that it leaves empty for more.
const TOYS: u64 = 8;
const FREE: u64 = 8;
/// Where they may be mapped.
const PAGES: u64 = 0x8_0000_0000;

/// The slots that may be filled at random; the one after them names the second thread.
#[derive(Clone, Copy)]
struct Table {
    first: u32,
    limit: u32,
    /// Takes the faults of threads that run wild.
    handler: Slot,
}

/// What an argument is for.
#[derive(Clone, Copy)]
enum Shape {
    Any,
    Toy(u32),
    Held,
    Free,
    Own,
    Rights,
    Small,
    Priority,
    Page,
    Info,
    Both,
    Soon,
    Words,
    Mapping,
    Handler,
}

const ENDPOINT: Shape = Shape::Toy(0);
const NOTIFICATION: Shape = Shape::Toy(1);
const TIMER: Shape = Shape::Toy(2);
const MEMORY: Shape = Shape::Toy(3);
const THREAD: Shape = Shape::Toy(4);
const DOMAIN: Shape = Shape::Toy(5);
const MAPPING: Shape = Shape::Toy(7);

/// The arguments of a call.
fn shapes(call: u64) -> &'static [Shape] {
    use Shape::*;
    let Some(call) = Call::ALL.into_iter().find(|known| *known as u64 == call) else { return &[] };
    match call {
        Call::Ipc => &[Both, Info, Soon],
        Call::Call | Call::ReplyWait => &[ENDPOINT, Info],
        Call::MutexWait | Call::InheritWait => &[Words, Any, Soon],
        Call::MutexWake | Call::InheritWake => &[Words],
        Call::Ceiling => &[Priority],
        Call::Serve => &[ENDPOINT, Small],
        Call::CondWait => &[Words, Small, Words, Soon],
        Call::InheritCondWait => &[Words, Small, Words, Soon, Any, Any],
        Call::CondRequeue | Call::InheritRequeue => &[Words, Small],
        Call::InheritHelp => &[Words, Any, Small],
        Call::TrainCreate => &[Free, Page, Any, Page, Small, Small],
        Call::TrainCall => &[Held, Any, Soon],
        Call::TrainReturn => &[Any],
        Call::Signal => &[NOTIFICATION],
        Call::Yield => &[THREAD],
        Call::Null | Call::Clock => &[],
        Call::Fact => &[Small, Small],
        Call::CapCopy => &[Held, Free, Rights, Own],
        Call::CapDelete | Call::CapRevoke | Call::CapInspect | Call::Destroy => &[Held],
        Call::CapSaveReply => &[Free],
        Call::EndpointCreate => &[Free, NOTIFICATION],
        Call::NotificationCreate => &[Free],
        Call::TimerCreate => &[Free, NOTIFICATION],
        Call::TimerSet => &[TIMER, Soon],
        Call::InterruptAck => &[Held],
        Call::InterruptRoute => &[Held, Small],
        Call::MemoryCreate => &[Free, Small],
        Call::Map => &[Own, MEMORY, Page, Small, Small, Mapping],
        Call::Protect => &[MAPPING, Rights],
        Call::MemoryAddress => &[MEMORY],
        Call::PortRead | Call::PortWrite => &[MEMORY, Small, Small, Any],
        Call::DomainCreate => &[Free, Small, Priority],
        Call::DomainGrant => &[DOMAIN, Held, Small, Rights],
        Call::ThreadCreate => &[Free, Own, Priority, Page, Handler],
        Call::ThreadExchange => &[THREAD, Page, Page, Any, Page, Small],
        Call::ThreadResume | Call::ThreadSuspend | Call::ThreadInspect => &[THREAD],
        Call::ThreadPriority => &[THREAD, Priority],
        Call::ThreadMigrate => &[THREAD, Small],
        Call::ReservationCreate => &[Free, Held, Small, Small],
        Call::ReservationSet | Call::ReservationJoin => &[Held, Small, Small],
        Call::Reserve => &[THREAD, Held],
        Call::ReservationInspect => &[Held, Small],
        Call::Name => &[Held, Any, Any],
        Call::ConsoleWrite | Call::ConsoleRead | Call::Shutdown | Call::Inspect | Call::Observe => {
            &[Held, Small, Small]
        }
    }
}

/// What calls are made of.
struct Choice(Random);

impl Choice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0.below(limit)
    }

    /// One of two, the first nine times out of ten.
    fn mostly(&mut self, usual: u64, other: impl FnOnce(&mut Choice) -> u64) -> u64 {
        if self.below(10) == 0 { other(self) } else { usual }
    }

    /// Anything at all.
    fn anything(&mut self, table: Table) -> u64 {
        match self.below(8) {
            0..3 => EDGES[self.below(EDGES.len() as u64) as usize],
            3..6 => self.below(u64::from(table.limit) + 2),
            6 => self.below(256),
            _ => self.0.bits(),
        }
    }

    /// An argument that is likely to be what a call wants.
    fn argument(&mut self, table: Table, shape: Shape) -> u64 {
        let toy = |random: &mut Choice| u64::from(table.first) + random.below(TOYS);
        let usual = match shape {
            Shape::Any => self.anything(table),
            Shape::Toy(i) => u64::from(table.first + i),
            Shape::Held => toy(self),
            Shape::Free => u64::from(table.first) + TOYS + self.below(FREE),
            Shape::Own => 0,
            Shape::Rights => self.below(64),
            Shape::Small => self.below(4),
            Shape::Priority => self.below(60),
            Shape::Page => PAGES + self.below(8) * abi::PAGE,
            Shape::Info => self.below(256) | self.below(4) << 32 | self.below(8) << 8,
            Shape::Both => {
                let ends = [0, u64::from(u32::MAX), u64::from(table.first), 1];
                let mut end = || ends[self.below(4) as usize];
                end() | end() << 32
            }
            Shape::Handler => table.handler.word(),
            Shape::Words => PAGES + 8 * self.below(4),
            Shape::Soon => system::clock() + self.below(100_000),
            Shape::Mapping => {
                let slot = u64::from(table.first) + TOYS + self.below(FREE);
                slot | (1 + self.below(7)) << 32
            }
        };
        self.mostly(usual, |random| match random.below(2) {
            0 => toy(random),
            _ => random.anything(table),
        })
    }

    /// A number word: mostly a call that exists, mostly with sensible options.
    fn number(&mut self) -> u64 {
        let call = match self.below(8) {
            0 => self.below(256),
            _ => Call::ALL[self.below(Call::ALL.len() as u64) as usize] as u64,
        };
        // An object without a capability stays charged to the domain, so few are forgotten.
        let forget = call == Call::CapDelete as u64 && self.below(8) != 0;
        let call = if forget { Call::CapInspect as u64 } else { call };
        match self.below(4) {
            0 => call | self.0.bits() << 8,
            _ => call | self.below(16) << 8,
        }
    }
}

pub fn calls(attempts: &mut Attempts) {
    let mut random = Choice(Random::new(attempts.env.number("seed", 1)));
    let free = attempts.env.slots();
    let handler = attempts.env.cap("toy");
    let table = Table { first: free.clone().fresh().0, limit: free.limit() - 1, handler };
    let buffer = attempts.env.buffer(0);
    let helper = Slot(table.limit);
    let spec = thread::Spec::further(&attempts.env, 1, 50);
    let work: (fn(&Env, u64), u64) = (companion, u64::from(table.first));
    attempts.attempt(thread::start(&attempts.env, 1, helper, spec, work).is_ok());
    attempts.notes.set(CANCEL, 1);
    for i in 0..attempts.env.number("calls", 20_000) {
        if i % BATCH == 0 {
            refill(table);
        }
        let number = random.number();
        let shapes = shapes(number & 0xff);
        let a: [u64; 6] = core::array::from_fn(|i| {
            random.argument(table, shapes.get(i).copied().unwrap_or(Shape::Any))
        });
        let w: [u64; 4] = core::array::from_fn(|_| random.argument(table, Shape::Small));
        for (i, shape) in [(128, Shape::Held), (129, Shape::Rights), (130, Shape::Free)] {
            buffer.0.set(i, random.argument(table, shape));
        }
        let outcome = arch::syscall(number, a.map(word), w.map(word));
        let status = outcome.status.result();
        let known = outcome.status.0 == 0 || Error::from_code(outcome.status.0 as u8).is_some();
        // It holds neither console nor system nor interrupt: these can never be done.
        let barred = [
            Call::ConsoleWrite,
            Call::ConsoleRead,
            Call::Shutdown,
            Call::Inspect,
            Call::InterruptAck,
        ];
        let barred = barred.iter().any(|call| *call as u8 == number as u8);
        attempts.attempt(known && !(barred && status.is_ok()));
        attempts.notes.add(ALLOWED, u64::from(status.is_ok()));
    }
    empty(table);
    attempts.notes.set(CANCEL, 0);
}

/// The second thread: answers calls on a slot, whatever becomes of it, and takes capabilities.
fn companion(env: &Env, slot: u64) {
    let buffer = env.buffer(1);
    for round in 0.. {
        buffer.accept(Slot((slot + TOYS + round % FREE) as u32));
        let soon = Wait::until(system::clock() + 100_000);
        if ipc::receive(Slot(slot as u32), soon).is_ok() {
            let answer = Message::short(0, [round]);
            // The caller may be gone by now.
            let _ = ipc::reply(answer);
        } else {
            system::sleep(20_000);
        }
    }
}

/// Empties the free slots.
fn empty(table: Table) {
    for slot in (table.first..table.limit).map(Slot) {
        let _ = cap::destroy(slot);
        let _ = cap::delete(slot);
    }
}

/// Empties the free slots and puts one of each kind of object into the first of them.
fn refill(table: Table) {
    empty(table);
    let slot = |i| Slot(table.first + i);
    // What the quotas refuse, because random calls have hidden something, is left out.
    let _ = signal::create_endpoint(slot(0), Slot::NONE);
    let _ = signal::create_notification(slot(1));
    let _ = signal::create_timer(slot(2), slot(1));
    let _ = memory::create(slot(3), 3);
    let handler = table.handler;
    let spec = thread::Spec { domain: Slot::NONE, priority: 40, buffer: 0, handler };
    let _ = thread::create(slot(4), spec);
    let _ = domain::create(slot(5), 4, 40, [0; abi::object::Resource::COUNT]);
    let _ = cap::copy(slot(0), slot(6), Rights::SEND.or(Rights::COPY));
    let range = memory::Range { memory: slot(3), first: 0, pages: 1, address: PAGES - abi::PAGE };
    let _ = memory::map(slot(7), Slot::NONE, range, Rights::READ);
}
