//! Threads that are woken, here and on another CPU, and threads that move.

use super::{Cross, Helper, Metric, REST, listen, rest, spin};
use crate::latency::Clock;
use abi::call::Call;
use rt::arch::counter;
use rt::{Error, signal, system, thread};

/// The CPUs of woken threads, by the number of the case.
const PLACES: [u64; 2] = [0, 1];

impl Cross {
    /// Signals and moves.
    pub fn messages(&mut self) -> Result<(), Error> {
        for (case, cpu) in PLACES.into_iter().enumerate() {
            let helper = self.start(1, cpu, listen)?;
            self.notify(case as u16, helper)?;
            self.end(helper)?;
        }
        self.migrate()
    }

    /// From before the signal until the woken thread has the counter.
    fn notify(&mut self, case: u16, helper: Helper) -> Result<(), Error> {
        for round in self.rounds() {
            let (before, _) = self.ring(helper)?;
            self.span((Metric::Notify, case), round, before, self.stamps.get(0));
        }
        Ok(())
    }

    /// Signals; the counter before and after. Behind that this CPU pauses, so that on an emulator
    /// the other one goes on, and rests.
    fn ring(&mut self, helper: Helper) -> Result<(u64, u64), Error> {
        rest();
        let before = counter();
        let status = system::status(Call::Signal, [helper.bell.word()]);
        let after = counter();
        core::hint::spin_loop();
        status.result()?;
        rest();
        Ok((before, after))
    }

    /// From behind a signal until the other CPU, which was interrupted, has the woken thread read
    /// the counter: it idled, or ran a lower thread.
    fn remote_wake_ups(&mut self) -> Result<(), Error> {
        let helper = self.start(1, 1, listen)?;
        for case in 0..2 {
            let busy = if case == 1 { Some(self.start_lower(2, 1, spin)?) } else { None };
            for round in self.rounds() {
                let (_, after) = self.ring(helper)?;
                self.span((Metric::RemoteWakeUp, case), round, after, self.stamps.get(0));
            }
            busy.map_or(Ok(()), |busy| self.end(busy))?;
        }
        self.end(helper)
    }

    /// The caller itself, and a thread that waits.
    fn migrate(&mut self) -> Result<(), Error> {
        let own = self.env.cap("self-thread").word();
        let helper = self.start(1, 0, listen)?;
        for round in self.rounds() {
            self.time((Metric::Migrate, 0), round, || {
                system::status(Call::ThreadMigrate, [own, 1])
            })?;
            thread::migrate(self.env.cap("self-thread"), 0)?;
            let to = 1 - round % 2;
            self.time((Metric::Migrate, 1), round, || {
                system::status(Call::ThreadMigrate, [helper.slot.word(), to])
            })?;
        }
        self.end(helper)
    }

    /// A timer of this CPU wakes a thread of this or another one; both idle. Then without a timer.
    pub fn wake_ups(&mut self) -> Result<(), Error> {
        let clock = Clock::ask();
        for (case, cpu) in PLACES.into_iter().enumerate() {
            let helper = self.start(1, cpu, listen)?;
            let timer = self.slots.fresh();
            signal::create_timer(timer, helper.bell)?;
            for round in self.rounds() {
                let at = system::clock() + REST;
                signal::set_timer(timer, at)?;
                system::sleep(2 * REST);
                let (due, seen) = (clock.counter_at(at), self.stamps.get(0));
                self.span((Metric::WakeUp, case as u16), round, due, seen);
            }
            self.end(helper)?;
        }
        self.remote_wake_ups()
    }
}
