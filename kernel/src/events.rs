//! How a port enters the core. Each function takes one event and returns the thread to run.

use crate::access::Ref;
use crate::cpu::timer::DeadlinesFirst;
use crate::cpu::{Cpu, NEAR};
use crate::entry::{Entry, Guards};
use crate::fault::Fault;
use crate::ipc::left::Found;
use crate::ipc::signal::Signalled;
use crate::kernel::Kernel;
use crate::manage::Done;
use crate::manage::futex::Follows;
use crate::object::deadlines::{Due, NEVER, TimerEntry};
use crate::object::thread::{State, flag};
use crate::object::{Notification, Thread, Timer};
use crate::port::{Context, Port};
use crate::sched::Scheduler;
use crate::system::System;
use abi::call::{Call, RESTARTED};
use abi::trace::{Event, entry as code, point};
use abi::{Error, Info, Rights, Status};
use locks::{Kind, LockPolicy};

const SIGNAL: u8 = Call::Signal as u8;
const YIELD: u8 = Call::Yield as u8;
const NULL: u8 = Call::Null as u8;
// Of the calls that are no messages these come first, so that one comparison finds all others.
const _: () = assert!(SIGNAL == 3 && YIELD == 4 && NULL == 5);

/// Deadlines that one timer interrupt serves.
const EXPIRIES: u32 = 8;

/// What a port enters with: the kernel and the CPU that it entered on.
pub struct Machine<P: Port> {
    /// Everything that is not per CPU.
    pub kernel: &'static Kernel<P>,
    /// The CPU.
    pub cpu: &'static Cpu<P>,
}

impl<P: Port> Clone for Machine<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Port> Copy for Machine<P> {}

/// The current thread made a system call other than IPC.
///
/// # Safety
/// As for [`Entry::enter`].
#[inline(always)]
pub unsafe fn system_call<S: System>(machine: Machine<S::Port>) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe {
        Entry::<S>::enter_as(machine.kernel, machine.cpu, kind_of_call::<S>(machine.cpu))
    };
    core.dispatch();
    core.leave()
}

/// Management looks at and changes everything; the other calls touch little.
#[inline(always)]
fn kind_of_call<S: System>(cpu: &Cpu<S::Port>) -> Kind {
    if Guards::<S>::EXCLUSIVE && !Guards::<S>::SPECULATIVE {
        return Kind::Writer;
    }
    // SAFETY: this CPU alone touches the registers of the thread that it runs.
    let (number, _) = unsafe { (*cpu.current.get().address()).context.call() };
    match Call::from_number(number) {
        Some(Call::Signal | Call::Yield | Call::Null) | None => Kind::Reader,
        Some(_) => Kind::Writer,
    }
}

/// The current thread made an IPC system call of this [`kind`](crate::ipc::kind).
///
/// # Safety
/// As for [`Entry::enter`].
#[inline(always)]
pub unsafe fn ipc<S: System, const KIND: u8>(machine: Machine<S::Port>) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter_as(machine.kernel, machine.cpu, Kind::Reader) };
    core.entered(u32::from(KIND));
    core.ipc::<KIND>();
    core.leave()
}

/// The fast path has left a message of the current thread, and found this; its port has saved what
/// [`ipc`] needs of the thread's context.
///
/// # Safety
/// As for [`Entry::enter`].
#[inline(always)]
pub unsafe fn go_on<S: System, F: Found<S::Port>>(
    machine: Machine<S::Port>,
    info: Info,
    found: F,
) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter_as(machine.kernel, machine.cpu, Kind::Reader) };
    core.entered(u32::from(F::KIND));
    found.go_on(&core, info);
    core.leave()
}

/// The current thread makes this call on a train; one without options.
///
/// # Safety
/// As for [`Entry::enter`].
#[inline(always)]
pub unsafe fn train<S: System, const CALL: u8>(machine: Machine<S::Port>) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter(machine.kernel, machine.cpu) };
    core.entered(u32::from(CALL));
    if S::Port::TRAINS {
        let me = core.cpu.current.get();
        core.manage().train_call(me, CALL);
    }
    core.leave()
}

/// The current thread has faulted.
///
/// # Safety
/// As for [`Entry::enter`]; the current thread is not the idle thread.
pub unsafe fn fault<S: System>(machine: Machine<S::Port>, fault: Fault) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter(machine.kernel, machine.cpu) };
    core.entered(code::FAULT);
    core.mark_full();
    core.fault(fault);
    core.leave()
}

/// A device has interrupted on `irq`, which the port masks until the handler is done.
///
/// # Safety
/// As for [`Entry::enter`].
pub unsafe fn interrupt<S: System>(machine: Machine<S::Port>, irq: u8) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter_as(machine.kernel, machine.cpu, Kind::Reader) };
    core.entered(code::IRQ_0 + u32::from(irq));
    core.interrupted();
    if let Ok((target, badge)) = core.hold_for_signal(|| core.target_of(irq).ok_or(())) {
        core.signal(target, badge.max(1), false);
    }
    core.leave_interrupt()
}

/// The timer has interrupted.
///
/// # Safety
/// As for [`Entry::enter`].
#[inline(always)]
pub unsafe fn timer<S: System>(machine: Machine<S::Port>) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter_as(machine.kernel, machine.cpu, Kind::Reader) };
    core.entered(code::TIMER);
    core.interrupted();
    core.cpu.timer_fired();
    if S::Port::SMP {
        core.do_early_requests();
    }
    let mut now = core.kernel.port.now();
    // What is less urgent than the thread that runs, or than what is served here, waits.
    let mut floor = core.urgency_to_serve();
    let deadlines = &core.cpu.deadlines;
    if S::Scheduler::TREE && core.cpu.deadlines_first.get() == DeadlinesFirst::Armed {
        core.cpu.deadlines_first.set(DeadlinesFirst::Tried);
    }
    core.upgrade_if(|| deadlines.is_due(now, floor));
    // What is left over, and a tick that is put off, interrupt again at once.
    let (mut served, mut put_off) = (false, false);
    for before in 0..EXPIRIES {
        let Some(due) = deadlines.most_urgent(now, floor) else {
            put_off = before > 0 && core.cpu.poll(point::EXPIRY);
            break;
        };
        served = true;
        let node = due.node();
        if S::Scheduler::TREE {
            core.cpu.late.set(node.at());
        }
        put_off = !core.expire(due, now - node.at());
        if S::Scheduler::TREE {
            core.cpu.late.set(NEVER);
        }
        if put_off {
            break;
        }
        floor = node.priority();
        if S::Scheduler::TREE {
            // The decision that was left to this interrupt may be left to the next one.
            core.cpu.deadlines_first.set(DeadlinesFirst::No);
        } else {
            floor = floor.max(core.cpu.next.get().priority.get());
        }
        put_off = core.cpu.poll(point::EXPIRY);
        if put_off || deadlines.first() > now.saturating_add(NEAR) {
            break;
        }
        // What has become due meanwhile need not interrupt.
        now = core.kernel.port.now();
    }
    // A thread that belongs to another CPU is left anyway.
    if !put_off && !core.is_elsewhere(core.cpu.current.get()) {
        S::Scheduler::expire(core.cpu, now);
    }
    core.cpu.timer_served(now, served);
    core.leave_interrupt()
}

/// The current thread was interrupted for nothing that concerns the core, and goes on.
///
/// # Safety
/// As for [`Entry::enter`].
pub unsafe fn spurious<S: System>(machine: Machine<S::Port>) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter_as(machine.kernel, machine.cpu, Kind::Reader) };
    core.entered(code::SPURIOUS);
    core.mark_full();
    core.leave_interrupt()
}

/// The console's queue is empty, which has interrupted on this IRQ. The current thread goes on.
///
/// # Safety
/// As for [`Entry::enter`].
pub unsafe fn console<S: System>(machine: Machine<S::Port>, irq: u8) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter(machine.kernel, machine.cpu) };
    core.entered(code::IRQ_0 + u32::from(irq));
    core.mark_full();
    core.kernel.console.drain(core.kernel.port, 1);
    core.leave_interrupt()
}

/// Another CPU has interrupted this one.
///
/// # Safety
/// As for [`Entry::enter`].
pub unsafe fn ipi<S: System>(machine: Machine<S::Port>) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter_as(machine.kernel, machine.cpu, Kind::Reader) };
    core.entered(code::IPI);
    core.interrupted();
    core.take_ipi();
    core.leave_interrupt()
}

/// Makes the first decision, when boot is done.
///
/// # Safety
/// As for [`Entry::enter`].
pub unsafe fn start<S: System>(machine: Machine<S::Port>) -> Ref<Thread<S::Port>> {
    // SAFETY: passed on to the caller.
    let core = unsafe { Entry::<S>::enter_as(machine.kernel, machine.cpu, Kind::Reader) };
    core.choose();
    core.leave()
}

impl<S: System> Entry<S> {
    /// The trace's first record of an entry.
    #[inline(always)]
    fn entered(&self, code: u32) {
        self.note(Event::Enter, self.cpu.current.get(), code, 0);
    }

    /// The notification that an IRQ signals, with the badge.
    #[inline(always)]
    fn target_of(&self, irq: u8) -> Option<(Ref<Notification<S::Port>>, u64)> {
        let handler = self.kernel.irqs.get(irq as usize)?.get()?;
        let interrupt = handler.get()?;
        Some((interrupt.target.get()?.get()?, interrupt.badge.get()))
    }

    /// An interrupt has come: what it wakes pays for it.
    #[inline(always)]
    fn interrupted(&self) {
        if S::Scheduler::TREE {
            self.cpu.begin_interrupt();
        }
        self.mark_full();
    }

    #[inline(always)]
    fn mark_full(&self) {
        let current = self.cpu.current.get();
        if current != self.cpu.idle {
            self.own(current).set(flag::FULL);
        }
    }

    #[inline(always)]
    fn leave_interrupt(self) -> Ref<Thread<S::Port>> {
        if S::Scheduler::TREE && !self.cpu.resched.get() {
            self.cpu.trees.settle_payer(self.cpu.number, || self.kernel.port.now());
        }
        // A decision that was asked for is made on the way out.
        if self.cpu.next.get() == self.cpu.idle && !self.cpu.resched.get() {
            match S::Scheduler::TREE {
                true => self.cpu.resched.set(true),
                false => drop(self.choose()),
            }
        }
        self.leave()
    }

    /// How urgent a deadline is at least that an interrupt serves: as what runs. Where a decision
    /// was left to that interrupt, the highest ready thread counts.
    #[inline(always)]
    fn urgency_to_serve(&self) -> i16 {
        let cpu = self.cpu;
        let running = match S::Scheduler::TREE {
            true => cpu.urgency_of_running(cpu.next.get()),
            false => cpu.next.get().priority.get(),
        };
        if !cpu.resched.get() {
            return running;
        }
        let highest = match S::Scheduler::TREE {
            true => cpu.highest_in_tree(),
            false => cpu.highest.get(),
        };
        // Others ask for decisions as well, which the thread that runs may win, but not one that
        // is left to deadlines as urgent as what is ready.
        let may_win = S::Port::SMP && cpu.deadlines_first.get() == DeadlinesFirst::No;
        if may_win { highest.max(running) } else { highest }
    }

    /// Serves what is due. False: an interrupt goes first, and it stays due.
    #[inline(always)]
    fn expire(&self, due: Due<S::Port>, late: u64) -> bool {
        let late = u32::try_from(late).unwrap_or(u32::MAX);
        let sleeper = due.node().sleeper();
        if let Some(TimerEntry::Timer(timer)) = sleeper {
            match self.fire(timer) {
                Signalled::Done => {}
                Signalled::EndedDeadline => {
                    self.cpu.note_event(Event::Expire, late, 0);
                    self.cpu.deadlines.remove(TimerEntry::Timer(timer));
                    return true;
                }
                Signalled::PutOff => return false,
            }
            self.cpu.note_event(Event::Expire, late, 0);
        }
        self.cpu.deadlines.take(due);
        if let Some(TimerEntry::Thread(thread)) = sleeper {
            self.note(Event::Expire, thread, late, 0);
            self.manage().time_out(thread);
        }
        true
    }

    /// A timer is due. It is taken from the deadlines behind its signal.
    #[inline(always)]
    fn fire(&self, timer: Ref<Timer<S::Port>>) -> Signalled {
        match timer.target.get().and_then(|weak| weak.get()) {
            Some(target) => self.signal(target, timer.badge.get().max(1), true),
            None => Signalled::Done,
        }
    }

    #[inline(always)]
    fn dispatch(&self) {
        let me = self.cpu.current.get();
        let (number, args) = self.own(me).context.call();
        self.entered(number as u8 as u32);
        if number as u8 > NULL {
            return match Call::of_management(number) {
                Some(call) => self.manage_call(me, call),
                None => self.futex_call(),
            };
        }
        let result = match number as u8 {
            SIGNAL => self.signal_slot(args[0] as u32),
            YIELD => self.yield_to(args[0] as u32),
            _ => Ok(()),
        };
        let failed = |error| {
            self.note(Event::Fail, me, error as u32, 0);
            Status::failed(error)
        };
        self.own(me).finish(result.map_or_else(failed, |()| Status::OK));
    }

    /// Gives up the CPU, to equals or to one thread for the rest of the tick (S0-29).
    fn yield_to(&self, slot: u32) -> Result<(), Error> {
        let me = self.cpu.current.get();
        if slot == 0 {
            S::Scheduler::yield_now(self.cpu, me);
            return Ok(());
        }
        // Which thread a CPU runs is certain while no other CPU is inside.
        self.upgrade_if(|| true);
        let domain = me.domain.get();
        let to = domain.named::<Thread<S::Port>>(slot, Rights::CONTROL)?.at;
        if to == me {
            return Ok(());
        }
        if !to.runnable() {
            return Err(Error::WrongState);
        }
        // One that was moved here may still run where it was.
        let runs = S::Port::SMP && self.manage().runs_on(to).is_some();
        if runs || self.is_elsewhere(to) {
            S::Scheduler::yield_now(self.cpu, me);
            return Ok(());
        }
        // Also against a strict order: that is what the call is for.
        S::Scheduler::yield_to(self.cpu, me, to);
        self.donated(me, to);
        Ok(())
    }

    /// The current thread makes a call on futexes or trains, or one that does not exist.
    #[inline(never)]
    fn futex_call(&self) {
        let me = self.cpu.current.get();
        let context = &self.own(me).context;
        let call = Call::from_number(context.call().0);
        match call.filter(|_| S::Port::FUTEXES || S::Port::TRAINS) {
            Some(call) if call as u8 >= Call::TrainCreate as u8 && S::Port::TRAINS => {
                self.manage().train_call_slowly(me, call as u8);
            }
            Some(call) if S::Port::FUTEXES => self.follow(me, self.manage().futex_call(me, call)),
            _ => {
                self.cpu.note(Event::Fail, me, Error::UnknownCall as u32, 0);
                context.set_results(Status::failed(Error::UnknownCall), 0, Info(0));
            }
        }
    }

    /// Raises what follows from a futex call of the candidate `me`. Where a tree orders threads, or
    /// one may belong to another CPU, that is an event of management.
    #[inline(always)]
    fn follow(&self, me: Ref<Thread<S::Port>>, follows: Follows<S::Port>) {
        let apart = S::Scheduler::TREE || S::Port::SMP;
        match follows {
            Follows::Nothing => {}
            Follows::Block if apart => self.manage().block(me),
            Follows::Block => self.block(me, State::Waiting),
            Follows::Wake(thread) if apart => self.manage().make_ready(thread),
            Follows::Wake(thread) => self.wake_slowly(thread),
        }
    }

    #[inline(never)]
    fn manage_call(&self, me: Ref<Thread<S::Port>>, call: Call) {
        let thread = self.own(me);
        let context = &thread.context;
        let (number, args) = context.call();
        let done = self.manage().call(me, call, &args);
        match done {
            Ok(Done::Nothing) => context.set_results(Status::OK, 0, Info(0)),
            Ok(Done::Values(first, second)) => {
                context.set_results(Status::OK, first, Info(second));
            }
            Ok(Done::Words(first, second, words)) => {
                context.set_words(words);
                context.set_results(Status::OK, first, Info(second));
            }
            // The arguments lie in the context still: nothing is to be written.
            Ok(Done::Preempted) => thread.issue_again(number | RESTARTED, context.call().1),
            Ok(Done::Rest(call, argument)) => {
                thread.issue_again(call as u64 | RESTARTED, [argument, 0, 0, 0, 0, 0]);
            }
            Err(error) => {
                // Not of a path with or without trace points: there is one copy of this.
                self.cpu.note(Event::Fail, me, error as u32, 0);
                context.set_results(Status::failed(error), 0, Info(0));
            }
        }
    }
}
