//! A call to a higher server and back: with stubs made from a trait, and the same by hand.

use super::{Metric, Micro, Tag, counter};
use rt::prelude::*;
use rt::{Info, cap, ipc, signal};
use service::{DONE, REFUSED, UNKNOWN, Wire, service};

/// The sum is larger than the largest number.
#[derive(Wire, Clone, Copy, Debug, PartialEq)]
struct Overflow;

/// Adds numbers.
#[service]
trait Adder {
    /// The sum of two numbers.
    fn add(&mut self, a: u64, b: u64) -> Result<u64, Overflow>;
}

struct Sums;

impl Adder for Sums {
    fn add(&mut self, a: u64, b: u64) -> Result<u64, Overflow> {
        a.checked_add(b).ok_or(Overflow)
    }
}

const ADD: u32 = AdderClient::ADD;

/// A way to ask for a sum.
type Ask = fn(Slot, u64, u64) -> Result<u64, Error>;

impl Micro {
    /// Round trips, in both ways.
    pub fn round_trips(&mut self) -> Result<(), Error> {
        let by_hand: (fn(&Env, u64), Ask) = (serve_by_hand, ask_by_hand);
        let ways = [(Metric::RoundTripByHand, by_hand), (Metric::RoundTripTyped, (serve, ask))];
        for (metric, (serve, ask)) in ways {
            let door = self.slots.fresh();
            signal::create_endpoint(door, Slot::NONE)?;
            let server = self.start(self.priority + 10, (serve, door.word()))?;
            for round in self.log.rounds() {
                let before = counter();
                let sum = ask(door, round, 1);
                let after = counter();
                assert!(sum? == round + 1, "the sum of {round} and 1");
                self.log.point(metric, round, Tag::BEFORE, before);
                self.log.point(metric, round, Tag::AFTER, after);
            }
            cap::destroy(server)?;
            cap::destroy(door)?;
        }
        Ok(())
    }
}

#[inline(never)]
fn ask(door: Slot, a: u64, b: u64) -> Result<u64, Error> {
    AdderClient::new(door).add(a, b).map_err(|_| Error::InvalidArgument)
}

#[inline(never)]
fn ask_by_hand(door: Slot, a: u64, b: u64) -> Result<u64, Error> {
    let answer = ipc::call_short(door, Info::new(ADD, 2), [a, b]);
    answer.status.result().map_err(|_| Error::InvalidArgument)?;
    if answer.info == Info::new(DONE, 1) {
        Ok(answer.words[0])
    } else {
        Err(Error::InvalidArgument)
    }
}

fn serve(_: &Env, door: u64) {
    Sums.serve(Slot(door as u32));
}

fn serve_by_hand(_: &Env, door: u64) {
    Server::new(Slot(door as u32)).run(|request| match (request.label(), request.words()) {
        (ADD, &[a, b]) => match a.checked_add(b) {
            Some(sum) => Message::short(DONE, [sum]),
            None => Message::empty(REFUSED),
        },
        _ => Message::empty(UNKNOWN),
    });
}
