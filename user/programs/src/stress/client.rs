//! Who uses what stands at stations, and gets in the way.

use super::place::{Common, Life, Mark, Station, Tally, Worker};
use super::server::NATIVE;
use super::wrong::Wrong;
use super::{US, pause, random};
use crate::random::Random;
use rt::{Env, Error, Message, Received, Rights, Wait, arch, cap, ipc, signal, system};

/// Words that every server can take, and those of longer messages at most.
const SHORT: usize = 1;
const LONG: u64 = 40;

/// The thread; its number is its argument.
pub fn work(env: &Env, argument: u64) {
    let me = Worker::of(env, argument);
    let life = system::clock();
    let mut client = Client { me, random: random(&me.place, me.n ^ life as usize), copied: None };
    // The client before may have left some.
    for slot in [me.copy(), me.victim()] {
        let _ = cap::delete(slot);
    }
    while me.place.get(Common::Stop) == 0 && me.place.is_right() {
        client.act();
        pause(&me.place, &mut client.random);
    }
    me.done();
}

struct Client {
    me: Worker,
    random: Random,
    /// The station whose endpoint was copied, and its count then.
    copied: Option<(Station, u64)>,
}

impl Client {
    fn act(&mut self) {
        let station =
            Station::new(&self.me.place, self.random.below(self.me.place.stations as u64) as usize);
        match self.random.below(16) {
            0..5 => self.call(station),
            5..7 => self.call_copy(station),
            7..9 => self.look(station),
            9 => self.write(station),
            10 => {
                let other = self.anybody();
                self.me.must(other.ring(), 40);
            }
            11 => self.await_ring(),
            12 => self.await_timer(),
            13 | 14 => self.disturb(),
            _ => self.help_to_kill(station),
        }
    }

    /// A client, the own one perhaps.
    fn anybody(&mut self) -> Worker {
        let station = self.random.below(self.me.place.stations as u64) as usize;
        let nth = 3 + self.random.below(2) as usize;
        Worker::new(&self.me.place, 4 * station + nth)
    }

    fn call(&mut self, station: Station) {
        let before = station.get(Mark::Count);
        let foreign = station.get(Mark::Foreign) == 1;
        let length = match self.random.below(4) {
            0 if !foreign => 5 + self.random.below(LONG) as usize,
            _ => SHORT,
        };
        let result = self.send(station.sign(), length);
        let after = station.get(Mark::Count);
        let settled = before == after;
        match result {
            Ok(_) if settled && Life::of(before) == Life::Gone => {
                self.me.wrong(Wrong::DeadAnswers, [before, after]);
            }
            Ok(life) => {
                let possible = before / 4..=(after + 1) / 4;
                if life.is_some_and(|life| !possible.contains(&life)) {
                    self.me.wrong(Wrong::OtherLife, [life.unwrap_or(0), before]);
                }
            }
            Err(error) => self.judge(error, settled && Life::of(before) == Life::Alive, length),
        }
    }

    /// An error is right where the partner has gone, or if it was to be.
    fn judge(&self, error: Error, lives: bool, length: usize) {
        match error {
            Error::Timeout => self.me.count(Tally::Late),
            Error::Destroyed | Error::Stale | Error::NoCapability if !lives => {
                self.me.count(Tally::Refused);
            }
            // Instead of the server that was there, one in a domain of its own has no buffer.
            Error::NoBuffer if !lives && length > SHORT => self.me.count(Tally::Refused),
            error => self.me.wrong(Wrong::Refused, [error as u64, length as u64]),
        }
    }

    /// Calls; the life that answered, if it says so.
    fn send(&mut self, to: rt::Slot, length: usize) -> Result<Option<u64>, Error> {
        let value = self.random.below(1 << 30);
        let buffer = self.me.place.env.buffer(self.me.n);
        for i in 4..length {
            buffer.0.set(i, value + i as u64);
        }
        let message = Message::long(0, length, [value, 0, 0, 0]);
        let wait = match self.random.below(4) {
            0 => Wait::until(system::clock() + (1 + self.random.below(600)) * US),
            _ => Wait::NEVER,
        };
        let answer = match wait {
            Wait::NEVER => ipc::call(to, message),
            wait => ipc::call_within(to, message, wait),
        };
        let answer: Received = match answer {
            Err(Error::Timeout) if wait == Wait::NEVER => return Err(Error::UnknownCall),
            answer => answer?,
        };
        if answer.words[0] != value + 1 {
            self.me.wrong(Wrong::Answer, [answer.words[0], value + 1]);
        }
        let native = answer.info.label() == NATIVE;
        let all = native.then(|| (4..length).all(|i| buffer.0.get(i) == value + i as u64 + 1));
        if all == Some(false) {
            self.me.wrong(Wrong::Answer, [length as u64, value]);
        }
        self.me.count(Tally::Answered);
        Ok(native.then_some(answer.words[1]))
    }

    /// A copy of what was there goes on leading there, and nowhere once that has gone.
    fn call_copy(&mut self, station: Station) {
        let Some((station, copied)) = self.copied else { return self.take_copy(station) };
        let before = station.get(Mark::Count);
        let result = self.send(self.me.copy(), SHORT);
        let lives = station.get(Mark::Count) == copied;
        match result {
            Ok(_) if before > copied + 1 => self.me.wrong(Wrong::DeadAnswers, [before, copied]),
            Ok(life) if life.is_some_and(|life| life != copied / 4) => {
                self.me.wrong(Wrong::OtherLife, [life.unwrap_or(0), copied]);
            }
            Ok(_) => {}
            Err(error) => self.judge(error, lives, SHORT),
        }
        if !lives {
            self.me.must(cap::delete(self.me.copy()), 41);
            self.copied = None;
        }
    }

    fn take_copy(&mut self, station: Station) {
        let count = station.get(Mark::Count);
        if Life::of(count) != Life::Alive {
            return;
        }
        let copied = cap::copy(station.sign(), self.me.copy(), Rights::SEND);
        match (copied, station.get(Mark::Count) == count) {
            (Ok(()), true) => self.copied = Some((station, count)),
            (Ok(()), false) => self.me.must(cap::delete(self.me.copy()), 42),
            (Err(error), true) => self.me.wrong(Wrong::Manage, [43, error as u64]),
            (Err(_), false) => {}
        }
    }

    /// A page that is there has the number of the life on it, one that is gone cannot be reached.
    fn look(&mut self, station: Station) {
        let before = station.get(Mark::Count);
        let seen = arch::read(station.page(), self.me.resume());
        let after = station.get(Mark::Count);
        let right = match (before == after).then(|| Life::of(before)) {
            Some(Life::Alive) => seen == Some(before / 4),
            Some(Life::Gone) => seen.is_none(),
            // A new page is empty.
            _ => seen.is_none_or(|n| n == 0 || (before / 4..=(after + 1) / 4).contains(&n)),
        };
        if !right {
            self.me.wrong(Wrong::Page, [seen.unwrap_or(u64::MAX), before]);
        }
        self.me.count(Tally::Looks);
    }

    /// Writes where no other thread relies on it.
    fn write(&mut self, station: Station) {
        let before = station.get(Mark::Count);
        let value = self.random.below(1 << 30);
        let written = arch::write(station.page() + 8, value, self.me.resume());
        let gone = Life::of(before) == Life::Gone && station.get(Mark::Count) == before;
        if written && gone {
            self.me.wrong(Wrong::Page, [value, before]);
        }
    }

    /// If a thread has said that the own bell will be rung, it is.
    fn await_ring(&mut self) {
        let Some(taken) = self.me.taken() else { return };
        if self.me.rung() > taken {
            self.me.must(ipc::receive(self.me.bell(), Wait::NEVER).map(|_| ()), 44);
            // The signal of each ring that is said from here on comes after this.
            self.me.take(self.me.rung());
            self.me.count(Tally::Wakes);
        }
    }

    /// A timer rings, wherever its thread is by then. Others' rings may be first.
    fn await_timer(&mut self) {
        let at = system::clock() + (1 + self.random.below(200)) * US;
        self.me.must(signal::set_timer(self.me.timer(), at), 45);
        self.me.must(ipc::receive(self.me.bell(), Wait::NEVER).map(|_| ()), 46);
        self.me.must(signal::set_timer(self.me.timer(), 0), 47);
        self.me.take(self.me.rung());
        self.me.count(Tally::Wakes);
    }

    /// Does something to any thread, which may be ending.
    fn disturb(&mut self) {
        let n = 1 + self.random.below(4 * self.me.place.stations as u64);
        match Worker::new(&self.me.place, n as usize).disturb(&mut self.random) {
            Ok(()) | Err(Error::Stale | Error::NoCapability | Error::WrongState) => {}
            Err(error) => self.me.wrong(Wrong::Manage, [48, error as u64]),
        }
    }

    /// Destroys something that its owner has begun to destroy: two CPUs at once.
    fn help_to_kill(&mut self, station: Station) {
        let count = station.get(Mark::Count);
        if Life::of(count) != Life::Alive {
            return;
        }
        let server = Worker::new(&self.me.place, 4 * station.number + 2).thread();
        let body = if station.get(Mark::Foreign) == 1 { station.domain() } else { server };
        let what = [body, station.door(), station.memory()][self.random.below(3) as usize];
        let copied = cap::copy(what, self.me.victim(), Rights(u8::MAX));
        for _ in 0..20 {
            let now = station.get(Mark::Count);
            if now == count + 1 && copied.is_ok() {
                // The owner may have finished.
                let _ = cap::destroy(self.me.victim());
            }
            if now != count || self.me.place.get(Common::Stop) != 0 {
                break;
            }
            pause(&self.me.place, &mut self.random);
        }
        let _ = cap::delete(self.me.victim());
    }
}
