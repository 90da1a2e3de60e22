//! A domain of the storm.

use super::thing::{self, Thing};
use super::{Board, Common, KINDS};
use crate::random::Random;
use rt::thread::{self, Spec};
use rt::{Env, Error, Wait, ipc};

/// Places that each thread has.
const PLACES: usize = 8;

/// Memory `board`, and that which the argument `stacks` names, with [`thing::STACK`] bytes for each
/// place; capabilities `root` and `begin`; the arguments `seed`, `threads` and their `priority`.
pub fn main(env: &Env) {
    let threads = env.number("threads", 1) as usize;
    let mut slots = env.slots();
    thing::prepare([slots.fresh(), slots.fresh()]).expect("the table of all that is mapped");
    for n in 1..threads {
        let spec = Spec::further(env, n, env.number("priority", 100));
        thread::start(env, n, slots.fresh(), spec, (work, n as u64)).expect("a thread");
    }
    work(env, 0);
}

/// The places of thread `n`.
fn places(env: &Env, n: usize) -> [Thing; PLACES] {
    let mut slots = env.slots();
    slots.part(2 + env.number("threads", 1) as u32 + (2 * n * PLACES) as u32);
    core::array::from_fn(|place| Thing {
        slots: [slots.fresh(), slots.fresh()],
        number: n * PLACES + place,
    })
}

/// Thread `n`: makes and destroys at random while there is a round.
fn work(env: &Env, n: u64) {
    let (board, places) = (Board::of(env), places(env, n as usize));
    let mut random = Random::new(env.number("seed", 1) << 8 | (n + 1));
    board.add(Common::Ready, 1);
    // A message says which round begins: it may be over before this thread has its turn.
    while let Ok(begin) = ipc::receive(env.cap("begin"), Wait::NEVER) {
        let [round, ..] = begin.words;
        let mut taken = [None; PLACES];
        while board.get(Common::Round) == round {
            let place = random.below(PLACES as u64) as usize;
            step(env, (&places[place], &mut taken[place]), &mut random);
        }
        for (place, kind) in places.iter().zip(taken) {
            destroy(board, place, kind);
        }
        board.add(Common::Ready, 1);
    }
}

/// Destroys what there is in a place, or makes something there.
fn step(env: &Env, (place, taken): (&Thing, &mut Option<usize>), random: &mut Random) {
    let board = Board::of(env);
    if let Some(kind) = taken.take() {
        return destroy(board, place, Some(kind));
    }
    let kind = random.below(KINDS.len() as u64) as usize;
    match place.make(env, kind, random) {
        Ok(()) => {
            board.count(Common::Made, kind);
            *taken = Some(kind);
            return;
        }
        Err(Error::QuotaExceeded) => board.count(Common::Refused, kind),
        Err(error) => board.wrong(kind, error),
    }
    destroy(board, place, Some(kind));
}

fn destroy(board: Board, place: &Thing, kind: Option<usize>) {
    if let Err(error) = place.destroy() {
        board.wrong(kind.unwrap_or(KINDS.len()), error);
    }
}
