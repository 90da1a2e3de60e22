//! The slow path of the thesis: direct switching over lazy queueing, written by hand against the
//! ready queue. The schedulers made of choices are measured against it (S0-C01), and it has two
//! peculiarities: a thread that blocks in a receive which is not the second half of a call leaves
//! the queue at once (S0-17), and a stopped one does not (S0-C10).

use super::scheduler::Scheduler;
use crate::access::Ref;
use crate::cpu::Cpu;
use crate::cpu::notes::Notes;
use crate::object::Thread;
use crate::object::thread::State;
use crate::port::Port;

/// Decisions made directly on the ready queue.
pub struct SlowPath;

impl Scheduler for SlowPath {
    const EAGER: bool = false;
    const LAZY_HALT: bool = true;

    #[inline(always)]
    fn wake<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>) {
        let candidate = cpu.next.get();
        if thread.priority.get() > candidate.priority.get() {
            cpu.push_first::<N>(candidate);
            cpu.next.set(thread);
        } else {
            cpu.push::<N>(thread);
        }
    }

    #[inline(always)]
    fn hand_over<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>) {
        cpu.enqueue_at(cpu.next.get(), true);
        cpu.next.set(to);
    }

    #[inline(always)]
    fn call<P: Port, N: Notes>(cpu: &Cpu<P>, callee: Ref<Thread<P>>, _caller: Ref<Thread<P>>) {
        cpu.next.set(callee);
    }

    #[inline(always)]
    fn reply_wait<P: Port, N: Notes>(cpu: &Cpu<P>, to: Ref<Thread<P>>, server: Ref<Thread<P>>) {
        cpu.remove::<N>(server);
        cpu.next.set(to);
    }

    #[inline(always)]
    fn block<P: Port, N: Notes>(cpu: &Cpu<P>, thread: Ref<Thread<P>>, state: State) {
        if state == State::Receiving {
            cpu.remove::<N>(thread);
        }
        cpu.reschedule();
    }
}
