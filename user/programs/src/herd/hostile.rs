//! The leader of a herd, which makes its threads, has them attack, and ends them.

use super::attack::ATTACKS;
use super::{Control, EACH, MOST};
use abi::call::Fact;
use rt::thread::{self, Spec};
use rt::{Env, Error, Slot, Wait};
use rt::{cap, ipc, reservation, signal, system};

/// The lowest priority of the herd's threads; the leader's is below.
const LOWEST: u64 = 30;
/// Priorities that the threads have.
const PRIORITIES: u64 = 170;
/// Slots of single objects, before the rows.
const SINGLE: usize = 16;
/// Rows of slots, one for each thread.
pub const ROWS: usize = 4;
/// Nanoseconds between the last thread in place and the blow.
const BEFORE: u64 = 200_000;

/// Single objects, by their slots.
pub const GATE: usize = 0;
pub const BELL: usize = 1;
pub const DOOR: usize = 2;
pub const CHILD: usize = 3;
pub const CLASS: usize = 4;
pub const TOP: usize = 5;

/// An instant that never comes: an hour ahead.
pub const FAR: Wait = Wait::until(3_600_000_000_000);

/// What a thread does, by its number.
pub type Work = fn(&Env, u64);

/// Never ends: capabilities `go` (receive), `ready` (signal), `service` (send), and under `tree`
/// `flock`, a class (divide), and `self-thread`. Memory `control` and `own`, which no other domain
/// has. A quota for what attacks make.
pub fn main(env: &Env) {
    let (go, ready) = (env.cap("go"), env.cap("ready"));
    let control = Control(env.mem("control"));
    let wait = || ipc::receive(go, Wait::NEVER).expect("the victim's signal");
    let tell = || signal::signal(ready).expect("the victim's notification");
    loop {
        wait();
        let (number, threads) = control.attack();
        let attack = &ATTACKS[number];
        let member = Member::new(env, 0);
        let herd = Herd { member, control, threads };
        if attack.has_leaves {
            herd.rise().expect("a leader above its herd");
        }
        signal::create_notification(herd.slot(GATE)).expect("the herd's gate");
        (attack.gather)(&herd).expect("the herd gathers");
        // Threads may be more urgent than the leader, or less.
        system::sleep(BEFORE + threads as u64 * EACH);
        tell();
        if attack.is_blow {
            loop {
                wait();
                if control.is_over() {
                    break;
                }
                (attack.strike)(&herd).expect("the herd is in place");
                // Threads on leaves are less urgent than the leader.
                system::sleep_until(control.instant() - BEFORE);
                tell();
            }
        } else {
            while !control.is_over() {
                (attack.strike)(&herd).expect("the herd attacks");
            }
            wait();
        }
        herd.scatter();
        tell();
    }
}

/// One thread of a herd.
#[derive(Clone, Copy)]
pub struct Member {
    /// The program's environment.
    pub env: Env,
    /// Its number, from 0.
    pub number: usize,
}

/// The whole herd.
pub struct Herd {
    /// Where its slots are.
    pub member: Member,
    /// What the victim says.
    pub control: Control,
    /// How many threads it has.
    pub threads: usize,
}

impl Member {
    /// The thread of a number.
    pub fn new(env: &Env, number: u64) -> Member {
        Member { env: *env, number: number as usize }
    }

    /// The slot of a single object.
    pub fn slot(&self, object: usize) -> Slot {
        Slot(self.env.slots().fresh().0 + object as u32)
    }

    /// The slot of a thread's object in a row.
    pub fn of(&self, row: usize, number: usize) -> Slot {
        self.slot(SINGLE + row * MOST + number)
    }

    /// Its own one.
    pub fn own(&self, row: usize) -> Slot {
        self.of(row, self.number)
    }

    /// How many threads the herd has.
    pub fn threads(&self) -> usize {
        Control(self.env.mem("control")).attack().1
    }

    /// The instant of the blow.
    pub fn instant(&self) -> u64 {
        Control(self.env.mem("control")).instant()
    }

    /// Waits at the gate until the leader lets it through.
    pub fn pass_gate(&self) {
        // An error is the gate's end, and the thread's right behind.
        let _ = ipc::receive(self.slot(GATE), Wait::NEVER);
    }
}

impl Herd {
    /// The slot of a single object.
    pub fn slot(&self, object: usize) -> Slot {
        self.member.slot(object)
    }

    /// The slot of a thread's object in a row; row 0 has the threads.
    pub fn of(&self, row: usize, number: usize) -> Slot {
        self.member.of(row, number)
    }

    /// Whether the attack is to end.
    pub fn is_over(&self) -> bool {
        self.control.is_over()
    }

    /// The priority of a thread, one of many.
    pub fn priority(&self, number: usize) -> u64 {
        LOWEST + number as u64 % PRIORITIES
    }

    /// Starts all threads.
    pub fn start(&self, work: Work) -> Result<(), Error> {
        (0..self.threads).try_for_each(|number| self.start_one(number, work))
    }

    /// Starts a thread of the herd.
    pub fn start_one(&self, number: usize, work: Work) -> Result<(), Error> {
        self.start_at(self.priority(number), number, work)
    }

    /// Starts a thread of this priority, on the CPUs in turn.
    pub fn start_at(&self, priority: u64, number: usize, work: Work) -> Result<(), Error> {
        let (env, slot) = (&self.member.env, self.of(0, number));
        let spec = Spec { domain: Slot::NONE, priority, buffer: 0, handler: Slot::NONE };
        thread::start(env, 1 + number, slot, spec, (work, number as u64))?;
        let (cpus, _) = system::fact(Fact::Cpus)?;
        if cpus > 1 { thread::migrate(slot, number as u64 % cpus) } else { Ok(()) }
    }

    /// Lets as many threads through the gate as there are.
    pub fn open_gate(&self) -> Result<(), Error> {
        (0..self.threads).try_for_each(|_| self.let_one_through())
    }

    /// Lets the thread through that has waited longest.
    pub fn let_one_through(&self) -> Result<(), Error> {
        signal::signal(self.slot(GATE))
    }

    /// The leader runs above its herd, where that has leaves of its own.
    fn rise(&self) -> Result<(), Error> {
        let env = &self.member.env;
        let Some(flock) = env.find_cap("flock") else { return Ok(()) };
        let top = self.slot(TOP);
        reservation::create_leaf(top, flock, abi::reservation::Share::Priority(511))?;
        reservation::run_on(env.cap("self-thread"), top)
    }

    /// Ends the herd and all that it has made.
    fn scatter(&self) {
        let end = |slot: Slot| {
            // Stale and empty slots have nothing to destroy.
            if cap::destroy(slot).is_err() {
                let _ = cap::delete(slot);
            }
        };
        for row in 0..ROWS {
            (0..self.threads).for_each(|number| end(self.of(row, number)));
        }
        if self.member.env.find_cap("self-thread").is_some() {
            let _ = reservation::run_on(self.member.env.cap("self-thread"), Slot::NONE);
        }
        (0..SINGLE).for_each(|object| end(self.slot(object)));
    }
}
