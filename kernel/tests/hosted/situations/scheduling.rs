//! Who runs: S0-08's table, donation, round robin, preemption.

use crate::support::archive::{SLICE, TICK};
use crate::support::board::{Board, whole};
use crate::support::context::Regs;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    ENDPOINT, FREE, INTERRUPT, NOTIFICATION, THREAD, TIMER, boot, call, receive, reply_wait, send,
    send_receive, system,
};
use abi::call::Call;
use abi::{Error, Info};
use kernel::object::thread::flag;
use kernel::port::Port;
use kernel::system::{
    DirectEager, DirectLazy, Fastpath, Slowpath, StrictEager, StrictLazy, System,
};

const MESSAGE: Info = Info::new(0, 0);

/// Who runs after A (thread 1) did this, with B (thread 2) waiting on the first endpoint and C
/// (thread 3) sending to the second. Thread 4 is ready all the time, above all of them.
fn next<S: System<Port = Host>>(a: u8, b: u8, c: u8, operation: Regs) -> Option<u32> {
    let board: Board<S> = boot(&[(1, 100), (1, 110), (1, 120), (1, 130)]);
    let priority =
        |who: u64, priority: u8| system(Call::ThreadPriority, &[THREAD + who, priority.into()]);
    board.does(4, receive(NOTIFICATION));
    board.does(3, send(ENDPOINT + 1, MESSAGE));
    board.does(2, receive(ENDPOINT));
    for (who, level) in [(2, b), (3, c), (1, a)] {
        board.succeeds(1, priority(who, level));
    }
    board.call(operation);
    board.check();
    board.running()
}

#[test]
fn the_table_of_direct_switching() {
    fn table<S: System<Port = Host>>() {
        let both = send_receive(ENDPOINT, ENDPOINT + 1, MESSAGE);
        let empty = send_receive(ENDPOINT, ENDPOINT + 2, MESSAGE);
        for (operation, a, b, c, expected) in [
            (send(ENDPOINT, MESSAGE), 20, 10, 0, 1),
            (send(ENDPOINT, MESSAGE), 20, 30, 0, 2),
            (send(ENDPOINT, MESSAGE), 20, 20, 0, 1),
            (call(ENDPOINT, MESSAGE), 20, 10, 0, 2),
            (call(ENDPOINT, MESSAGE), 20, 30, 0, 2),
            (receive(ENDPOINT + 1), 20, 0, 10, 1),
            (receive(ENDPOINT + 1), 20, 0, 30, 3),
            (receive(ENDPOINT + 1), 20, 0, 20, 1),
            (both, 20, 10, 15, 3),
            (both, 20, 15, 10, 2),
            (both, 20, 10, 10, 2),
            (both, 10, 20, 30, 3),
            (empty, 20, 10, 30, 2),
            (empty, 20, 30, 10, 2),
        ] {
            let next = next::<S>(a, b, c, operation);
            assert_eq!(next, Some(expected), "{operation:?}, A {a}, B {b}, C {c}");
        }
    }
    table::<DirectLazy<Host>>();
    table::<Fastpath<Host>>();
}

fn donation<S: System<Port = Host>>() {
    let board: Board<S> = boot(&[(1, 10), (1, 20), (1, 30)]);
    board.does(3, system(Call::ThreadSuspend, &[THREAD + 2]));
    board.does(3, receive(NOTIFICATION));
    board.does(1, receive(ENDPOINT));
    board.host.raise(Event::Irq(3));
    board.settle();
    board.does(3, system(Call::ThreadResume, &[THREAD + 2]));
    board.succeeds(3, system(Call::Null, &[]));
    // High calls low while medium is ready: low runs, to the end of the tick and no longer.
    board.does(3, call(ENDPOINT, MESSAGE));
    board.sees(1, Ok(()));
    let left = TICK - board.host.now() % TICK;
    board.wait(left - 1);
    assert_eq!(board.running(), Some(1));
    board.wait(1);
    assert_eq!(board.running(), Some(2));
}

#[test]
fn a_donation_lasts_to_the_end_of_the_tick() {
    donation::<DirectLazy<Host>>();
    donation::<Fastpath<Host>>();
}

#[test]
fn switching_to_a_thread_lasts_to_the_end_of_the_tick() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 30)]);
    board.fails(2, system(Call::Yield, &[NOTIFICATION]), Error::WrongKind);
    board.does(2, system(Call::Yield, &[THREAD + 1]));
    assert_eq!(board.running(), Some(1));
    board.wait(TICK - 1);
    assert_eq!(board.running(), Some(1));
    board.wait(1);
    board.sees(2, Ok(()));
    board.succeeds(2, system(Call::ThreadSuspend, &[THREAD + 1]));
    board.fails(2, system(Call::Yield, &[THREAD + 1]), Error::WrongState);
}

#[test]
fn equals_share_the_time() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 10), (1, 10), (1, 5)]);
    let mut ran = [0_u64; 5];
    let mut last = board.running();
    let mut turns = Vec::new();
    for _ in 0..60 * SLICE {
        ran[board.running().expect("somebody runs") as usize] += 1;
        board.wait(TICK);
        if board.running() != last {
            last = board.running();
            turns.push(last);
        }
    }
    let expected = 20 * SLICE;
    assert!(ran[1..4].iter().all(|ticks| ticks.abs_diff(expected) <= SLICE), "{ran:?}");
    assert_eq!(ran[4], 0);
    // In turn.
    assert!(turns.windows(4).all(|four| four[0] == four[3] && four[0] != four[1]));
}

/// A higher thread preempts one of three equals, several times in a slice.
fn preemption_keeps_the_turn<S: System<Port = Host>>() {
    let board: Board<S> = boot(&[(1, 10), (1, 10), (1, 10), (1, 20)]);
    board.does(4, receive(NOTIFICATION));
    let mut turns = Vec::new();
    for _ in 0..6 {
        let who = board.running().expect("one of the equals");
        for _ in 1..SLICE {
            let soon = board.host.now() + TICK / 4;
            board.succeeds(who, system(Call::TimerSet, &[TIMER, soon]));
            board.wait(TICK / 4);
            board.sees(4, Ok(()));
            board.does(4, receive(NOTIFICATION));
            assert_eq!(board.running(), Some(who), "the preempted thread goes on");
            board.wait(TICK - TICK / 4);
            assert_eq!(board.running(), Some(who), "its slice is not used up");
        }
        board.wait(TICK);
        turns.push(who);
    }
    assert_eq!(turns[..3], turns[3..], "the equals take turns");
    turns.sort();
    assert_eq!(turns, [1, 1, 2, 2, 3, 3]);
}

#[test]
fn a_preempted_thread_goes_on_before_its_equals() {
    preemption_keeps_the_turn::<Fastpath<Host>>();
    preemption_keeps_the_turn::<Slowpath<Host>>();
    preemption_keeps_the_turn::<DirectLazy<Host>>();
    preemption_keeps_the_turn::<DirectEager<Host>>();
    preemption_keeps_the_turn::<StrictLazy<Host>>();
    preemption_keeps_the_turn::<StrictEager<Host>>();
}

/// A timer wakes a higher thread with the very interrupt that ends each tick.
fn a_slice_ends_behind_a_higher_thread<S: System<Port = Host>>() {
    let board: Board<S> = boot(&[(1, 10), (1, 10), (1, 20)]);
    board.does(3, receive(NOTIFICATION));
    let mut ticks = [0; 3];
    for _ in 0..6 * SLICE {
        let who = board.running().expect("one of the equals");
        ticks[who as usize] += 1;
        let soon = (board.host.now() / TICK + 1) * TICK;
        board.succeeds(who, system(Call::TimerSet, &[TIMER, soon]));
        board.wait(soon - board.host.now());
        board.sees(3, Ok(()));
        board.does(3, receive(NOTIFICATION));
    }
    assert_eq!(ticks, [0, 3 * SLICE, 3 * SLICE]);
}

#[test]
fn a_slice_ends_though_a_higher_thread_wakes_then() {
    a_slice_ends_behind_a_higher_thread::<Fastpath<Host>>();
    a_slice_ends_behind_a_higher_thread::<Slowpath<Host>>();
    a_slice_ends_behind_a_higher_thread::<DirectLazy<Host>>();
    a_slice_ends_behind_a_higher_thread::<DirectEager<Host>>();
    a_slice_ends_behind_a_higher_thread::<StrictLazy<Host>>();
    a_slice_ends_behind_a_higher_thread::<StrictEager<Host>>();
}

/// A thread makes another one before its slice ends, and gives it the CPU by name.
fn successors_share_a_slice<S: System<Port = Host>>() {
    const RIVAL: u32 = 2;
    let board: Board<S> = boot(&[(1, 10), (2, 10)]);
    assert_eq!(board.running(), Some(1));
    let mut ticks = 0;
    for (own, next) in [(THREAD + 1, FREE), (FREE, FREE + 1), (FREE + 1, FREE + 2)] {
        for _ in 1..SLICE {
            board.wait(TICK);
            ticks += 1;
            if board.running() == Some(RIVAL) {
                return assert_eq!(ticks, SLICE, "the slice of the first thread");
            }
        }
        let me = board.running().expect("a thread of the first domain");
        board.succeeds(me, system(Call::ThreadCreate, &[next, 0, 10, 0, 0]));
        board.succeeds(me, system(Call::ThreadResume, &[next]));
        board.does(me, system(Call::Yield, &[next]));
        let successor = board.running().expect("the thread that was named");
        assert_ne!(successor, RIVAL, "the thread that was named runs");
        board.succeeds(successor, system(Call::Destroy, &[own]));
    }
    panic!("{ticks} ticks, and the rival has not run");
}

#[test]
fn switching_to_a_thread_renews_no_slice() {
    successors_share_a_slice::<Fastpath<Host>>();
    successors_share_a_slice::<DirectLazy<Host>>();
    successors_share_a_slice::<DirectEager<Host>>();
    successors_share_a_slice::<StrictEager<Host>>();
}

/// Thread 3 runs before its equal, thread 2, and above them stand threads in the ready queue that
/// cannot run: more than a look-up removes before it polls.
fn before_a_long_look_up() -> Board<DirectLazy<Host>> {
    let mut threads: Vec<(u32, u8)> = vec![(1, 200), (1, 50), (1, 210)];
    threads.extend((0..20).map(|_| (1, 100)));
    let board: Board<DirectLazy<Host>> = boot(&threads);
    board.does(3, receive(ENDPOINT + 1));
    board.succeeds(1, system(Call::ThreadPriority, &[THREAD + 3, 50]));
    (4..24).for_each(|who| board.thread(who).set(flag::SUSPENDED));
    board.does(1, call(ENDPOINT + 1, MESSAGE));
    board.sees(3, Ok(()));
    assert!((4..24).all(|who| board.thread(who).queued()));
    board
}

#[test]
fn a_slice_ends_though_an_interrupt_cuts_the_look_up_short() {
    let board = before_a_long_look_up();
    board.thread(3).slice.set(&whole(), 1);
    board.host.advance(TICK);
    board.host.raise(Event::Spurious);
    board.settle();
    board.check();
    assert_eq!(board.running(), Some(2));
}

#[test]
fn a_thread_makes_room_though_an_interrupt_cuts_the_look_up_short() {
    let board = before_a_long_look_up();
    board.host.raise(Event::Spurious);
    board.call(system(Call::Yield, &[0]));
    board.settle();
    board.check();
    assert_eq!(board.running(), Some(2));
}

/// A decision is left to an interrupt that waits, and no further: however many interrupts follow
/// one another, the higher thread runs behind the first.
#[test]
fn a_decision_is_put_off_once() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 200)]);
    board.call(system(Call::ThreadSuspend, &[THREAD + 2]));
    assert_eq!(board.running(), Some(1));
    board.host.raise(Event::Irq(3));
    board.host.raise(Event::Spurious);
    board.call(system(Call::ThreadResume, &[THREAD + 2]));
    assert_eq!(board.running(), Some(1), "the interrupt goes first");
    board.take(Event::Irq(3));
    assert!(board.host.waiting().is_some());
    assert_eq!(board.running(), Some(2));
}

#[test]
fn yielding_goes_round_the_equals() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 10), (1, 10), (1, 5)]);
    let mut order = Vec::new();
    for _ in 0..6 {
        order.push(board.running().unwrap());
        board.call(system(Call::Yield, &[0]));
        board.check();
    }
    assert_eq!(order[..3], order[3..]);
    assert_eq!(order.iter().filter(|who| **who == 4).count(), 0);
    order.sort();
    assert_eq!(order, [1, 1, 2, 2, 3, 3]);
}

#[test]
fn the_first_in_priority_is_never_kept_waiting_by_a_resume() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 20)]);
    board.does(2, system(Call::ThreadSuspend, &[THREAD + 2]));
    board.does(1, system(Call::ThreadResume, &[THREAD + 2]));
    board.sees(2, Ok(()));
    board.does(2, system(Call::ThreadPriority, &[THREAD + 2, 5]));
    assert_eq!(board.running(), Some(1));
    board.does(1, system(Call::ThreadPriority, &[THREAD + 2, 11]));
    board.sees(2, Ok(()));
    board.fails(2, system(Call::ThreadPriority, &[THREAD + 2, 256]), Error::InvalidArgument);
}

/// A stopped thread leaves the ready queue at once (S0-22), wherever it stands.
#[test]
fn a_stopped_thread_is_not_queued() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10), (1, 20), (1, 15)]);
    for (who, other) in [(1, 3), (3, 1)] {
        assert!(board.thread(who).queued());
        board.succeeds(2, system(Call::ThreadSuspend, &[THREAD + u64::from(who)]));
        assert!(!board.thread(who).queued() && board.thread(other).queued());
        board.succeeds(2, system(Call::ThreadResume, &[THREAD + u64::from(who)]));
        assert!(board.thread(who).queued());
    }
}

/// Threads that cannot run stay in the ready queue until a look-up meets them all. An interrupt
/// cuts that short, and its handler runs without waiting for the rest.
#[test]
fn an_interrupt_cuts_a_look_up_short() {
    const BLOCKED: u32 = 50;
    /// Removals that a program can make an interrupt wait for.
    const STEPS: u32 = 32;
    let mut threads: Vec<(u32, u8)> = vec![(1, 10), (1, 200)];
    threads.extend((0..BLOCKED).map(|_| (1, 100)));
    let board: Board<DirectLazy<Host>> = boot(&threads);
    let queued = || {
        let mut count = 0;
        board.machine.cpu.ready.each(|_, thread| count += u32::from(thread.index() > 2));
        count
    };
    (3..3 + BLOCKED).for_each(|who| board.thread(who).set(flag::SUSPENDED));
    board.check();
    assert_eq!(queued(), BLOCKED);
    board.host.raise(Event::Irq(3));
    board.call(receive(NOTIFICATION));
    board.check();
    assert_eq!(board.running(), None, "the look-up is left for the interrupt");
    assert!(queued() >= BLOCKED - STEPS, "{} are left", queued());
    board.interrupts();
    board.sees(2, Ok(()));
    board.does(2, receive(NOTIFICATION));
    assert_eq!((board.running(), queued()), (Some(1), 0));
}

/// As above, at the end of a donation: the decision that an interrupt cuts short is made as
/// soon as that interrupt is served, not at the next tick.
#[test]
fn a_donation_ends_though_an_interrupt_cuts_the_look_up_short() {
    const BLOCKED: u32 = 20;
    const MEDIUM: u32 = 2;
    const SERVER: u32 = 3;
    let mut threads: Vec<(u32, u8)> = vec![(1, 200), (1, 50), (1, 210)];
    threads.extend((0..BLOCKED).map(|_| (1, 100)));
    let board: Board<DirectLazy<Host>> = boot(&threads);
    board.does(SERVER, receive(ENDPOINT + 1));
    board.succeeds(1, system(Call::ThreadPriority, &[THREAD + u64::from(SERVER), 10]));
    board.does(1, receive(NOTIFICATION));
    for _ in 1..BLOCKED {
        board.call(receive(ENDPOINT));
    }
    // The last one calls, so that no decision looks at the queue.
    board.call(call(ENDPOINT + 1, MESSAGE));
    board.check();
    board.sees(SERVER, Ok(()));
    board.host.advance(TICK);
    board.host.raise(Event::Spurious);
    board.settle();
    assert_eq!(board.running(), Some(MEDIUM));
}

#[test]
fn interrupts_and_timers_are_signals() {
    let board: Board<Fastpath<Host>> = boot(&[(1, 10), (1, 20)]);
    board.does(2, receive(NOTIFICATION));
    board.host.raise(Event::Irq(3));
    board.settle();
    board.sees(2, Ok(()));
    assert_eq!(board.regs.get().badge(), 16);
    // Guard back until it is acknowledged.
    board.host.raise(Event::Irq(3));
    assert_eq!(board.host.waiting(), None);
    board.succeeds(2, system(Call::InterruptAck, &[INTERRUPT]));
    board.succeeds(2, receive(NOTIFICATION));
    assert_eq!(board.regs.get().badge(), 16);
    // The earlier instant is replaced.
    board.succeeds(2, system(Call::TimerSet, &[TIMER, 100]));
    board.succeeds(2, system(Call::TimerSet, &[TIMER, 500]));
    board.does(2, receive(NOTIFICATION));
    board.wait(499);
    assert_eq!(board.running(), Some(1));
    board.wait(1);
    board.sees(2, Ok(()));
    assert_eq!(board.regs.get().badge(), 8);
    board.succeeds(2, system(Call::TimerSet, &[TIMER, 900]));
    board.succeeds(2, system(Call::TimerSet, &[TIMER, 0]));
    board.does(2, receive(NOTIFICATION));
    board.wait(100 * TICK);
    assert_eq!(board.running(), Some(1));
}

#[test]
fn an_idle_cpu_has_no_tick() {
    let board: Board<Fastpath<Host>> = boot(&[(1, 10), (1, 20)]);
    board.does(2, receive(ENDPOINT));
    board.does(1, call(ENDPOINT, MESSAGE));
    board.does(2, reply_wait(ENDPOINT, MESSAGE));
    board.wait(20 * TICK);
    // Thread 1 alone runs: no timer is programmed.
    assert_eq!((board.running(), board.host.armed()), (Some(1), None));
    board.does(1, receive(NOTIFICATION));
    assert_eq!((board.running(), board.host.armed()), (None, None));
}
