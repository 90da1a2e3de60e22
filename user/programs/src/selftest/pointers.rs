//! The thread pointer belongs to a thread.

use super::bench::*;
use rt::abi::call::Fact;
use rt::thread::{self, Registers};
use rt::{Env, Message, Slot, arch, ipc, system};

pub const CHECKS: Checks =
    &[("threads keep their thread pointers", keep), ("thread pointers move along", moves)];

/// The word that a helper's thread pointer points to; it holds the helper's number.
const POINTED: usize = 10;
/// Where a helper counts how often its pointer was another's, and says that it is done.
const WRONG: usize = 9;
const DONE: usize = 8;
const HELPERS: usize = 3;

fn look(me: &Me) {
    me.own.add(WRONG, u64::from(arch::thread_word() != me.n as u64));
}

/// Helper: looks where its pointer points, after it let others run, and after it called `a`.
fn caller(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    for round in 0..100 {
        look(&me);
        let _ = thread::yield_now();
        look(&me);
        let answer = ipc::call(me.a, Message::short(0, [round]));
        me.own.add(WRONG, u64::from(answer.is_err()));
        system::work(200);
    }
    look(&me);
    me.own.set(DONE, 1);
}

/// Helper: looks where its pointer points before each answer on `a`.
fn server(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    ipc::serve(me.a, |_| {
        look(&me);
        Message::empty(0)
    });
}

/// A helper, not above the suite's own thread, with a thread pointer of its own.
fn pointed(bench: &Bench, work: Work, a: Slot) -> Result<Helper, Why> {
    let helper = bench.helper(LOW, work, a, Slot::NONE)?;
    thread::suspend(helper.slot)?;
    let number = bench.next_helper() as u64 - 1;
    let words = bench.words(helper);
    words.set(POINTED, number);
    let at = words.part(POINTED, 1).address();
    thread::set(helper.slot, Registers { thread: Some(at), ..Registers::default() })?;
    thread::resume(helper.slot)?;
    Ok(helper)
}

/// Callers and their server, and what is done until they are through.
fn check(bench: &Bench, during: impl Fn(Helper, u64) -> Check) -> Check {
    let e = bench.endpoint()?;
    let server = pointed(bench, server, e)?;
    let mut callers = [server; HELPERS];
    for helper in &mut callers {
        *helper = pointed(bench, caller, e)?;
    }
    let through = || callers.iter().all(|helper| bench.words(*helper).get(DONE) == 1);
    for round in 0..400 {
        if through() {
            break;
        }
        for helper in callers.into_iter().chain([server]) {
            during(helper, round)?;
        }
        system::sleep(MS / 10);
    }
    expect(through(), "every helper finishes")?;
    let wrong = callers.iter().chain([&server]).map(|helper| bench.words(*helper).get(WRONG));
    expect(wrong.sum::<u64>() == 0, "no helper meets another's pointer")
}

fn keep(bench: &Bench) -> Check {
    check(bench, |_, _| Ok(()))
}

fn moves(bench: &Bench) -> Check {
    let (count, _) = system::fact(Fact::Cpus)?;
    check(bench, |helper, round| {
        let to = (helper.slot.word() + round) % count;
        thread::migrate(helper.slot, to)?;
        Ok(())
    })
}
