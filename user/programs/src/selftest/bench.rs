//! What every check builds on: fresh slots, helper threads, expectations.

use core::cell::Cell;
use core::fmt;
use rt::arch::Outcome;
use rt::thread::{self, Spec};
use rt::{Buffer, Env, Error, Info, Message, Slot, SlotPool, Status, Wait, Words};
use rt::{cap, ipc, signal, system};

/// The priority of the suite's own thread, and of helpers below and above it.
pub const MAIN: u64 = 100;
pub const LOW: u64 = 90;
pub const HIGH: u64 = 110;
/// The suite's domain may not go above this.
pub const HIGHEST: u64 = 200;

/// A millisecond.
pub const MS: u64 = 1_000_000;

/// Shared words of each helper thread.
const REGION: usize = 64;

/// The common words, from this one on, that hold the state of a check's pool of slots; before it
/// where the pool begins among the free slots, and how many it has.
const POOL: usize = 56;
const POOL_PLACE: usize = 54;

/// The word of a message buffer in which `rt` keeps the slot of the thread's inbox: one of a pool
/// that ends with the check.
const INBOX: usize = 478;

/// What a check comes to.
pub type Check = Result<(), Why>;

/// Checks with their names.
pub type Checks = &'static [(&'static str, fn(&Bench) -> Check)];

/// Why a check failed.
#[derive(Clone, Copy, Debug)]
pub struct Why {
    /// What was expected.
    pub what: &'static str,
    /// The error that came, if one did.
    pub error: Option<Error>,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.error {
            Some(error) => write!(f, "{}: {error:?}", self.what),
            None => f.write_str(self.what),
        }
    }
}

impl From<Error> for Why {
    fn from(error: Error) -> Why {
        Why { what: "a call that should succeed", error: Some(error) }
    }
}

/// Expects a condition.
pub fn expect(condition: bool, what: &'static str) -> Check {
    if condition { Ok(()) } else { Err(Why { what, error: None }) }
}

/// Expects a refusal with this error.
pub fn refused<T>(result: Result<T, Error>, error: Error, what: &'static str) -> Check {
    match result {
        Err(got) if got == error => Ok(()),
        other => Err(Why { what, error: other.err() }),
    }
}

/// The workbench of one check after the other.
pub struct Bench {
    /// The program's environment.
    pub env: Env,
    shared: Words,
    first: u32,
    next: Cell<u32>,
    limit: u32,
    helpers: Cell<usize>,
}

/// A helper thread.
#[derive(Clone, Copy)]
pub struct Helper {
    /// Its capability.
    pub slot: Slot,
    n: usize,
}

impl Bench {
    pub fn new(env: &Env) -> Bench {
        let slots = env.slots();
        let (first, limit) = (slots.clone().fresh().0, slots.limit());
        let shared = env.mem("shared");
        Bench { env: *env, shared, first, next: Cell::new(first), limit, helpers: Cell::new(0) }
    }

    /// A slot that is free for the length of the check.
    pub fn slot(&self) -> Slot {
        let slot = self.next.get();
        assert!(slot < self.limit, "a check uses too many slots");
        self.next.set(slot + 1);
        Slot(slot)
    }

    /// A pool of so many slots, one for each check.
    pub fn pool(&self, slots: u32) -> SlotPool {
        let common = self.common();
        common.set(POOL_PLACE, u64::from(self.next.get() - self.first));
        common.set(POOL_PLACE + 1, u64::from(slots));
        self.next.set(self.next.get() + slots);
        shared_pool(&self.env, common)
    }

    /// The pool that [`Bench::pool`] has made.
    pub fn shared_pool(&self) -> SlotPool {
        shared_pool(&self.env, self.common())
    }

    /// The first slot beyond the table.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// A new endpoint.
    pub fn endpoint(&self) -> Result<Slot, Why> {
        let slot = self.slot();
        signal::create_endpoint(slot, Slot::NONE)?;
        Ok(slot)
    }

    /// A new notification.
    pub fn notification(&self) -> Result<Slot, Why> {
        let slot = self.slot();
        signal::create_notification(slot)?;
        Ok(slot)
    }

    /// The message buffer of the suite's own thread.
    pub fn buffer(&self) -> Buffer {
        self.env.buffer(0)
    }

    /// A helper thread that does `work` with two slots.
    pub fn helper(&self, priority: u64, work: Work, a: Slot, b: Slot) -> Result<Helper, Why> {
        self.handled(priority, Slot::NONE, work, a, b)
    }

    /// [`Bench::helper`] whose faults go to an endpoint.
    pub fn handled(
        &self,
        priority: u64,
        handler: Slot,
        work: Work,
        a: Slot,
        b: Slot,
    ) -> Result<Helper, Why> {
        let spec = Spec { handler, ..Spec::further(&self.env, self.helpers.get() + 1, priority) };
        self.helper_with(spec, work, a, b)
    }

    /// [`Bench::helper`] from a specification.
    pub fn helper_with(&self, spec: Spec, work: Work, a: Slot, b: Slot) -> Result<Helper, Why> {
        let n = self.helpers.get() + 1;
        self.helpers.set(n);
        for i in 0..REGION {
            self.shared.set(REGION * n + i, 0);
        }
        let slot = self.slot();
        let argument = a.word() | b.word() << 16 | (n as u64) << 32;
        thread::start(&self.env, n, slot, spec, (work, argument))?;
        Ok(Helper { slot, n })
    }

    /// Destroys the helper that was made last. The next one gets its number and slot.
    #[cfg(target_os = "none")]
    pub fn end(&self, helper: Helper) -> Result<(), Why> {
        cap::destroy(helper.slot)?;
        // A capability of what is gone stays behind.
        let _ = cap::delete(helper.slot);
        self.helpers.set(helper.n - 1);
        self.next.set(self.next.get() - 1);
        Ok(())
    }

    /// The number that the next helper gets.
    pub fn next_helper(&self) -> usize {
        self.helpers.get() + 1
    }

    /// What a helper reported; none if it has not yet.
    pub fn report(&self, helper: Helper) -> Option<Outcome> {
        let words = self.words(helper);
        (words.get(0) == 1).then(|| Outcome {
            status: Status(words.get(1)),
            badge: words.get(2),
            info: Info(words.get(3)),
            words: [4, 5, 6, 7].map(|i| words.get(i)),
        })
    }

    /// Expects that a helper's operation ended with this error.
    pub fn failed(&self, helper: Helper, error: Error, what: &'static str) -> Check {
        match self.report(helper) {
            Some(outcome) => refused(outcome.received(), error, what),
            None => Err(Why { what, error: None }),
        }
    }

    /// Expects that a helper's operation succeeded.
    pub fn succeeded(&self, helper: Helper, what: &'static str) -> Result<Outcome, Why> {
        match self.report(helper) {
            Some(outcome) if outcome.status == Status::OK => Ok(outcome),
            Some(outcome) => Err(Why { what, error: outcome.status.result().err() }),
            None => Err(Why { what, error: None }),
        }
    }

    /// The shared words of a helper.
    pub fn words(&self, helper: Helper) -> Words {
        self.shared.part(REGION * helper.n, REGION)
    }

    /// Words that all threads of the suite share.
    pub fn common(&self) -> Words {
        self.shared.part(0, REGION)
    }

    /// Lets every other thread run that can.
    pub fn settle(&self) {
        system::sleep(2 * MS);
    }

    /// Whether the running kernel observes priorities strictly.
    pub fn is_strict(&self) -> Result<bool, Why> {
        Ok(self.kernel_is(b"strict-")?)
    }

    /// Whether a scheduling tree orders threads: whoever has an answer to give runs on the time of
    /// the thread that waits for it.
    pub fn has_tree(&self) -> Result<bool, Why> {
        Ok(self.kernel_is(b"tree")?)
    }

    /// Whether the running kernel serves blocked senders by priority.
    pub fn serves_by_priority(&self) -> Result<bool, Why> {
        Ok(self.kernel_is(b"ipc-")?)
    }

    fn kernel_is(&self, prefix: &[u8]) -> Result<bool, Error> {
        let (low, high) = system::fact(rt::abi::call::Fact::KernelName)?;
        Ok(rt::abi::boot::name_bytes([low, high]).starts_with(prefix))
    }

    /// Removes what the check left.
    pub fn clean(&self) {
        self.buffer().accept(Slot::NONE);
        self.buffer().0.set(INBOX, 0);
        for slot in (self.first..self.next.get()).rev() {
            // Slots may be empty or hold what may not be destroyed: emptying them is enough.
            let _ = cap::destroy(Slot(slot));
            let _ = cap::delete(Slot(slot));
        }
        self.next.set(self.first);
        self.helpers.set(0);
        for i in 0..REGION {
            self.shared.set(i, 0);
        }
    }
}

/// The pool of slots of a check, which its helpers use as well.
fn shared_pool(env: &Env, common: Words) -> SlotPool {
    let mut free = env.slots();
    free.part(common.get(POOL_PLACE) as u32);
    let slots = common.get(POOL_PLACE + 1) as u32;
    SlotPool::over(free.part(slots), common.part(POOL, 1))
}

/// What a helper thread does.
pub type Work = fn(&Env, u64);

/// A helper thread, from inside.
pub struct Me {
    /// The slots that it was given.
    pub a: Slot,
    pub b: Slot,
    /// Its number.
    pub n: usize,
    /// Its words, and those of all.
    pub own: Words,
    pub common: Words,
}

impl Me {
    pub fn new(env: &Env, argument: u64) -> Me {
        let (shared, n) = (env.mem("shared"), (argument >> 32) as usize);
        Me {
            a: Slot(argument as u16 as u32),
            b: Slot((argument >> 16) as u16 as u32),
            n,
            own: shared.part(REGION * n, REGION),
            common: shared.part(0, REGION),
        }
    }

    /// The check's pool of slots.
    pub fn pool(&self, env: &Env) -> SlotPool {
        shared_pool(env, self.common)
    }

    /// Tells the suite how an operation came out.
    pub fn report(&self, outcome: Outcome) {
        self.own.set(1, outcome.status.0);
        self.own.set(2, outcome.badge);
        self.own.set(3, outcome.info.0);
        for (i, word) in outcome.words.into_iter().enumerate() {
            self.own.set(4 + i, word);
        }
        self.own.set(0, 1);
    }
}

/// Helper: receives once on `a`.
pub fn receive_once(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    me.report(ipc::exchange(Slot::NONE, me.a, Message::empty(0), Wait::NEVER));
}

/// Helper: sends its number to `a` once.
pub fn send_once(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let message = Message::short(me.n as u32, [me.n as u64]);
    me.report(ipc::exchange(me.a, Slot::NONE, message, Wait::NEVER));
}

/// Helper: calls `a` once.
pub fn call_once(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let message = Message::short(me.n as u32, [me.n as u64]);
    me.report(ipc::exchange(me.a, Slot::REPLY, message, Wait::NEVER));
}

/// Helper: receives on `a` and keeps what it got, for ever.
pub fn hold(env: &Env, argument: u64) {
    receive_once(env, argument);
}

/// Helper: answers on `a` with each word and the label one higher.
pub fn echo(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let buffer = env.buffer(me.n);
    ipc::serve(me.a, |message| {
        let length = message.info.words();
        for i in 4..length {
            buffer.0.set(i, buffer.0.get(i).wrapping_add(1));
        }
        let first = message.words.map(|word| word.wrapping_add(1));
        Message::long(message.info.label().wrapping_add(1), length, first)
    });
}

/// Between two counts of a helper, in units of time: in the simulation each count takes longer than
/// the work does.
const PACE: u64 = 200;

/// Helper: counts for ever, in its word 8.
pub fn count(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    loop {
        me.own.set(8, me.own.get(8) + 1);
        system::work(PACE);
    }
}
