//! A service of sums in two forms: by a train, which the caller's thread enters, and by an
//! endpoint, whose server answers.

use rt::arch::counter;
use rt::prelude::*;
use rt::train::{self, Entry, Train, Visitor};
use rt::{Rights, Slot, SlotPool, Wait, system};
use service::{Capability, service};

/// What the server can be asked.
#[service]
pub trait Sums {
    /// A capability to the train, or why there is none.
    fn open(&mut self) -> Result<Capability, Error>;
    /// The sum of four numbers.
    fn sum(&mut self, a: u64, b: u64, c: u64, d: u64) -> u64;
}

/// Four numbers, as a train carries them.
pub struct Numbers([u64; 4]);

impl From<[u64; 4]> for Numbers {
    fn from(words: [u64; 4]) -> Numbers {
        Numbers(words)
    }
}

impl From<Numbers> for [u64; 4] {
    fn from(numbers: Numbers) -> [u64; 4] {
        numbers.0
    }
}

/// A sum, and who asked for it.
pub struct Sum {
    /// The sum.
    pub sum: u64,
    /// The badge that the train was entered with.
    pub badge: u64,
}

impl From<[u64; 4]> for Sum {
    fn from([sum, badge, ..]: [u64; 4]) -> Sum {
        Sum { sum, badge }
    }
}

impl From<Sum> for [u64; 4] {
    fn from(sum: Sum) -> [u64; 4] {
        [sum.sum, sum.badge, 0, 0]
    }
}

fn sum_of(numbers: [u64; 4]) -> u64 {
    numbers.iter().fold(0, |sum, number| sum.wrapping_add(*number))
}

/// What the caller's thread runs here.
struct Exported;

impl Entry for Exported {
    type Question = Numbers;
    type Answer = Sum;
    fn enter(visitor: Visitor, Numbers(numbers): Numbers) -> Sum {
        // A number that no sum is asked for with: what happens if the code here fails.
        assert!(numbers[0] != u64::MAX, "a visitor brings what it must not");
        Sum { sum: sum_of(numbers), badge: visitor.badge }
    }
}

struct Server(Result<Slot, Error>);

impl Sums for Server {
    fn open(&mut self) -> Result<Capability, Error> {
        self.0.map(|slot| Capability::grant(slot, Rights::SEND | Rights::COPY))
    }

    fn sum(&mut self, a: u64, b: u64, c: u64, d: u64) -> u64 {
        sum_of([a, b, c, d])
    }
}

/// The server: capabilities `sums` (receive); memory `stacks`, if it exports a train.
pub fn server(env: &Env) {
    let pool = SlotPool::new(env);
    let train = pool.take();
    let slot = train.slot();
    let stacks = env.find_mem("stacks").ok_or(Error::UnknownCall);
    let made = stacks.and_then(|stacks| train::export::<Exported>(env, slot, stacks, 4, 0));
    let mut sums = Server(made.map(|()| slot));
    let server = rt::Server::new(env.cap("sums")).with_buffer(env.buffer(0));
    let why = server.run(|request| sums.dispatch(request));
    panic!("no more sums: {why:?}");
}

/// The client: capabilities `sums` (send), `console`, `system`.
pub fn client(env: &Env) {
    let console = env.console();
    let sums = SumsClient::new(env.cap("sums"));
    let sums = sums.accepting(SlotPool::new(env), env.buffer(0));
    let slot = sums.open().ok().and_then(Capability::into_slot);
    let Some(slot) = slot else {
        println!(console, "{}: the kernel has no trains, or the server has none", env.name());
        system::shutdown(env.cap("system"), 1).expect("the run ends");
        return;
    };
    let train = Train::<Numbers, Sum>::new(slot.slot());
    let mut wrong = 0;
    for round in 1..=env.number("rounds", 3) {
        let numbers = [round, 2 * round, 3 * round, 4 * round];
        let by_train = train.call(Numbers(numbers), Wait::NEVER).map(|answer| answer.sum);
        let [a, b, c, d] = numbers;
        let by_endpoint = sums.sum(a, b, c, d);
        println!(
            console,
            "{}: {a} + {b} + {c} + {d} is {by_train:?} by train, {by_endpoint:?} by endpoint",
            env.name()
        );
        wrong += u64::from(by_train != Ok(10 * round) || by_endpoint.ok() != Some(10 * round));
    }
    let cost = |call: &mut dyn FnMut()| {
        (0..100).fold(u64::MAX, |least, _| {
            let before = counter();
            call();
            least.min(counter() - before)
        })
    };
    let null = cost(&mut || wrong += u64::from(system::null().is_err()));
    let entered =
        cost(&mut || wrong += u64::from(train.call(Numbers([0; 4]), Wait::NEVER).is_err()));
    let called = cost(&mut || wrong += u64::from(sums.sum(0, 0, 0, 0).is_err()));
    println!(console, "{}: empty call {null}, train {entered}, endpoint {called}", env.name());
    if env.arg("fails").is_some() {
        let failed = train.call(Numbers([u64::MAX; 4]), Wait::NEVER).map(|answer| answer.sum);
        println!(console, "{}: a visit that fails is {failed:?}", env.name());
        wrong += u64::from(failed != Err(Error::Faulted));
    }
    system::shutdown(env.cap("system"), wrong).expect("the run ends");
}
