//! Where everything is: threads by number, slots, shared words.

use super::wrong::{Found, Wrong};
use super::{MONITOR, OTHERS, SERVERS, client, monitor, owner, random};
use crate::random::Random;
use abi::call::Fact;
use rt::thread::{self, Spec};
use rt::{Env, Error, Rights, Slot, Words, cap, signal, system};

/// Words of a station, of a thread, and of all.
const REGION: usize = 16;
/// Stations at most.
const MOST: usize = 8;
/// Threads of a station.
const EACH: usize = 4;
/// Slots of a station and of a thread.
const STATION_SLOTS: u32 = 7;
const WORKER_SLOTS: u32 = 6;

/// Words that all share.
#[derive(Clone, Copy)]
pub enum Common {
    /// 1: clients come to an end; 2: owners too.
    Stop,
    Round,
    /// 1: all threads have begun, and may be begun anew.
    Begun,
    /// How many things were wrong, and the first one in four words.
    Wrongs,
    First,
}

/// What threads count, each for itself.
#[derive(Clone, Copy)]
pub enum Tally {
    Answered,
    Refused,
    Late,
    Looks,
    Births,
    Wakes,
}

impl Tally {
    pub const ALL: [Tally; 6] =
        [Tally::Answered, Tally::Refused, Tally::Late, Tally::Looks, Tally::Births, Tally::Wakes];
}

/// What a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Owner,
    /// Its owner begins and ends it.
    Server,
    Client,
    Monitor,
}

/// The whole program.
#[derive(Clone, Copy)]
pub struct Place {
    pub env: Env,
    shared: Words,
    first: u32,
    pub stations: usize,
    pub cpus: u64,
    /// Mean microseconds between what a thread does.
    pub pause: u64,
}

impl Place {
    pub fn new(env: &Env) -> Place {
        let stations = (env.number("stations", 8) as usize).clamp(1, MOST);
        let (cpus, _) = system::fact(Fact::Cpus).unwrap_or((1, 0));
        let first = env.slots().fresh().0;
        let pause = env.number("pause", 300).max(1);
        Place { env: *env, shared: env.mem("shared"), first, stations, cpus, pause }
    }

    pub fn get(&self, word: Common) -> u64 {
        self.shared.get(word as usize)
    }

    pub fn set(&self, word: Common, value: u64) {
        self.shared.set(word as usize, value);
    }

    /// Something is wrong; the first time it is kept.
    pub fn wrong(&self, wrong: Wrong, thread: usize, numbers: [u64; 2]) {
        if self.shared.add(Common::Wrongs as usize, 1) == 0 {
            let words = [numbers[0], numbers[1], thread as u64, wrong as u64];
            for (i, word) in [2, 3, 1, 0].into_iter().zip(words) {
                self.shared.set(Common::First as usize + i, word);
            }
        }
    }

    pub fn is_right(&self) -> bool {
        self.get(Common::Wrongs) == 0
    }

    pub fn found(&self) -> Option<Found> {
        Found::from_words([0, 1, 2, 3].map(|i| self.shared.get(Common::First as usize + i)))
    }

    /// All threads but the first, whether they run or not.
    pub fn workers(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        1..self.stations * EACH + 2
    }

    pub fn role(&self, n: usize) -> Role {
        match (n - 1) % EACH {
            _ if n > self.stations * EACH => Role::Monitor,
            0 => Role::Owner,
            1 => Role::Server,
            _ => Role::Client,
        }
    }

    pub fn total(&self, tally: Tally) -> u64 {
        self.workers().map(|n| Worker::new(self, n).words.get(TALLIES + tally as usize)).sum()
    }

    /// Whether something that is counted has not happened yet. Timeouts need not.
    pub fn lacks_something(&self) -> bool {
        let counted = |tally: &Tally| !matches!(tally, Tally::Late);
        Tally::ALL.into_iter().filter(counted).any(|tally| self.total(tally) == 0)
    }

    fn slot(&self, n: u32) -> Slot {
        Slot(self.first + n)
    }

    /// The endpoint that takes faults.
    pub fn fault_endpoint(&self) -> Slot {
        self.slot(0)
    }

    fn worker_words(&self, n: usize) -> Words {
        self.shared.part(REGION * (1 + MOST + n), REGION)
    }

    pub fn begin_round(&self, number: u64) {
        self.set(Common::Round, number);
        self.set(Common::Stop, 0);
        self.set(Common::Begun, 0);
        for station in (0..self.stations).map(|number| Station::new(self, number)) {
            station.set(Mark::Count, (station.get(Mark::Count) & !3) + 2);
        }
        signal::create_endpoint(self.fault_endpoint(), Slot::NONE).expect("a free slot");
    }

    pub fn end_round(&self) {
        let gone = cap::destroy(self.fault_endpoint());
        assert!(gone.is_ok() || !self.is_right(), "the fault endpoint is there: {gone:?}");
    }
}

/// A priority for a thread. Servers are below all others: one in a domain of its own tries again
/// and again to receive where its endpoint has gone, until its owner gets on.
pub fn priority(role: Role, random: &mut Random) -> u64 {
    let lowest = if role == Role::Server { SERVERS } else { OTHERS };
    lowest + random.below(OTHERS - SERVERS)
}

/// Where in a station's life it is: the count modulo four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    Alive,
    Dying,
    Gone,
    BeingBorn,
}

impl Life {
    pub fn of(count: u64) -> Life {
        [Life::Alive, Life::Dying, Life::Gone, Life::BeingBorn][(count % 4) as usize]
    }
}

/// One station.
#[derive(Clone, Copy)]
pub struct Station {
    words: Words,
    slots: u32,
    pub number: usize,
}

/// A word of a station.
#[derive(Clone, Copy)]
pub enum Mark {
    Count,
    /// Whether the server has a domain of its own.
    Foreign,
    /// How far the server has got.
    Served,
    /// Signals that were sent, and those that the server knows of.
    Rung,
    Heard,
}

impl Station {
    pub fn new(place: &Place, number: usize) -> Station {
        let words = place.shared.part(REGION * (1 + number), REGION);
        let slots = place.first + 2 + STATION_SLOTS * number as u32;
        Station { words, slots, number }
    }

    pub fn get(&self, mark: Mark) -> u64 {
        self.words.get(mark as usize)
    }

    pub fn set(&self, mark: Mark, value: u64) {
        self.words.set(mark as usize, value);
    }

    pub fn add(&self, mark: Mark) -> u64 {
        self.words.add(mark as usize, 1) + 1
    }

    /// The endpoint for its server, and with the life as its badge for clients.
    pub fn door(&self) -> Slot {
        Slot(self.slots)
    }

    pub fn sign(&self) -> Slot {
        Slot(self.slots + 1)
    }

    /// The notification that is attached to the endpoint.
    pub fn bell(&self) -> Slot {
        Slot(self.slots + 2)
    }

    /// The server's domain, if it has one of its own, and the code in it.
    pub fn domain(&self) -> Slot {
        Slot(self.slots + 3)
    }

    pub fn code(&self) -> Slot {
        Slot(self.slots + 4)
    }

    /// The page's memory and mapping.
    pub fn memory(&self) -> Slot {
        Slot(self.slots + 5)
    }

    pub fn mapping(&self) -> Slot {
        Slot(self.slots + 6)
    }

    /// Where the page is.
    pub fn page(&self) -> u64 {
        0x9_0000_0000 + abi::PAGE * self.number as u64
    }
}

const DONE: usize = 0;
const RESUME: usize = 1;
const RUNG: usize = 2;
const ANSWERED: usize = 3;
const TALLIES: usize = 4;
/// A client that was begun anew does not know which rings it has taken.
const DEAF: u64 = u64::MAX;

/// One thread other than the first.
#[derive(Clone, Copy)]
pub struct Worker {
    pub place: Place,
    pub n: usize,
    words: Words,
    slots: u32,
}

impl Worker {
    pub fn new(place: &Place, n: usize) -> Worker {
        let slots = place.first + 2 + STATION_SLOTS * MOST as u32 + WORKER_SLOTS * n as u32;
        Worker { place: *place, n, words: place.worker_words(n), slots }
    }

    /// What a thread is from inside.
    pub fn of(env: &Env, argument: u64) -> Worker {
        Worker::new(&Place::new(env), argument as usize)
    }

    /// Its station.
    pub fn station(&self) -> Station {
        Station::new(&self.place, (self.n - 1) / EACH)
    }

    /// Thread `nth` of its station.
    pub fn colleague(&self, nth: usize) -> Worker {
        Worker::new(&self.place, self.station().number * EACH + 1 + nth)
    }

    pub fn thread(&self) -> Slot {
        Slot(self.slots)
    }

    /// The notification of its own.
    pub fn bell(&self) -> Slot {
        Slot(self.slots + 1)
    }

    pub fn timer(&self) -> Slot {
        Slot(self.slots + 2)
    }

    /// Where it keeps copies of what may be gone by now: an endpoint, and an object to destroy.
    pub fn copy(&self) -> Slot {
        Slot(self.slots + 3)
    }

    pub fn victim(&self) -> Slot {
        Slot(self.slots + 4)
    }

    fn handler(&self) -> Slot {
        Slot(self.slots + 5)
    }

    /// Where it goes on when it may not reach an address.
    pub fn resume(&self) -> &'static core::sync::atomic::AtomicU64 {
        self.words.word(RESUME)
    }

    pub fn count(&self, tally: Tally) {
        self.words.add(TALLIES + tally as usize, 1);
    }

    pub fn done(&self) {
        self.words.set(DONE, 1);
    }

    pub fn is_done(&self) -> bool {
        self.words.get(DONE) == 1
    }

    /// How often its bell was about to be rung.
    pub fn rung(&self) -> u64 {
        self.words.get(RUNG)
    }

    /// Rings its bell: says so first, so that its reader knows that the signal follows.
    pub fn ring(&self) -> Result<(), Error> {
        self.words.add(RUNG, 1);
        signal::signal(self.bell())
    }

    /// The rings that were taken, if that is known.
    pub fn taken(&self) -> Option<u64> {
        Some(self.words.get(ANSWERED)).filter(|taken| *taken != DEAF)
    }

    pub fn take(&self, rings: u64) {
        self.words.set(ANSWERED, rings);
    }

    /// Something is wrong.
    pub fn wrong(&self, wrong: Wrong, numbers: [u64; 2]) {
        self.place.wrong(wrong, self.n, numbers);
    }

    /// A call that must succeed.
    pub fn must(&self, result: Result<(), Error>, at: u64) {
        if let Err(error) = result {
            self.wrong(Wrong::Manage, [at, error as u64]);
        }
    }

    /// Makes what it needs for a round.
    pub fn prepare(&self) {
        for word in [DONE, RUNG, ANSWERED] {
            self.words.set(word, 0);
        }
        if self.place.role(self.n) == Role::Server {
            return;
        }
        self.must(signal::create_notification(self.bell()), 1);
        self.must(signal::create_timer(self.timer(), self.bell()), 2);
        let badge = self.n as u64;
        self.must(cap::mint(self.place.fault_endpoint(), self.handler(), Rights::SEND, badge), 3);
    }

    /// Begins it.
    pub fn start(&self) {
        let mut random = random(&self.place, self.n + 64);
        let (priority, work): (u64, fn(&Env, u64)) = match self.place.role(self.n) {
            Role::Owner => (priority(Role::Owner, &mut random), owner::work),
            Role::Monitor => (MONITOR, monitor::work),
            role => (priority(role, &mut random), client::work),
        };
        let monitor = self.place.role(self.n) == Role::Monitor;
        let handler = if monitor { Slot::NONE } else { self.handler() };
        let spec = Spec { handler, ..Spec::further(&self.place.env, self.n, priority) };
        let argument = (work, self.n as u64);
        self.must(thread::start(&self.place.env, self.n, self.thread(), spec, argument), 4);
        self.must(thread::migrate(self.thread(), self.n as u64 % self.place.cpus), 5);
    }

    /// Ends it wherever it is, and begins it again.
    pub fn restart(&self) {
        self.take(DEAF);
        self.must(cap::destroy(self.thread()), 6);
        self.start();
    }

    /// Ends it, and takes away what it had.
    pub fn end(&self) {
        if self.place.role(self.n) == Role::Server {
            return;
        }
        for slot in [self.thread(), self.timer(), self.bell()] {
            self.must(cap::destroy(slot), 7);
        }
        // Copies of what is gone, if there are any.
        for slot in [self.copy(), self.victim(), self.handler()] {
            let _ = cap::delete(slot);
        }
    }

    /// Does something to the thread in a slot from a CPU that need not be its own: moves it,
    /// changes its priority, or offers it the rest of the tick.
    pub fn disturb(&self, random: &mut Random) -> Result<(), Error> {
        match random.below(4) {
            0 | 1 => thread::migrate(self.thread(), random.below(self.place.cpus)),
            2 => thread::set_priority(self.thread(), priority(self.place.role(self.n), random)),
            _ => thread::yield_to(self.thread()),
        }
    }
}
