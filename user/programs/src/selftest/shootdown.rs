//! TLB shootdown: what is taken away is gone on every CPU, also if the call that takes it away is
//! suspended halfway, or goes on from another CPU.

use super::bench::*;
use super::cpus::{cpus, other};
use rt::memory::{self, Range};
use rt::thread;
use rt::{Env, Rights, Slot, arch, cap, system};

pub const CHECKS: Checks = &[
    ("a mapping ends behind a change that was suspended", suspended),
    ("a mapping ends on a CPU where a change was not made", suspended_elsewhere),
    ("a mapping ends on two CPUs, a part on each", moves),
    ("two CPUs change the rights of one mapping", two_at_once),
];

/// Near other checks' pages, whose tables are there.
const PAGES_AT: u64 = 0x9_0010_0000;
/// Where the last of them is seen by the suite.
const VIEW_AT: u64 = 0x9_001f_0000;
/// Pages of a mapping that takes a while to undo.
const MANY: u64 = 200;
/// The words of a helper: where an access that is refused goes on, and the address to read.
const RESUME: usize = 20;
const ADDRESS: usize = 10;

const READ: Rights = Rights::READ;
const WRITE: Rights = Rights(Rights::READ.0 | Rights::WRITE.0);

/// Rounds of a check, each of which interrupts the helper at another instant.
const ROUNDS: u64 = 10;
/// Waits that a helper is given.
const TURNS: u32 = 50;

/// Helper: reads a word over and over, and leaves what it has read in its word 8.
fn watch(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let (address, resume) = (me.own.get(ADDRESS), me.own.word(RESUME));
    while let Some(value) = arch::read(address, resume) {
        me.own.set(8, value);
        system::work(100);
    }
}

/// Helper: changes the rights of the mapping `a` over and over, and counts in its word 8.
fn change(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    while memory::protect(me.a, READ).is_ok() && memory::protect(me.a, WRITE).is_ok() {
        me.own.add(8, 1);
    }
}

/// Helper: destroys `a`; its word 8 is 1 when that is done.
fn end(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    me.own.set(8, cap::destroy(me.a).is_ok().into());
}

/// A mapping whose last page a helper on another CPU reads.
struct Scene<'b> {
    bench: &'b Bench,
    mapping: Slot,
    reader: Helper,
}

impl Scene<'_> {
    fn new(bench: &Bench, pages: u64) -> Result<Scene<'_>, Why> {
        let (memory, view, mapping) = (bench.slot(), bench.slot(), bench.slot());
        memory::create(memory, pages)?;
        let all = Range { memory, first: 0, pages, address: PAGES_AT };
        memory::map(mapping, Slot::NONE, all, WRITE)?;
        let last = Range { memory, first: pages - 1, pages: 1, address: VIEW_AT };
        memory::map(view, Slot::NONE, last, WRITE)?;
        let handler = bench.endpoint()?;
        let reader = bench.handled(LOW, handler, watch, Slot::NONE, Slot::NONE)?;
        bench.words(reader).set(ADDRESS, PAGES_AT + (pages - 1) * rt::abi::PAGE);
        thread::migrate(reader.slot, other()?)?;
        let scene = Scene { bench, mapping, reader };
        scene.write(1)?;
        expect(scene.reads(1), "the reader reads")?;
        Ok(scene)
    }

    fn write(&self, value: u64) -> Check {
        let written = arch::write(VIEW_AT, value, self.bench.common().word(0));
        expect(written, "the suite writes")
    }

    /// Whether the reader reads this value before long.
    fn reads(&self, value: u64) -> bool {
        let words = self.bench.words(self.reader);
        self.until(|| words.get(8) == value)
    }

    fn until(&self, holds: impl Fn() -> bool) -> bool {
        (0..TURNS).any(|_| {
            self.bench.settle();
            holds()
        })
    }

    /// Has a helper here change the rights of the mapping over and over, and suspends it after a
    /// while.
    fn change_until(&self, after: u64) -> Check {
        let changer = self.bench.helper(LOW, change, self.mapping, Slot::NONE)?;
        let words = self.bench.words(changer);
        expect(self.until(|| words.get(8) > 0), "rights are changed")?;
        system::sleep(after);
        thread::suspend(changer.slot)?;
        self.bench.settle();
        Ok(())
    }

    /// Expects that the reader's page is gone, since the mapping is.
    fn is_gone(&self) -> Check {
        self.write(2)?;
        self.bench.settle();
        self.bench.settle();
        expect(self.bench.words(self.reader).get(8) == 1, "nothing is read that was unmapped")
    }
}

/// Rounds of a check that starts from a clean bench.
fn rounds(bench: &Bench, round: impl Fn(Scene, u64) -> Check, pages: u64) -> Check {
    for n in 0..ROUNDS {
        round(Scene::new(bench, pages)?, n)?;
        bench.clean();
    }
    Ok(())
}

fn suspended(bench: &Bench) -> Check {
    let round = |scene: Scene, n| {
        scene.change_until(MS + 1_300 * n)?;
        cap::destroy(scene.mapping)?;
        scene.is_gone()
    };
    rounds(bench, round, 1)
}

fn suspended_elsewhere(bench: &Bench) -> Check {
    let round = |scene: Scene, n| {
        scene.change_until(MS + 1_300 * n)?;
        let ender = bench.helper(HIGH, end, scene.mapping, Slot::NONE)?;
        // On one CPU it has run to its end.
        if cpus()?.0 > 1 {
            thread::migrate(ender.slot, other()?)?;
        }
        let ended = || bench.words(ender).get(8) == 1;
        expect(scene.until(ended), "the mapping ends")?;
        scene.is_gone()
    };
    rounds(bench, round, 1)
}

fn moves(bench: &Bench) -> Check {
    let round = |scene: Scene, n| {
        let ender = bench.helper(LOW + 5, end, scene.mapping, Slot::NONE)?;
        system::sleep(2_000 + 1_500 * n);
        thread::migrate(ender.slot, other()?)?;
        let ended = || bench.words(ender).get(8) == 1;
        expect(scene.until(ended), "the mapping ends")?;
        scene.is_gone()
    };
    rounds(bench, round, MANY)
}

fn two_at_once(bench: &Bench) -> Check {
    both_get_on(bench, 1)?;
    bench.clean();
    // On one CPU the calls are not made at once.
    if cpus()?.0 == 1 { Ok(()) } else { both_get_on(bench, MANY) }
}

fn both_get_on(bench: &Bench, pages: u64) -> Check {
    let scene = Scene::new(bench, pages)?;
    let here = bench.helper(LOW, change, scene.mapping, Slot::NONE)?;
    let there = bench.helper(LOW, change, scene.mapping, Slot::NONE)?;
    thread::migrate(there.slot, other()?)?;
    for helper in [here, there] {
        for _ in 0..3 {
            let before = bench.words(helper).get(8);
            let goes_on = || bench.words(helper).get(8) > before;
            expect(scene.until(goes_on), "each gets on")?;
        }
    }
    Ok(())
}
