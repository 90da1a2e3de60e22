//! Who makes and destroys what stands at a station.

use super::place::{Common, Mark, Role, Station, Tally, Worker, priority};
use super::wrong::Wrong;
use super::{MS, PATIENCE, pause, random, server};
use crate::random::Random;
use rt::memory::{self, Range};
use rt::thread::{self, Registers, Spec};
use rt::{Env, Error, Rights, arch, cap, signal, system};

const RW: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);

/// The thread; its number is its argument.
pub fn work(env: &Env, argument: u64) {
    let me = Worker::of(env, argument);
    let mut owner = Owner { me, station: me.station(), random: random(&me.place, me.n) };
    while me.place.get(Common::Stop) < 2 && me.place.is_right() {
        owner.live();
    }
    me.done();
}

struct Owner {
    me: Worker,
    station: Station,
    random: Random,
}

impl Owner {
    fn live(&mut self) {
        self.station.add(Mark::Count);
        if let Err(error) = self.give_birth() {
            return self.me.wrong(Wrong::Manage, [20, error as u64]);
        }
        self.station.add(Mark::Count);
        self.me.count(Tally::Births);
        for _ in 0..2 + self.random.below(8) {
            if self.me.place.is_right() {
                self.act();
            }
            pause(&self.me.place, &mut self.random);
        }
        self.station.add(Mark::Count);
        if let Err(error) = self.kill() {
            return self.me.wrong(Wrong::Manage, [21, error as u64]);
        }
        self.station.add(Mark::Count);
        pause(&self.me.place, &mut self.random);
    }

    fn server(&self) -> Worker {
        self.me.colleague(1)
    }

    fn is_foreign(&self) -> bool {
        self.station.get(Mark::Foreign) == 1
    }

    /// The number of the life that begins or goes on.
    fn life(&self) -> u64 {
        self.station.get(Mark::Count).div_ceil(4)
    }

    fn give_birth(&mut self) -> Result<(), Error> {
        let (station, server) = (self.station, self.server());
        station.set(Mark::Foreign, self.random.below(2));
        signal::create_notification(station.bell())?;
        signal::create_endpoint(station.door(), station.bell())?;
        cap::mint(station.door(), station.sign(), Rights::SEND.or(Rights::COPY), self.life())?;
        memory::create(station.memory(), 1)?;
        let page = Range { memory: station.memory(), first: 0, pages: 1, address: station.page() };
        memory::map(station.mapping(), rt::Slot::NONE, page, RW)?;
        if !arch::write(station.page(), self.life(), self.me.resume()) {
            self.me.wrong(Wrong::Page, [0, station.get(Mark::Count)]);
        }
        let priority = priority(Role::Server, &mut self.random);
        if self.is_foreign() {
            return server::begin_foreign(&server, &station, priority);
        }
        let spec = Spec::further(&server.place.env, server.n, priority);
        let work: fn(&Env, u64) = server::work;
        thread::start(&server.place.env, server.n, server.thread(), spec, (work, server.n as u64))?;
        thread::migrate(server.thread(), self.random.below(server.place.cpus))
    }

    /// In any order. A client may have been first, and may be about it still.
    fn kill(&mut self) -> Result<(), Error> {
        let station = self.station;
        let body = if self.is_foreign() { station.domain() } else { self.server().thread() };
        let mut all = [station.door(), body, station.memory(), station.bell()];
        self.random.shuffle(&mut all);
        for slot in all {
            match cap::destroy(slot) {
                Err(Error::Stale) => cap::delete(slot)?,
                other => other?,
            }
        }
        cap::delete(station.sign())?;
        // With their memory, domain and so on these are gone.
        for slot in [station.mapping(), station.code(), self.server().thread()] {
            let _ = cap::destroy(slot);
            let _ = cap::delete(slot);
        }
        Ok(())
    }

    /// Something that no caller may notice.
    fn act(&mut self) {
        let server = self.server();
        match self.random.below(10) {
            0..3 => {
                let done = server.disturb(&mut self.random);
                // Only a thread that can run takes the rest of a tick.
                if done != Err(Error::WrongState) {
                    self.me.must(done, 30);
                }
            }
            3..5 => self.stop_server(),
            5 => self.protect(),
            6 if !self.is_foreign() => self.ring(),
            7 if self.may_restart() => {
                self.me.colleague(2 + self.random.below(2) as usize).restart();
            }
            _ => self
                .me
                .must(thread::migrate(self.me.thread(), self.random.below(self.me.place.cpus)), 31),
        }
    }

    /// While a round is on its way.
    fn may_restart(&self) -> bool {
        self.me.place.get(Common::Begun) == 1 && self.me.place.get(Common::Stop) == 0
    }

    /// A stopped server is on no CPU once its registers were told, and does not run.
    fn stop_server(&mut self) {
        let (server, station) = (self.server(), self.station);
        self.me.must(thread::suspend(server.thread()), 32);
        let cancel = self.random.below(4) == 0 && !self.is_foreign();
        let registers = Registers { cancel, ..Registers::default() };
        self.me.must(thread::set(server.thread(), registers).map(|_| ()), 33);
        let before = station.get(Mark::Served);
        self.rest();
        let after = station.get(Mark::Served);
        if before != after {
            self.me.wrong(Wrong::Ran, [before, after]);
        }
        self.me.must(thread::resume(server.thread()), 34);
    }

    /// No thread writes to a page without the right to.
    fn protect(&mut self) {
        let (address, resume) = (self.station.page() + 8, self.me.resume());
        let look = || arch::read(address, resume).unwrap_or(u64::MAX);
        self.me.must(memory::protect(self.station.mapping(), Rights::READ), 35);
        let before = look();
        self.rest();
        let after = look();
        if before != after {
            self.me.wrong(Wrong::Written, [before, after]);
        }
        self.me.must(memory::protect(self.station.mapping(), RW), 36);
    }

    /// Computes or sleeps, so that others get on.
    fn rest(&mut self) {
        match self.random.below(2) {
            0 => system::work(self.random.below(4000)),
            _ => system::sleep(self.random.below(MS / 4)),
        }
    }

    /// A signal to a server that lives is seen.
    fn ring(&mut self) {
        let station = self.station;
        let rung = station.add(Mark::Rung);
        self.me.must(signal::signal(station.bell()), 38);
        let until = system::clock() + PATIENCE;
        while station.get(Mark::Heard) < rung && system::clock() < until {
            system::sleep(MS / 20);
        }
        let heard = station.get(Mark::Heard);
        if heard < rung {
            self.me.wrong(Wrong::Unseen, [rung, heard]);
        }
        self.me.count(Tally::Wakes);
    }
}
