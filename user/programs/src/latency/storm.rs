//! Load for measuring wake-ups under it: messages, faults, creation and destruction of whatever a
//! domain may create, and mapping of memory with traffic in it. One domain for each kind; each
//! waits at its `go` until the latency thread turns it on, and returns there when that has turned
//! it off.

use super::{OPERATION, is_on};
use abi::call::fault::CONTINUE;
use abi::object::Resource;
use rt::arch;
use rt::memory::{self, Range};
use rt::thread::{self, Spec};
use rt::{Env, Error, Message, PAGE, Rights, Slot, Slots, Wait, Words};
use rt::{cap, domain, ipc, signal, system};

const RW: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);
/// Where nothing is mapped.
const NOWHERE: u64 = 0x8_0000_0000;
/// Where memory is mapped.
const HERE: u64 = 0x2_0000_0000;
/// Pages of a memory object, and threads or capabilities in a heap.
const PAGES: u64 = 32;
const MANY: usize = 24;

/// Argument `kind`: `server`, or one of [`STORMS`](super::STORMS); memory `control`; capability
/// `go` (receive), and what each kind needs.
pub fn main(env: &Env) {
    match env.arg("kind") {
        Some("server") => serve(env, env.cap("across").word()),
        Some("messages") => blow(env, 0, &mut Messages::new(env)),
        Some("faults") => blow(env, 1, &mut Faults::new(env)),
        Some("threads") => blow(env, 2, &mut Threads::new(env)),
        Some("memory") => blow(env, 3, &mut Memory::new(env)),
        other => panic!("argument 'kind' is {other:?}, which is no storm"),
    }
}

/// A kind of load.
trait Storm {
    /// Some of it; says before each operation which one that is, by a number from 1.
    fn gust(&mut self, at: &dyn Fn(u64)) -> Result<(), Error>;
}

fn blow(env: &Env, number: usize, storm: &mut dyn Storm) {
    let (go, control) = (env.cap("go"), env.mem("control"));
    let at = |operation| control.set(OPERATION + number, operation);
    loop {
        ipc::receive_short(go).status.result().expect("a signal");
        while is_on(control, number) {
            storm.gust(&at).expect("the storm goes on");
        }
    }
}

/// Answers calls on the endpoint in a slot.
fn serve(_: &Env, slot: u64) {
    let why = ipc::serve(Slot(slot as u32), |call| Message::long(0, call.info.words(), [0; 4]));
    panic!("no more calls: {why:?}");
}

/// Takes what comes on the endpoint in a slot.
fn swallow(_: &Env, slot: u64) {
    loop {
        ipc::receive_short(Slot(slot as u32)).status.result().expect("something to take");
    }
}

/// Calls on the endpoint in a slot, for ever.
fn nag(_: &Env, slot: u64) {
    loop {
        ipc::call_short(Slot(slot as u32), abi::Info::new(0, 0), [])
            .status
            .result()
            .expect("an answer");
    }
}

fn endpoint(slots: &mut Slots) -> Slot {
    let slot = slots.fresh();
    signal::create_endpoint(slot, Slot::NONE).expect("an endpoint");
    slot
}

/// Calls within the domain and across, short and long, sends and signals to higher threads, and
/// lower threads that queue before a server.
struct Messages {
    across: Slot,
    inner: Slot,
    higher: Slot,
    bell: Slot,
    counter: Slot,
}

impl Messages {
    fn new(env: &Env) -> Messages {
        let mut slots = env.slots();
        let [inner, higher, counter] = core::array::from_fn(|_| endpoint(&mut slots));
        let bell = slots.fresh();
        signal::create_notification(bell).expect("a notification");
        let mut start = |n: usize, priority, work, argument: Slot| {
            let spec = Spec::further(env, n, priority);
            let slot = slots.fresh();
            thread::start(env, n, slot, spec, (work, argument.word())).expect("a thread");
        };
        start(1, 100, serve, inner);
        start(2, 110, swallow, higher);
        start(3, 110, swallow, bell);
        for n in 4..12 {
            start(n, 101 + n as u64, nag, counter);
        }
        Messages { across: env.cap("across"), inner, higher, bell, counter }
    }
}

impl Storm for Messages {
    fn gust(&mut self, at: &dyn Fn(u64)) -> Result<(), Error> {
        for (operation, words) in [(1, 0), (1, 4), (2, 124)] {
            at(operation);
            ipc::call(self.across, Message::long(0, words, [0; 4]))?;
            ipc::call(self.inner, Message::long(0, words, [0; 4]))?;
        }
        at(3);
        ipc::send(self.higher, Message::empty(0), Wait::NEVER)?;
        at(4);
        signal::signal(self.bell)?;
        at(5);
        // Those who nag are higher: each answer lets one of them call again at once.
        ipc::receive(self.counter, Wait::NEVER)?;
        for _ in 0..8 {
            ipc::reply_wait(self.counter, Message::empty(0))?;
        }
        ipc::reply(Message::empty(0))
    }
}

/// Reads of memory that is not there; another thread of the domain handles them.
struct Faults {
    resume: Words,
}

impl Faults {
    fn new(env: &Env) -> Faults {
        let spec = Spec::further(env, 1, 100);
        let slot = env.slots().fresh();
        thread::start(env, 1, slot, spec, (handle, 0)).expect("a handler");
        Faults { resume: env.mem("resume-faults") }
    }
}

impl Storm for Faults {
    fn gust(&mut self, at: &dyn Fn(u64)) -> Result<(), Error> {
        at(1);
        match arch::read(NOWHERE, self.resume.word(0)) {
            None => Ok(()),
            Some(_) => Err(Error::WrongState),
        }
    }
}

fn handle(env: &Env, _: u64) {
    let (faults, resume) = (env.cap("faults"), env.mem("resume-faults"));
    let mut fault = ipc::receive(faults, Wait::NEVER);
    loop {
        fault.expect("a fault");
        fault = ipc::reply_wait(faults, Message::short(CONTINUE, [resume.get(0)]));
    }
}

/// Threads, endpoints with threads that wait, capabilities, timers, domains: made and ended.
struct Threads {
    env: Env,
    first: Slots,
}

impl Threads {
    fn new(env: &Env) -> Threads {
        Threads { env: *env, first: env.slots() }
    }

    /// A crowd of threads that wait on an endpoint, which goes away, and then they.
    fn herd(&self, at: &dyn Fn(u64)) -> Result<(), Error> {
        let mut slots = self.first.clone();
        let door = endpoint(&mut slots);
        let threads: [Slot; 8] = core::array::from_fn(|_| slots.fresh());
        at(1);
        for (n, slot) in (1..).zip(threads) {
            // Above the storm, so that it runs and waits before the next one is made.
            let spec = Spec::further(&self.env, n, 105);
            thread::start(&self.env, n, slot, spec, (wait_once, door.word()))?;
        }
        at(2);
        cap::destroy(door)?;
        for slot in threads {
            at(3);
            thread::set_priority(slot, 90)?;
            thread::suspend(slot)?;
            thread::resume(slot)?;
            at(4);
            cap::destroy(slot)?;
        }
        Ok(())
    }

    /// Many copies of a capability, revoked at once.
    fn copies(&self, at: &dyn Fn(u64)) -> Result<(), Error> {
        let mut slots = self.first.clone();
        let original = endpoint(&mut slots);
        let copies: [Slot; MANY] = core::array::from_fn(|_| slots.fresh());
        at(5);
        for slot in copies {
            cap::copy(original, slot, Rights::ALL)?;
        }
        cap::revoke(original)?;
        for slot in copies {
            cap::delete(slot)?;
        }
        cap::destroy(original)
    }

    /// Timers that are armed far away, so that the queue of deadlines is not empty.
    fn timers(&self, at: &dyn Fn(u64)) -> Result<(), Error> {
        let mut slots = self.first.clone();
        let bell = slots.fresh();
        signal::create_notification(bell)?;
        let timers: [Slot; MANY] = core::array::from_fn(|_| slots.fresh());
        at(6);
        let far = system::clock() + 3_600_000_000_000;
        for (n, slot) in (0..).zip(timers) {
            signal::create_timer(slot, bell)?;
            signal::set_timer(slot, far - n)?;
        }
        for slot in timers {
            cap::destroy(slot)?;
        }
        cap::destroy(bell)
    }

    /// A domain with a thread, capabilities and mapped memory, ended as a whole.
    fn domain(&self, at: &dyn Fn(u64)) -> Result<(), Error> {
        let mut slots = self.first.clone();
        let [child, memory, mapping, thread] = core::array::from_fn(|_| slots.fresh());
        let mut quotas = [0; Resource::COUNT];
        quotas[Resource::Tables as usize] = 8;
        at(7);
        domain::create(child, 16, 90, quotas)?;
        at(8);
        memory::create(memory, 4)?;
        at(9);
        let range = Range { memory, first: 0, pages: 4, address: HERE };
        memory::map(mapping, child, range, Rights::READ)?;
        at(10);
        for slot in 1..16 {
            domain::grant(child, memory, Slot(slot), Rights::READ)?;
        }
        at(11);
        let spec = Spec { domain: child, priority: 90, buffer: 0, handler: Slot::NONE };
        thread::create(thread, spec)?;
        at(12);
        cap::destroy(child)?;
        for slot in [thread, mapping] {
            cap::delete(slot)?;
        }
        cap::destroy(memory)
    }
}

impl Storm for Threads {
    fn gust(&mut self, at: &dyn Fn(u64)) -> Result<(), Error> {
        self.herd(at)?;
        self.copies(at)?;
        self.timers(at)?;
        self.domain(at)
    }
}

fn wait_once(_: &Env, door: u64) {
    // The door goes away; that is what it waits for.
    let _ = ipc::receive(Slot(door as u32), Wait::NEVER);
}

/// Memory that is created, mapped, written, protected, unmapped and given back.
struct Memory {
    first: Slots,
    resume: Words,
}

impl Memory {
    fn new(env: &Env) -> Memory {
        Memory { first: env.slots(), resume: env.mem("resume-memory") }
    }
}

impl Storm for Memory {
    fn gust(&mut self, at: &dyn Fn(u64)) -> Result<(), Error> {
        let mut slots = self.first.clone();
        let [memory, mapping] = core::array::from_fn(|_| slots.fresh());
        at(1);
        memory::create(memory, PAGES)?;
        at(2);
        let range = Range { memory, first: 0, pages: PAGES, address: HERE };
        memory::map(mapping, Slot::NONE, range, RW)?;
        at(3);
        for page in 0..PAGES {
            for line in 0..8 {
                let at = HERE + page * PAGE + line * 64;
                assert!(arch::write(at, at, self.resume.word(0)), "the page is there");
            }
        }
        at(4);
        memory::protect(mapping, Rights::READ)?;
        memory::protect(mapping, RW)?;
        at(5);
        cap::destroy(mapping)?;
        at(6);
        cap::destroy(memory)
    }
}
