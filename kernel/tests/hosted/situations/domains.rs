//! Domains that are destroyed while their threads still run.

use crate::support::board::Board;
use crate::support::host::{Event, Host};
use crate::support::scene::{
    DOMAIN, FREE, INTERRUPT, NOTIFICATION, THREAD, boot, buffer, receive, system,
};
use abi::Error;
use abi::call::Call;
use kernel::access::Life;
use kernel::system::DirectLazy;

const LINE: Event = Event::Irq(3);

/// Thread 1 begins to destroy domain 2 and is preempted once thread 2 is gone; thread 3, of the
/// same domain, has not been reached and runs.
fn half_destroyed() -> Board<DirectLazy<Host>> {
    let board = boot(&[(1, 10), (2, 5), (2, 20)]);
    board.does(3, receive(NOTIFICATION));
    board.host.raise(LINE);
    board.call(system(Call::Destroy, &[DOMAIN + 1]));
    while board.machine.kernel.threads.get(2).is_some_and(|at| at.life() == Life::Live) {
        board.check();
        board.interrupts();
        assert_eq!(board.running(), Some(3), "the interrupt's handler runs");
        board.call(system(Call::InterruptAck, &[INTERRUPT]));
        board.host.raise(LINE);
        board.host.irqs[3].enabled.set(false);
        board.call(receive(NOTIFICATION));
        board.host.irqs[3].enabled.set(true);
        // Thread 1 issues its call again, one step.
        board.reissue();
    }
    board.interrupts();
    assert_eq!(board.running(), Some(3));
    board.check();
    board
}

#[test]
fn its_threads_make_no_threads_that_would_outlive_it() {
    let board = half_destroyed();
    board.call(system(Call::ThreadCreate, &[FREE, 0, 5, buffer(9), 0]));
    board.check();
    assert_eq!(board.regs.get().status().result(), Err(Error::WrongState));
    board.call(system(Call::ThreadResume, &[FREE]));
    board.does(3, receive(NOTIFICATION));
    board.sees(1, Ok(()));
    let threads = &board.machine.kernel.threads;
    let live = (0..threads.size()).filter(|at| threads.get(*at).unwrap().life() == Life::Live);
    assert_eq!(live.collect::<Vec<_>>(), [0, 1], "a thread outlives its domain");
    board.fails(1, system(Call::ThreadResume, &[THREAD + 2]), Error::Stale);
}
