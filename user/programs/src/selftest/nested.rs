//! Servers that call others while they serve: what a client brings, and what a callee answers with,
//! concerns no other call.

use super::bench::*;
use rt::prelude::*;
use rt::{OwnedSlot, SlotPool, guard, ipc};
use service::{CallError, Capability, service};

pub const CHECKS: Checks = &[
    ("a capability that nothing takes of an answer shuts no inbox", left),
    ("a callee cannot fill the inbox of a server", unasked),
    ("a client's capability is not in the way of a nested call", fetched),
    ("only a guarded access goes on behind its guard", landed),
];

/// A helper's word: why its server ended.
const ENDED: usize = 10;
/// What a call of the hub comes to if it fails with an error of the kernel.
const FAILED: u64 = 100;

/// What the hub calls.
#[service]
#[allow(dead_code, reason = "its server answers by hand")]
trait Back {
    /// A number.
    fn poll(&mut self) -> u64;
    /// Something, or nothing.
    fn maybe(&mut self) -> Option<Capability>;
    /// Something.
    fn give(&mut self) -> Capability;
}

/// How the hub asks whom it calls back.
const BARE: u8 = 0;
const MAYBE: u8 = 1;
const POLL: u8 = 2;

/// Calls others for its clients.
#[service]
trait Hub {
    /// Takes something.
    fn store(&mut self, item: Capability) -> bool;
    /// Takes whom to call back.
    fn subscribe(&mut self, callback: Capability) -> bool;
    /// Calls back.
    fn ask(&mut self, how: u8) -> bool;
    /// Fetches something from a server of its own; what that comes to.
    fn fetch(&mut self) -> u64;
}

struct Caller {
    env: Env,
    n: usize,
    pool: SlotPool,
    store: Slot,
    back: Option<OwnedSlot>,
}

impl Hub for Caller {
    fn store(&mut self, item: Capability) -> bool {
        item.into_slot().is_some()
    }

    fn subscribe(&mut self, callback: Capability) -> bool {
        self.back = callback.into_slot();
        self.back.is_some()
    }

    fn ask(&mut self, how: u8) -> bool {
        let Some(back) = self.back.as_ref() else { return false };
        let bare = BackClient::new(back.slot()).within(100.ms());
        match how {
            BARE => bare.poll().is_ok(),
            MAYBE => bare.accepting(self.pool, self.env.buffer(self.n)).maybe().is_ok(),
            _ => bare.accepting(self.pool, self.env.buffer(self.n)).poll().is_ok(),
        }
    }

    fn fetch(&mut self) -> u64 {
        let store = BackClient::new(self.store).within(100.ms());
        match store.accepting(self.pool, self.env.buffer(self.n)).give() {
            Ok(_) => 1,
            Err(CallError::Ipc(why)) => FAILED + why as u64,
            Err(_) => 2,
        }
    }
}

/// Helper: the hub on `a`, whose own server is on `b`.
fn hub(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let pool = me.pool(env);
    let mut hub = Caller { env: *env, n: me.n, pool, store: me.b, back: None };
    let server = Server::new(me.a).accepting(pool, env.buffer(me.n));
    me.own.set(ENDED, server.run(|request| hub.dispatch(request)) as u64);
}

/// Helper: answers all calls on `a` with a capability to `b`; those for `maybe` say that there is
/// none.
fn generous(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let buffer = env.buffer(me.n);
    let _ = Server::new(me.a).run(|request| {
        buffer.offer(me.b, Rights::ALL);
        let words = usize::from(request.label() != BackClient::GIVE);
        Message::long(service::DONE, words, [0; 4]).with_capability()
    });
}

/// The hub, with a generous server behind it, and something to send.
fn scene(bench: &Bench) -> Result<(HubClient, Slot, Slot), Why> {
    let pool = bench.pool(12);
    let (door, back, bell) = (bench.endpoint()?, bench.endpoint()?, bench.notification()?);
    bench.helper(HIGH, hub, door, back)?;
    bench.helper(HIGH + 1, generous, back, bell)?;
    let hub = HubClient::new(door).within(100.ms()).accepting(pool, bench.buffer());
    Ok((hub, back, bell))
}

fn called_back(bench: &Bench, ways: &[u8]) -> Check {
    let (hub, back, bell) = scene(bench)?;
    let stores = || hub.store(Capability::grant(bell, Rights::SEND)) == Ok(true);
    expect(stores(), "a client stores something")?;
    let callback = Capability::grant(back, Rights::SEND);
    expect(hub.subscribe(callback) == Ok(true), "another one wants to be called back")?;
    let taken = bench.shared_pool().taken();
    for _ in 0..3 {
        for how in ways {
            expect(hub.ask(*how).is_ok(), "which the hub does")?;
            expect(stores(), "and still takes what its clients store")?;
        }
    }
    expect(bench.shared_pool().taken() == taken, "no slot is lost")
}

fn left(bench: &Bench) -> Check {
    called_back(bench, &[MAYBE])
}

fn unasked(bench: &Bench) -> Check {
    called_back(bench, &[BARE, POLL])
}

fn fetched(bench: &Bench) -> Check {
    let (hub, _, bell) = scene(bench)?;
    for _ in 0..3 {
        expect(hub.fetch() == Ok(1), "the hub fetches something")?;
        bench.buffer().offer(bell, Rights::ALL);
        let request = Message::empty(HubClient::FETCH).with_capability();
        let answer = ipc::call_within(hub.slot(), request, Wait::within(100.ms()))?;
        expect(answer.registers() == [1], "also if its client has sent something along")?;
    }
    Ok(())
}

/// Helper: guards faults that come to `a`.
fn watch(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    guard::watch(env, me.a.word());
    me.own.set(ENDED, 1);
}

/// Helper: reads where nothing is mapped, without a guard.
fn mistake(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let _ = rt::arch::read(0x8_0000_0000, me.own.word(ENDED));
    me.own.set(ENDED + 1, 1);
}

/// The word of a message buffer that says where a guarded access goes on.
const RESUME: usize = 479;

fn landed(bench: &Bench) -> Check {
    let faults = bench.endpoint()?;
    let watcher = bench.helper(HIGH, watch, faults, Slot::NONE)?;
    // As in the middle of an access by the thread that the badge names: this one.
    bench.buffer().0.set(RESUME, 0x40_0000);
    let mistaken = bench.handled(LOW, faults, mistake, Slot::NONE, Slot::NONE)?;
    bench.settle();
    bench.buffer().0.set(RESUME, 0);
    expect(bench.words(mistaken).get(ENDED + 1) == 0, "another thread's mistake does not go on")?;
    expect(bench.words(watcher).get(ENDED) == 1, "and is told as one")
}
