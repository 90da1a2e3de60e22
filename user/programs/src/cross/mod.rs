//! What CPUs do to each other, an operation a round.
//!
//! Before each operation all threads wait: every CPU that takes no part idles, so that on an
//! emulator whose CPUs share one clock a span counts what the CPUs that do execute.

mod ends;
mod memory;
mod wake;

use abi::call::Fact;
use abi::results::Tag;
use rt::arch::counter;
use rt::thread::{self, Spec};
use rt::{Env, Error, Recorder, Slot, Slots, Status, Words, cap, ipc, signal, system};

/// The metrics, by their numbers in tags.
#[derive(Clone, Copy)]
enum Metric {
    Notify = 1,
    Migrate,
    WakeUp,
    Unmap,
    Protect,
    DestroyThread,
    DestroyDomain,
    RemoteWakeUp,
}

/// The priority of the thread that measures, and that of those that it wakes.
const OWN: u64 = 100;
const HIGHER: u64 = 110;
/// Nanoseconds in which every CPU comes to rest.
const REST: u64 = 50_000;

/// Capabilities `system`, `self-thread`; memories `recording`, `stamps`; arguments `part` (`ipc`,
/// `ipi` or `shootdown`), `rounds`, `warmup`.
pub fn main(env: &Env) {
    let mut cross = Cross::open(env);
    let part = match env.arg("part") {
        Some("ipc") => Cross::messages,
        Some("ipi") => Cross::wake_ups,
        Some("shootdown") => Cross::take_away,
        other => panic!("no part is called {other:?}"),
    };
    part(&mut cross).expect("every operation succeeds");
    cross.recorder.done();
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}

struct Cross {
    env: Env,
    slots: Slots,
    stamps: Words,
    /// How many CPUs there are; this program's thread is on the first.
    cpus: u64,
    warm_up: u64,
    recorded: u64,
    recorder: Recorder,
}

/// A further thread.
#[derive(Clone, Copy)]
struct Helper {
    slot: Slot,
    bell: Slot,
}

impl Cross {
    fn open(env: &Env) -> Cross {
        Cross {
            env: *env,
            slots: env.slots(),
            stamps: env.mem("stamps"),
            cpus: system::fact(Fact::Cpus).expect("the number of CPUs").0,
            warm_up: env.number("warmup", 8),
            recorded: env.number("rounds", 200),
            recorder: Recorder::open(env.mem("recording")),
        }
    }

    fn rounds(&self) -> core::ops::Range<u64> {
        0..self.warm_up + self.recorded
    }

    /// Records the ends of a span, unless its round is one to warm up.
    fn span(&mut self, (metric, case): (Metric, u16), round: u64, before: u64, after: u64) {
        if let Some(round) = round.checked_sub(self.warm_up) {
            let tag = Tag { metric: metric as u16, case, round: round as u16, point: 0 };
            self.recorder.pair(tag, before, after);
        }
    }

    /// Times a system call when all CPUs are at rest, and records it.
    #[inline(always)]
    fn time(
        &mut self,
        place: (Metric, u16),
        round: u64,
        operation: impl FnOnce() -> Status,
    ) -> Result<(), Error> {
        rest();
        let before = counter();
        let status = operation();
        let after = counter();
        self.span(place, round, before, after);
        status.result()
    }

    /// Starts further thread `n` on a CPU, above the one that measures. It has a bell of its own,
    /// and waits for it or does what it does for ever when this returns.
    fn start(&mut self, n: u64, cpu: u64, work: fn(&Env, u64)) -> Result<Helper, Error> {
        let helper = self.start_lower(n, cpu, work)?;
        thread::set_priority(helper.slot, HIGHER)?;
        Ok(helper)
    }

    /// [`Cross::start`] below the one that measures.
    fn start_lower(&mut self, n: u64, cpu: u64, work: fn(&Env, u64)) -> Result<Helper, Error> {
        let helper = Helper { slot: self.slots.fresh(), bell: self.slots.fresh() };
        signal::create_notification(helper.bell)?;
        self.begin(helper, n, cpu, work)?;
        Ok(helper)
    }

    /// [`Cross::start_lower`] with a slot and a bell that another one has had.
    fn begin(&self, helper: Helper, n: u64, cpu: u64, work: fn(&Env, u64)) -> Result<(), Error> {
        let spec = Spec::further(&self.env, n as usize, OWN - 1);
        thread::start(&self.env, n as usize, helper.slot, spec, (work, helper.bell.word()))?;
        thread::migrate(helper.slot, cpu)?;
        rest();
        Ok(())
    }

    fn end(&self, helper: Helper) -> Result<(), Error> {
        cap::destroy(helper.slot)?;
        cap::destroy(helper.bell)
    }
}

/// Waits until every CPU has come to rest.
fn rest() {
    system::sleep(REST);
}

/// A further thread: stamps the counter whenever its bell rings.
fn listen(env: &Env, bell: u64) {
    let stamps = env.mem("stamps");
    loop {
        let outcome = ipc::receive_short(Slot(bell as u32));
        let now = counter();
        outcome.status.result().expect("a signal");
        stamps.set(0, now);
    }
}

/// A further thread: never enters the kernel by itself.
fn spin(_: &Env, _: u64) {
    loop {
        core::hint::spin_loop();
    }
}
