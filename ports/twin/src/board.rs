//! Entering the kernel, event by event, as a port's entry code does.

use crate::context::{Context, Regs, Trap};
use crate::costs::EntryCost;
use crate::cpus;
use crate::fiber::Fibers;
use crate::hardware::{CONSOLE_LINE, Event};
use crate::locking::Locking;
use crate::meter;
use crate::order::NEVER;
use crate::paging::walk;
use crate::port::Twin;
use crate::processor::Stance;
use crate::run::{End, Options, ended_by, lengthen};
use crate::signals::Refusal;
use crate::standing;
use abi::call::{Call, NOTHING};
use abi::message::FaultKind;
use abi::trace;
use abi::{Info, PAGE, Rights};
use kernel::access::Ref;
use kernel::arena::Arena;
use kernel::boot::{self, Archive};
use kernel::entry::Entry;
use kernel::events::{self, Machine};
use kernel::fault::Fault;
use kernel::invariants;
use kernel::ipc::fast::{FoundCall, FoundExchange, FoundReplyWait};
use kernel::ipc::kind;
use kernel::ipc::left::Found;
use kernel::object::Thread;
use kernel::object::thread::flag;
use kernel::port::Port;
use kernel::system::System;
use kernel::variant::Variant;
use rt::arch::hosted::{Instruction, LENGTH, PROBING, RUNNING, Start};
use std::cell::RefCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;

/// A CPU that runs a kernel and its programs.
pub struct Board<G: Locking, S: System<Port = Twin<G>>> {
    options: &'static Options,
    machine: Machine<Twin<G>>,
    twin: &'static Twin<G>,
    fibers: &'static RefCell<Fibers>,
    system: PhantomData<S>,
}

/// Calls a function of the kernel, whose trace points record if the trace is on now.
macro_rules! enter {
    ($board:expr, $function:ident($($argument:expr),*)) => {
        {
            let inside = &$board.twin.here().inside;
            inside.set(G::SMP);
            let work = || {
                $board.twin.here().records.set($board.machine.cpu.traced.get());
                $function::<G, S>($board.machine, $($argument),*)
            };
            let done = match G::SPECULATIVE {
                true => cpus::section($board.twin, work),
                false => work(),
            };
            inside.set(false);
            $board.twin.here().records.set(false);
            done
        }
    };
}

type Next<G> = Ref<Thread<Twin<G>>>;

fn start<G: Locking, S: System<Port = Twin<G>>>(machine: Machine<Twin<G>>) -> Next<G> {
    // SAFETY: the board makes one entry at a time.
    unsafe { events::start::<S>(machine) }
}

/// A system call of the running thread.
#[inline]
fn call<G: Locking, S: System<Port = Twin<G>>>(machine: Machine<Twin<G>>, number: u8) -> Next<G> {
    // SAFETY: the board makes one entry at a time.
    unsafe {
        match number {
            kind::CALL => events::ipc::<S, { kind::CALL }>(machine),
            kind::REPLY_WAIT => events::ipc::<S, { kind::REPLY_WAIT }>(machine),
            kind::ANY => events::ipc::<S, { kind::ANY }>(machine),
            _ => events::system_call::<S>(machine),
        }
    }
}

const CALL: u64 = Call::Call as u64;
const REPLY_WAIT: u64 = Call::ReplyWait as u64;
const EXCHANGE: u64 = Call::Ipc as u64;

/// What a thread can begin with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    /// An instruction of a program that is a part of this process.
    Begins(Instruction),
    /// Machine code.
    Code,
}

/// How a fast path came out.
enum Tried<G: Locking> {
    /// It went over to a thread, which sees this badge.
    Done(Next<G>, u64),
    /// It left the message, and the general path went on with what it had found.
    Left(Next<G>),
    /// The general path is to begin.
    Not,
}

/// The fast path of a message.
#[inline]
fn fast<G: Locking, S: System<Port = Twin<G>>>(
    machine: Machine<Twin<G>>,
    number: u64,
    slot: u64,
    info: Info,
) -> Tried<G> {
    match number {
        CALL => try_fast::<G, S, FoundCall<_>>(machine, slot, info, EntryCost::Left),
        REPLY_WAIT => try_fast::<G, S, FoundReplyWait<_>>(machine, slot, info, EntryCost::Left),
        _ => try_fast::<G, S, FoundExchange<_>>(machine, slot, info, EntryCost::LeftBoth),
    }
}

fn try_fast<G: Locking, S: System<Port = Twin<G>>, F: Found<Twin<G>>>(
    machine: Machine<Twin<G>>,
    first: u64,
    info: Info,
    left: EntryCost,
) -> Tried<G> {
    // SAFETY: the board makes one entry at a time.
    let core = unsafe { Entry::<S>::enter_fast(machine.kernel, machine.cpu) };
    let outcome = F::look(&core, first, info);
    drop(core);
    match outcome {
        Ok((next, badge)) => Tried::Done(next, badge),
        Err(None) => Tried::Not,
        Err(Some(found)) => {
            meter::enter(left);
            // SAFETY: the fast path has left.
            Tried::Left(unsafe { events::go_on::<S, F>(machine, info, found) })
        }
    }
}

fn interrupt<G: Locking, S: System<Port = Twin<G>>>(
    machine: Machine<Twin<G>>,
    event: Event,
) -> Next<G> {
    // SAFETY: the board makes one entry at a time.
    unsafe {
        match event {
            Event::Irq(irq) => events::interrupt::<S>(machine, irq),
            Event::Timer => events::timer::<S>(machine),
            Event::Ipi => events::ipi::<S>(machine),
            Event::Sent => events::console::<S>(machine, CONSOLE_LINE),
            Event::Spurious => events::spurious::<S>(machine),
        }
    }
}

fn trap<G: Locking, S: System<Port = Twin<G>>>(machine: Machine<Twin<G>>, fault: Fault) -> Next<G> {
    // SAFETY: the board makes one entry at a time.
    unsafe { events::fault::<S>(machine, fault) }
}

fn body<T>(at: Ref<T>) -> &'static T {
    // SAFETY: between entries no CPU holds an object, and its memory outlives the board.
    unsafe { &*at.address() }
}

impl<G: Locking, S: System<Port = Twin<G>>> Board<G, S> {
    /// Boots an archive and runs it to its end.
    pub fn run(
        options: &'static Options,
        twin: &'static Twin<G>,
        archive: Archive,
        arena: &mut Arena,
    ) -> End {
        let Options { seed, chaos, .. } = options;
        let chaos = if *chaos == 0 { "no chaos".into() } else { format!("chaos 1/{chaos}") };
        twin.write(format!("twin: seed {seed}, {chaos}\n").as_bytes());
        let version = env!("CARGO_PKG_VERSION");
        twin.write(format!("giusto {version}, kernel {}\n", S::NAME).as_bytes());
        let machine = boot::carve(twin, Variant::of::<S>(), archive, arena);
        if options.decisions > 0 {
            machine.kernel.trees.with(|tree| tree.set_chaos(options.decisions));
            let text = format!("decisions: by chance, seed {}\n", options.decisions);
            twin.write(text.as_bytes());
        }
        let fibers = RefCell::new(Fibers::new(twin));
        // SAFETY: dropped behind the boards and the coroutines of their CPUs.
        let fibers = unsafe { lengthen(&fibers) };
        let board = Board::<G, S> { options, machine, twin, fibers, system: PhantomData };
        let core = board.core();
        boot::build(&core.manage(), archive, arena);
        drop(core);
        let text = format!("boot: {} counter steps to the first user instruction\n", meter::now());
        twin.write(text.as_bytes());
        twin.booted.set(meter::now());
        let kernel = machine.kernel;
        let boards =
            kernel.cpus.get().iter().map(|cpu| Board { machine: Machine { kernel, cpu }, ..board });
        let end = match G::SMP {
            true => cpus::run(twin, boards.map(|board| move || board.go())),
            // A shutdown unwinds to here, where the kernel still stands.
            false => catch_unwind(AssertUnwindSafe(|| board.go())).unwrap_or_else(ended_by),
        };
        if !matches!(end, End::Panic(_)) {
            twin.given_up.replace(standing::given_up(machine));
            if !matches!(end, End::Done(_)) || !twin.given_up.borrow().is_empty() {
                twin.threads.replace(standing::threads(machine));
            }
        }
        end
    }

    /// Leaves boot, and runs until nothing is left to do.
    fn go(&self) -> End {
        self.leave(enter!(self, start()));
        loop {
            if let Some(end) = self.go_on() {
                return end;
            }
        }
    }

    fn core(&self) -> Entry<S> {
        // SAFETY: each caller drops the core before it enters again.
        unsafe { Entry::enter(self.machine.kernel, self.machine.cpu) }
    }

    fn current(&self) -> Option<&'static Context> {
        let current = self.machine.cpu.current.get();
        (current != self.machine.cpu.idle).then(|| &body(current).context)
    }

    /// Does the next thing.
    #[inline]
    fn go_on(&self) -> Option<End> {
        self.twin.turn();
        while let Some(event) = self.twin.waiting() {
            self.take(event);
        }
        match self.current() {
            Some(context) => self.proceed(context),
            None => match self.twin.here().due_idle() {
                Some(at) => {
                    // A device may have it wait without end, in which nothing else is counted.
                    let waits = self.twin.here().device_at.get() == Some(at);
                    self.twin.entries.set(self.twin.entries.get() + u64::from(waits));
                    self.twin.stand(at, Stance::Free);
                }
                None if G::SMP => self.twin.stand(NEVER, Stance::Free),
                None => return Some(End::Stuck),
            },
        }
        (self.twin.entries.get() > self.twin.limit).then_some(End::Limit)
    }

    /// The running thread goes on from where it stopped.
    #[inline]
    fn proceed(&self, context: &'static Context) {
        if context.moved.get() {
            return self.arrive(context);
        }
        if context.again.take() {
            let (instruction, stack) = context.at.get();
            context.at.set((instruction.wrapping_add(LENGTH), stack));
            return self.call(context);
        }
        match context.trap.get() {
            Trap::Work(left) if left > 0 => return self.work(context, left),
            _ => self.twin.here().regs.set(context.regs.get()),
        }
        self.twin.here().pointer.set(context.pointer.get());
        self.twin.here().at.set(context.at.get());
        self.fibers.borrow_mut().resume(context.fiber.get());
        let here = self.twin.here();
        let trap = here.trap.get();
        context.trap.set(trap);
        if here.worked.take() && !context.worked.replace(true) {
            self.note_work();
        }
        context.at.set(here.at.get());
        context.regs.set(here.regs.get());
        match trap {
            Trap::Call => self.call(context),
            Trap::Work(_) | Trap::Start => {}
            Trap::Fault { .. } => self.fault(context, trap),
            Trap::Refused(refusal) => self.refused(context, refusal),
        }
    }

    /// The running thread has called `work`: the domain that it is in is noted.
    #[cold]
    fn note_work(&self) {
        let mut worked = self.twin.worked.borrow_mut();
        for name in standing::domains(self.machine, self.machine.cpu.current.get()) {
            if !worked.contains(&name) {
                worked.push(name);
            }
        }
    }

    /// The host has refused something to a program.
    fn refused(&self, context: &Context, refusal: Refusal) {
        let (_, stack) = context.at.get();
        let detail = refusal.address.unwrap_or_else(|| self.below_stack(stack));
        context.at.set((refusal.at, stack));
        self.enter_fault(Fault { kind: refusal.kind, detail, code: 0 });
    }

    /// The last word below the stack that an address lies in: where an overflow shows first.
    fn below_stack(&self, stack: u64) -> u64 {
        let root = self.twin.here().root.get();
        let mut page = stack.saturating_sub(1) / PAGE;
        while page > 0 && walk(self.twin, root, page * PAGE).is_some() {
            page -= 1;
        }
        page * PAGE + PAGE - 8
    }

    /// Time passes for a thread that computes, until it is done or an interrupt is due.
    fn work(&self, context: &Context, left: u64) {
        if self.twin.is_chaotic() {
            self.twin.disturb();
        }
        let now = meter::now();
        let due = self.twin.here().due();
        let free = due.map_or(left, |at| at.saturating_sub(now).min(left));
        self.twin.stand(now + free, Stance::Free);
        context.trap.set(Trap::Work(left.saturating_sub(meter::now() - now)));
        self.twin.entries.set(self.twin.entries.get() + 1);
    }

    /// The instruction pointer was set: behind a refused probe, or somewhere new.
    fn arrive(&self, context: &'static Context) {
        context.moved.set(false);
        context.again.set(false);
        let (at, stack) = context.at.get();
        let (fiber, before) = (context.fiber.get(), context.trap.get());
        if let Trap::Fault { probing: true, .. } = before
            && fiber != 0
            && (at == PROBING || at == PROBING + LENGTH)
        {
            self.twin.here().refused.set(at != PROBING);
            return;
        }
        let found = self.fetch(at);
        if before != Trap::Start && found == Ok(Text::Code) && self.fibers.borrow().is_code(fiber) {
            // It goes on there, with the registers that it has.
            return context.trap.set(Trap::Call);
        }
        if fiber != 0 {
            self.fibers.borrow_mut().end(fiber);
            context.fiber.set(0);
        }
        context.trap.set(Trap::Start);
        let regs = context.regs.get();
        match found {
            Ok(Text::Code) => {
                context.fiber.set(self.fibers.borrow_mut().begin_code(regs, (at, stack)));
            }
            Ok(Text::Begins(instruction)) => {
                let Regs { args: [first, second, ..], words, .. } = regs;
                let start = Start { arguments: [first, second], stack, words };
                let fiber = self.fibers.borrow_mut().begin(instruction, start);
                context.fiber.set(fiber);
                context.at.set((RUNNING, stack));
            }
            Err(kind) => {
                // It stays where it is, and looks there again when it goes on.
                context.moved.set(true);
                let code = u64::from(Rights::EXECUTE.0);
                self.enter_fault(Fault { kind, detail: at, code });
            }
        }
    }

    /// The text at an address.
    fn fetch(&self, at: u64) -> Result<Text, FaultKind> {
        let page = walk(self.twin, self.twin.here().root.get(), at);
        let page = page.filter(|(_, rights)| rights.contains(Rights::EXECUTE));
        let (frame, _) = page.ok_or(FaultKind::Memory)?;
        let word = self.twin.frame(frame)[(at % PAGE / 8) as usize].load(Relaxed);
        match Instruction::from_word(word).filter(|_| at.is_multiple_of(8)) {
            Some(instruction) => Ok(Text::Begins(instruction)),
            None if self.twin.window.is_some() => Ok(Text::Code),
            None => Err(FaultKind::Instruction),
        }
    }

    fn fault(&self, context: &Context, trap: Trap) {
        let Trap::Fault { kind, detail, code, probing, trap } = trap else { return };
        if !self.fibers.borrow().is_code(context.fiber.get()) {
            let at = if probing { PROBING + if trap { LENGTH } else { 0 } } else { RUNNING };
            context.at.set((at, context.at.get().1));
        }
        self.enter_fault(Fault { kind, detail, code });
    }

    fn enter_fault(&self, fault: Fault) {
        self.interrupt();
        meter::enter(EntryCost::Fault);
        self.leave(enter!(self, trap(fault)));
    }

    /// The running thread makes a system call.
    #[inline]
    fn call(&self, context: &'static Context) {
        let regs = context.regs.get();
        if S::FAST_PATH && self.fast(regs) {
            return;
        }
        let number = regs.number as u8;
        meter::enter(match number {
            kind::CALL | kind::REPLY_WAIT => EntryCost::Message,
            kind::ANY => EntryCost::Exchange,
            _ => EntryCost::Call,
        });
        self.leave(enter!(self, call(number)));
    }

    /// Tries the fast path; true: the call is done.
    #[inline]
    fn fast(&self, regs: Regs) -> bool {
        let number = u64::from(regs.number as u32);
        let [slot, info, ..] = regs.args;
        // A kernel's entry code looks at registers alone.
        let [send, receive] = [slot as u32, (slot >> 32) as u32];
        let halves = number != EXCHANGE || (send != NOTHING && receive != NOTHING);
        let messages = matches!(number, CALL | REPLY_WAIT | EXCHANGE);
        if !messages || !halves || !Info(info).is_short() {
            return false;
        }
        meter::enter(if number == EXCHANGE { EntryCost::AttemptBoth } else { EntryCost::Attempt });
        let (next, badge) = match enter!(self, fast(number, slot, Info(info))) {
            Tried::Done(next, badge) => (next, badge),
            Tried::Left(next) => {
                self.leave(next);
                return true;
            }
            Tried::Not => return false,
        };
        let target = &body(next).context;
        // The words went along in registers: what the thread saved may be another message by now.
        target.regs.set(Regs { number: 0, args: [badge, info, 0, 0, 0, 0], words: regs.words });
        self.leave(next);
        true
    }

    /// The running thread is interrupted where it stands.
    fn interrupt(&self) {
        if let Some(context) = self.current() {
            context.interrupted.set(true);
        }
    }

    fn take(&self, event: Event) {
        self.interrupt();
        self.twin.acknowledge(event);
        meter::interrupt();
        self.leave(enter!(self, interrupt(event)));
    }

    /// What follows every entry: the hardware part of a switch.
    #[inline]
    fn leave(&self, next: Next<G>) {
        self.twin.entries.set(self.twin.entries.get() + 1);
        if !self.twin.dead.borrow().is_empty() {
            for fiber in self.twin.dead.take() {
                self.fibers.borrow_mut().end(fiber);
            }
        }
        let cpu = self.machine.cpu;
        cpu.finish();
        cpu.note(trace::Event::Exit, next, 0, 0);
        if next != cpu.idle {
            let thread = body(next);
            if !G::SMP {
                thread.clear(flag::FULL);
            }
            thread.context.interrupted.set(false);
            let (root, here) = (body(thread.domain.get()).space.root, self.twin.here());
            match G::SMP {
                true if here.root.get() != root => here.use_tables(root),
                _ => here.root.set(root),
            }
        }
        if self.options.check {
            self.check();
        }
    }

    #[cold]
    fn check(&self) {
        let inside = &self.twin.here().inside;
        inside.set(G::SMP);
        // With several CPUs this waits until no other one is inside.
        let core = self.core();
        inside.set(false);
        let watcher = cells::watch(None);
        invariants::check(self.machine, &core.section.exclusive());
        self.check_ipis();
        cells::watch(watcher);
        inside.set(G::SMP);
        drop(core);
        inside.set(false);
        let threads = &self.machine.kernel.threads;
        let blocked = (1..threads.size())
            .filter_map(|index| threads.get(index))
            .filter(|thread| thread.life() == kernel::access::Life::Live)
            .filter(|thread| !body(*thread).runnable())
            .count();
        self.twin.most_blocked.set(self.twin.most_blocked.get().max(blocked as u32));
    }

    /// A CPU outside the kernel that has something to do is being interrupted.
    fn check_ipis(&self) {
        let cpus = self.machine.kernel.cpus.get();
        let coming = cpus.iter().fold(0, |coming, cpu| coming | cpu.pending_ipis.get());
        for (cpu, hardware) in cpus.iter().zip(&self.twin.processors) {
            let (running, idles) = (cpu.current.get(), cpu.current.get() == cpu.idle);
            let thread = body(running);
            let leaves = !idles && (!thread.runnable() || thread.cpu.get() != cpu.number);
            let wakes = idles && cpu.ready.first().is_some_and(|first| body(first).runnable());
            let busy = hardware.inside.get() || cpu.number == self.machine.cpu.number;
            let interrupted = coming >> cpu.number & 1 != 0 || hardware.ipi_at.get().is_some();
            // A decision may be left to any interrupt that waits; a device's is the first CPU's.
            let other = hardware.due().is_some() || hardware.spurious.get() || cpu.number == 0;
            let told = !leaves && !cpu.flush.get() || busy || interrupted;
            assert!(told, "CPU {} is not interrupted for what it is to leave", cpu.number);
            let drain_remote_wakes = cpu.remote_wakes.is_empty() || busy || interrupted;
            assert!(
                drain_remote_wakes,
                "CPU {} is not interrupted for who arrives there",
                cpu.number
            );
            let woken = !wakes || busy || interrupted || other && cpu.resched.get();
            assert!(woken, "CPU {} idles while a thread is ready there", cpu.number);
            if !hardware.inside.get() && !interrupted {
                invariants::timer(cpu);
            }
        }
    }
}
