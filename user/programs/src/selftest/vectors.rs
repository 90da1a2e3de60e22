//! Vector and floating-point registers belong to a thread.

use super::bench::*;
use super::partner;
use rt::{Env, Message, Slot};
use rt::{arch, cap, ipc, system, thread};

pub const CHECKS: Checks = &[
    ("threads keep their vector registers", keep),
    ("a new thread's vector registers are its own", fresh),
    ("messages do not carry vector registers", across),
    ("interrupts keep vector registers", interrupts),
];

pub const PATTERN: u64 = 0x1234_5678_9abc_def0;

/// Helper: fills its registers, lets others run, and looks, many times. Word 9 counts losses.
pub fn fill_and_look(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    for round in 0..50 {
        let pattern = (me.n as u64) << 48 | round << 8 | 0xff;
        arch::simd_write(pattern);
        let _ = thread::yield_now();
        me.own.add(9, u64::from(!arch::simd_matches(pattern).0));
    }
    me.own.set(8, 1);
}

fn keep(bench: &Bench) -> Check {
    let mut helpers = [None; 3];
    for helper in &mut helpers {
        *helper = Some(bench.helper(LOW, fill_and_look, Slot::NONE, Slot::NONE)?);
    }
    arch::simd_write(PATTERN);
    system::sleep(20 * MS);
    expect(arch::simd_matches(PATTERN).0, "the suite's own thread keeps its registers")?;
    for helper in helpers.into_iter().flatten() {
        let words = bench.words(helper);
        expect(words.get(8) == 1, "every helper finishes")?;
        expect(words.get(9) == 0, "no helper loses a register")?;
    }
    Ok(())
}

/// Helper: looks for the pattern in registers that it never filled.
fn look(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let (_, any) = arch::simd_matches(PATTERN);
    me.own.set(9, u64::from(any));
    me.own.set(8, 1);
}

/// Helper: leaves the pattern behind.
fn leave(env: &Env, argument: u64) {
    arch::simd_write(PATTERN);
    Me::new(env, argument).own.set(8, 1);
    system::sleep_until(u64::MAX);
}

fn fresh(bench: &Bench) -> Check {
    for _ in 0..3 {
        arch::simd_write(PATTERN);
        let dead = bench.helper(HIGH, leave, Slot::NONE, Slot::NONE)?;
        cap::destroy(dead.slot)?;
        let helper = bench.helper(HIGH, look, Slot::NONE, Slot::NONE)?;
        bench.settle();
        expect(bench.words(helper).get(8) == 1, "the helper looks")?;
        expect(bench.words(helper).get(9) == 0, "and finds nothing of anybody else's")?;
    }
    Ok(())
}

fn across(bench: &Bench) -> Check {
    let work = bench.env.cap("work");
    for i in 1..20 {
        let theirs = PATTERN ^ i << 20;
        arch::simd_write(PATTERN);
        ipc::call(work, Message::short(partner::FILL, [theirs]))?;
        expect(arch::simd_matches(PATTERN).0, "the caller keeps its registers")?;
        expect(!arch::simd_matches(theirs).1, "and sees none of the callee's")?;
        arch::simd_write(PATTERN);
    }
    Ok(())
}

/// Helper: fills its registers and wakes often, above the suite's own thread.
fn disturb(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    for i in 0..40 {
        arch::simd_write(!PATTERN ^ i << 10);
        system::sleep(50_000);
    }
    me.own.set(8, 1);
}

fn interrupts(bench: &Bench) -> Check {
    let helper = bench.helper(HIGH, disturb, Slot::NONE, Slot::NONE)?;
    let words = bench.words(helper);
    let end = system::clock() + 100 * MS;
    while words.get(8) == 0 && system::clock() < end {
        arch::simd_write(PATTERN);
        for _ in 0..100 {
            core::hint::spin_loop();
        }
        expect(arch::simd_matches(PATTERN).0, "an interrupted thread keeps its registers")?;
    }
    expect(words.get(8) == 1, "the helper finishes")
}
