//! What threads do with reservations, where the system has some.

use super::choice::{COPY, Chooser, DOMAIN, THREAD};
use rt::abi::call::{Call, Setting};
use rt::abi::reservation::{Budget, Curve, Server, Share, WHOLE, Words};
use rt::{Env, Slot, system};

/// Names of the capabilities that the manifest gives: roots, classes, leaves.
const GIVEN: [&str; 6] = ["cpus", "root", "group", "deadlines", "anywhere", "due"];

/// The reservations that a domain can name.
#[derive(Clone, Copy)]
pub struct Reservations([Slot; GIVEN.len()]);

impl Reservations {
    /// Those of a domain; none: its system has none.
    pub fn find(env: &Env) -> Option<Reservations> {
        env.find_cap(GIVEN[0])?;
        Some(Reservations(GIVEN.map(|name| env.find_cap(name).unwrap_or(Slot::NONE))))
    }

    fn slot(&self, chooser: &mut Chooser) -> u64 {
        let n = chooser.random().below(2 * GIVEN.len() as u64) as usize;
        self.0.get(n).map_or_else(|| chooser.of(COPY), |slot| slot.word())
    }

    /// A call that makes sense, mostly, with its arguments and words.
    pub fn call(&self, chooser: &mut Chooser) -> (u64, [u64; 6], Words) {
        let (at, class) = (self.slot(chooser), self.slot(chooser));
        let (call, arguments, words) = match chooser.random().below(16) {
            0..4 => {
                let (code, words) = share(chooser).encode();
                let policy = chooser.small(8).saturating_sub(3);
                let arguments = [chooser.spare(COPY), class, policy, code, 0, 0];
                (Call::ReservationCreate, arguments, words)
            }
            4..8 => {
                let (setting, code, words) = setting(chooser);
                (Call::ReservationSet, [at, setting as u64, code, 0, 0, 0], words)
            }
            8..10 => {
                let (code, words) = share(chooser).encode();
                (Call::ReservationJoin, [at, class, code, 0, 0, 0], words)
            }
            10..14 => {
                let kind = if chooser.random().below(8) == 0 { DOMAIN } else { THREAD };
                let of = if chooser.random().below(4) == 0 { 0 } else { at };
                (Call::Reserve, [chooser.of(kind), of, 0, 0, 0, 0], [0; 4])
            }
            14 => (Call::Destroy, [chooser.of(COPY), 0, 0, 0, 0, 0], [0; 4]),
            15 if chooser.random().below(4) == 0 => {
                (Call::TimeoutsFollow, [u64::MAX, 0, 0, 0, 0, 0], [0; 4])
            }
            _ => {
                let of = chooser.random().below(3);
                (Call::ReservationInspect, [at, of, 0, 0, 0, 0], [0; 4])
            }
        };
        (call as u64, arguments, words)
    }
}

fn setting(chooser: &mut Chooser) -> (Setting, u64, Words) {
    match chooser.random().below(10) {
        0..2 => {
            let (code, words) = share(chooser).encode();
            (Setting::Share, code, words)
        }
        2..6 => (Setting::Budget, 0, budget(chooser)),
        6..8 => (Setting::Timing, 0, [time(chooser), time(chooser), 0, 0]),
        8 => (Setting::Frame, 0, [system::clock(), 0, 0, 0]),
        _ => (Setting::Window, 0, [time(chooser), chooser.small(3), 0, 0]),
    }
}

fn share(chooser: &mut Chooser) -> Share {
    let slope =
        |chooser: &mut Chooser| [1, WHOLE / 10, WHOLE / 3][chooser.random().below(3) as usize];
    match chooser.random().below(8) {
        0..2 => Share::Priority(chooser.small(513) as u16),
        2..6 => Share::Deadline,
        6 => {
            let (slope, rest) = (slope(chooser), slope(chooser));
            Share::curve(Curve { slope, bend: chooser.random().below(3) * 100_000, rest })
        }
        _ => {
            let (number, priority) = (chooser.random().below(3), chooser.random().below(300));
            Share::Partition { number: number as u16, priority: priority as u16 }
        }
    }
}

fn budget(chooser: &mut Chooser) -> Words {
    let server = Server::ALL[chooser.random().below(Server::ALL.len() as u64) as usize];
    match chooser.random().below(6) {
        0 => Budget::encode(None),
        _ => Budget::encode(Some(Budget::new(server, time(chooser) / 4, time(chooser)))),
    }
}

/// Mostly some ticks.
fn time(chooser: &mut Chooser) -> u64 {
    100_000 + chooser.small(1_000_000)
}
