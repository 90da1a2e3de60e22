//! Who lies in the ready queue: what the kernels do differently without showing it.

use super::runner::{Told, boot_all, keep_unique, threads, with_kernel};
use crate::support::board::{Board, body};
use crate::support::context::Regs;
use crate::support::effort::{INTERPRETED, seeds, steps};
use crate::support::host::Host;
use crate::support::programs::{MANAGE, TALK};
use crate::support::rng::Rng;
use crate::support::scene::{
    self, ENDPOINT, NOTIFICATION, THREAD, call, receive, reply_wait, send, system,
};
use crate::support::town::Plan;
use abi::Info;
use abi::call::Call;
use kernel::system::System;
use std::collections::BTreeSet;

const MESSAGE: Info = Info::new(0, 0);
/// All kernels.
pub const NINE: [&str; 9] = [
    "fastpath",
    "slowpath",
    "direct-lazy",
    "direct-eager",
    "strict-lazy",
    "strict-eager",
    "ipc-scan",
    "ipc-ordered",
    "ipc-heap",
];

/// Whether a thread that runs and is queued still is after it did this. Thread 2 waits on the
/// first endpoint and thread 3 has called the one that acts; thread 4 is ready, above all of them,
/// so that no look-up gets to the threads below.
fn stays<S: System<Port = Host>>(regs: Regs) -> bool {
    let board: Board<S> = scene::boot(&[(1, 10), (1, 20), (1, 30), (1, 40)]);
    board.does(4, receive(NOTIFICATION));
    board.does(3, call(ENDPOINT + 1, MESSAGE));
    board.does(2, receive(ENDPOINT));
    board.succeeds(1, receive(ENDPOINT + 1));
    board.does(1, system(Call::Signal, &[NOTIFICATION]));
    board.does(4, system(Call::Yield, &[THREAD + 1]));
    board.sees(1, Ok(()));
    assert!(board.thread(1).queued(), "{}", S::NAME);
    board.call(regs);
    assert_ne!(board.running(), Some(1), "{}", S::NAME);
    board.thread(1).queued()
}

#[test]
fn what_a_thread_that_stops_running_leaves_in_the_queue() {
    let eager = ["direct-eager", "strict-eager"];
    let by_hand = ["fastpath", "slowpath"];
    for name in NINE {
        let stays = |regs| with_kernel!(name, Kernel => stays::<Kernel>(regs));
        let lazy = !eager.contains(&name);
        // S0-17: the slow path takes a receiver out, unless it waits for the reply to its call.
        // The fast path does not, and what it takes is not the slow path's.
        let receivers = lazy && !by_hand.contains(&name);
        let fast = receivers || name == "fastpath";
        let halted = by_hand.contains(&name);
        for (operation, regs, expected) in [
            ("receive", receive(ENDPOINT + 2), receivers),
            ("send, receive", scene::send_receive(ENDPOINT, ENDPOINT + 2, MESSAGE), fast),
            ("reply, wait", reply_wait(ENDPOINT + 2, MESSAGE), fast),
            ("call", call(ENDPOINT, MESSAGE), lazy),
            ("call without receiver", call(ENDPOINT + 2, MESSAGE), lazy),
            ("send without receiver", send(ENDPOINT + 2, MESSAGE), lazy),
            ("stop", system(Call::ThreadSuspend, &[THREAD + 1]), halted),
        ] {
            assert_eq!(stays(regs), expected, "{name}, {operation}");
        }
    }
}

/// Eager queues hold exactly the threads that can run (S0-23); lazy ones at least those that
/// can and do not (S0-10, S0-11), and more now and then.
#[test]
fn eager_queues_are_exact_and_lazy_ones_are_not() {
    let mut superfluous = [0; NINE.len()];
    for seed in seeds(0x8700_0000..0x8700_0003) {
        let told = Told::new(seed);
        let rng = Rng::new(seed);
        let plan = Plan { unique: seed.is_multiple_of(2), handlers: true, seed };
        let mix = [TALK, MANAGE][seed as usize % 2];
        for (runner, superfluous) in boot_all(&NINE, &plan, 3).iter().zip(&mut superfluous) {
            for at in 0..steps(600) {
                told.action.set(at);
                let action = keep_unique(runner.machine(), runner.choose(&rng, &mix));
                runner.act(&action);
                let machine = runner.machine();
                let mut queued = BTreeSet::new();
                machine.cpu.ready.each(|_, at| _ = queued.insert(at.index()));
                let runnable: BTreeSet<u32> = threads(machine)
                    .filter(|(at, _)| body(*at).runnable())
                    .map(|(_, index)| index)
                    .collect();
                let missing: Vec<_> = runnable.difference(&queued).copied().collect();
                assert!(missing.iter().all(|thread| Some(*thread) == runner.running()));
                if runner.name().ends_with("eager") {
                    assert!(missing.is_empty(), "{} has not queued {missing:?}", runner.name());
                }
                *superfluous += queued.difference(&runnable).count();
            }
        }
    }
    for (name, superfluous) in NINE.iter().zip(superfluous) {
        let eager = name.ends_with("eager");
        assert!(INTERPRETED || (superfluous == 0) == eager, "{name}: {superfluous} too many");
    }
}
