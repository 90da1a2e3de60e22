//! Shows sums by train and by endpoint, and what a single one takes.

use super::sums::{Numbers, Sum, SumsClient};
use rt::arch::counter;
use rt::prelude::*;
use rt::train::Train;
use rt::{SlotPool, Wait, system};
use service::Capability;

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
