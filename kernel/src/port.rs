//! What a machine provides: the only interface between the core and the hardware.

use crate::cost::CostEvent;
use crate::statistics::Statistics;
use crate::tlb::Change;
use abi::boot::Cache;
use abi::message::BUFFER_WORDS;
use abi::{Info, Rights, Status};
use core::sync::atomic::{AtomicU32, AtomicU64};
use locks::LockPolicy;

/// A page of memory, seen as words. Programs may write it at any time, hence atomics.
pub type Frame = [AtomicU64; BUFFER_WORDS];

/// The lock in each of a machine's objects.
pub type Lock<P> = <<P as Port>::LockPolicy as LockPolicy>::Object;

/// Of no size: keeps a machine's objects on lines of their own, if it has several CPUs.
pub type CachePadding<P> = <<P as Port>::LockPolicy as LockPolicy>::CachePadding;

/// A machine.
pub trait Port: Sized + 'static {
    /// The saved user registers of a thread, and other state that a switch moves.
    type Context: Context;
    /// The page tables of a domain.
    type Space: Space<Local = Self::Local>;
    /// What the port keeps for each CPU.
    type Local: Default + 'static;
    /// What guards the kernel on several CPUs.
    type LockPolicy: LockPolicy;
    /// What is kept of a thread's registers while it is in another domain.
    type Kept: Default + 'static;

    /// Bytes in a page, the unit of mapping and of memory objects. A message buffer is one.
    const PAGE: u64;
    /// First address above user space, where the last page of an address space's user half begins:
    /// it is never mapped, so that no user instruction pointer can run over the end.
    const USER_TOP: u64;

    /// Whether there may be several CPUs.
    const SMP: bool = false;

    /// Whether there may be a kernel with a scheduling tree.
    const TREE: bool = false;

    /// Whether there are calls on mutexes and conditions.
    const FUTEXES: bool = true;

    /// Whether there are trains.
    const TRAINS: bool = true;

    /// The trace points that are compiled in: a mask of [events](abi::trace::Event).
    const TRACE: u64 = 0;
    /// Whether the lengths of queues are kept, for trace and statistics.
    const LENGTHS: bool = false;

    /// Whether the points of a path that has them record: where there is no other instance of the
    /// path, only while the trace is on.
    #[inline(always)]
    fn records(&self) -> bool {
        true
    }

    /// Nanoseconds since boot.
    fn now(&self) -> u64;
    /// When the interrupt that is being served came, as far as that is known.
    #[inline(always)]
    fn arrival(&self) -> u64 {
        self.now()
    }
    /// The counter that programs read and that stamps the trace.
    fn stamp(&self) -> u64;
    /// Asks for one timer interrupt at an instant, in place of any earlier request; `None`: no
    /// interrupt. An instant in the past interrupts at once.
    fn arm(&self, at: Option<u64>);
    /// Whether an interrupt waits to be taken: polled at preemption points.
    fn pending(&self) -> bool;
    /// Unmasks an IRQ, or masks it.
    fn set_irq(&self, irq: u8, enabled: bool);
    /// Lets an IRQ come to a CPU from now on: to the first one, as long as nothing else was said.
    /// Only with several CPUs.
    fn route_irq(&self, _irq: u8, _cpu: u32) {}
    /// Whether an IRQ is the machine's own, so that no interrupt object has it.
    fn is_own_irq(&self, _irq: u8) -> bool {
        false
    }
    /// What device memory at a physical address is for [`Space::map`]: its first frame, with the
    /// port's attributes in the low bits. `None`: there can be none.
    fn device_frame(&self, _at: u64, _pages: u64, _cache: Cache) -> Option<u64> {
        None
    }
    /// Whether a program may have these I/O ports: they exist, and the kernel uses none of them.
    fn has_ports(&self, _first: u64, _number: u64) -> bool {
        false
    }
    /// Reads 1, 2 or 4 bytes from an I/O port of a range that [`Port::has_ports`].
    fn read_port(&self, _port: u16, _bytes: u8) -> u32 {
        0
    }
    /// Writes the lowest 1, 2 or 4 bytes of a value to an I/O port of such a range.
    fn write_port(&self, _port: u16, _bytes: u8, _value: u32) {}
    /// The number of IRQs.
    fn irqs(&self) -> u8;
    /// The words of a page frame.
    fn frame(&self, address: u64) -> &'static Frame;
    /// The 32-bit word at this physical address, a multiple of 4 in a page frame.
    fn word(&self, address: u64) -> &'static AtomicU32;
    /// The trace changes a word of a page frame, which vanishes if the section is undone: a machine
    /// that undoes by itself wants to know.
    #[inline(always)]
    fn overwrites(&self, _word: &AtomicU64) {}
    /// Zeroes words within a page frame.
    fn clear(&self, address: u64, words: usize);
    /// Copies words of one page frame to the same places of another, from `first` up to `end`.
    fn copy(&self, from: u64, to: u64, first: usize, end: usize);
    /// How many characters the console takes now, without waiting: as many as fit into its queue
    /// if that is empty, else none. The end of a line counts as two.
    fn console_room(&self) -> usize;
    /// Sends a character for which there is room.
    fn console_put(&self, byte: u8);
    /// Whether the console is to interrupt the first CPU while its queue is empty, for
    /// [`console`](crate::events::console).
    fn console_wants(&self, on: bool);
    /// Waits until the console has sent all that it has taken: the run is over.
    fn console_flush(&self);
    /// Takes a byte from the console, if one has arrived.
    fn console_read(&self) -> Option<u8>;
    /// Frequency of the counter that programs read, in Hz, and its value at the instant 0.
    fn counter(&self) -> (u64, u64);
    /// Bytes of kernel text, and counter steps from kernel entry to the first user instruction.
    fn kernel_facts(&self) -> (u64, u64);
    /// Ends the run.
    fn shutdown(&self, status: u32) -> !;
    /// The port's state of `thread` in this CPU, if any, is void: it was destroyed or restarted.
    fn forget(&self, local: &Self::Local, thread: &Self::Context);
    /// A thread that has made a system call enters another domain at an instruction and with a
    /// stack pointer: all that is to be as it was when it comes back is kept, and nothing of it is
    /// left but the message words. The core sets results behind that, as what the code there is
    /// given.
    fn enter(
        &self,
        local: &Self::Local,
        thread: &Self::Context,
        kept: &Self::Kept,
        entry: u64,
        stack: u64,
    );
    /// A thread, however it has stopped, is back behind the system call for which this was kept,
    /// without anything from there but the message words. The core sets the results.
    fn come_back(&self, local: &Self::Local, thread: &Self::Context, kept: &Self::Kept);
    /// Whether a thread of this CPU has no state that a switch moves apart, here or in what is
    /// kept: then it enters and comes back by its general registers alone.
    #[inline(always)]
    fn is_plain(&self, _: &Self::Local, _thread: &Self::Context, _kept: &Self::Kept) -> bool {
        true
    }
    /// The thread for which this was kept does not come back there: nothing is kept any more.
    fn give_up(&self, kept: &Self::Kept);
    /// Moves what this CPU alone holds of a thread's state into its context: the thread may run
    /// elsewhere next. Only with several CPUs.
    fn save_lazy_state(&self, _local: &Self::Local, _thread: &Self::Context) {}
    /// Interrupts another CPU, which then calls [`ipi`](crate::events::ipi). Only with several
    /// CPUs.
    fn send_ipi(&self, _cpu: u32) {}
    /// Looks at the counters that [`Port::cost`] keeps of a CPU, if it does.
    fn statistics<R>(&self, _cpu: u32, _look: impl FnOnce(&Statistics) -> R) -> Option<R> {
        None
    }
    /// The core takes a primitive step; most machines do not care.
    #[inline(always)]
    fn cost(_event: CostEvent) {}
    /// [`Port::cost`] on the ready queue of a CPU, which may be another one.
    #[inline(always)]
    fn cost_at(_cpu: u32, step: CostEvent) {
        Self::cost(step);
    }
}

/// A thread's registers, as the core needs them: the system call that it made and its results.
pub trait Context: 'static {
    /// A context for a vacant pool slot.
    fn new() -> Self;
    /// The call that the thread made: number word and arguments.
    fn call(&self) -> (u64, [u64; 6]);
    /// The message words.
    fn words(&self) -> [u64; 4];
    /// Sets the message words.
    fn set_words(&self, words: [u64; 4]);
    /// Sets the results of the thread's system call.
    fn set_results(&self, status: Status, badge: u64, info: Info);
    /// Makes the thread issue its system call again, with this number word and these arguments;
    /// it goes on with all registers restored.
    fn restart(&self, number: u64, args: [u64; 6]);
    /// Readies the context for a first run: all registers zero.
    fn reset(&self);
    /// Instruction and stack pointer.
    fn position(&self) -> (u64, u64);
    /// Sets the instruction pointer.
    fn set_instruction(&self, at: u64);
    /// Sets the stack pointer.
    fn set_stack(&self, at: u64);
    /// Sets the first argument that an entry function sees.
    fn set_argument(&self, value: u64);
    /// Sets the thread pointer.
    fn set_thread_pointer(&self, value: u64);
}

/// What became of an attempt to map a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// It is mapped.
    Done,
    /// Another page is mapped there.
    InUse,
    /// A table is missing: [`Space::add_table`] adds one.
    NoTable,
}

/// What became of a search for a page table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// This one is detached.
    Table(u64),
    /// None so far: search on.
    Searching,
    /// Only the root is left.
    Nothing,
}

/// How translations that are taken away leave the TLBs of other CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteTlbs {
    /// There is no other CPU.
    None,
    /// Each CPU that may hold them is interrupted, and flushes its TLB ([`Space::flush`]).
    Interrupted,
}

/// A domain's page tables, and the translations that TLBs hold of them.
pub trait Space: 'static {
    /// What the port keeps for each CPU.
    type Local: Default + 'static;

    /// How the TLBs of other CPUs learn of a change.
    const REMOTE: RemoteTlbs;

    /// Page tables of a vacant domain slot, with the root table in this frame.
    fn new(root: u64) -> Self;
    /// How many further table frames mapping this range takes.
    fn missing(&self, port: &impl Port, at: u64, pages: u64) -> usize;
    /// The frame of RAM that is mapped at this address of user space, if any.
    fn frame(&self, port: &impl Port, at: u64) -> Option<u64>;
    /// Whether a page is mapped at this address: RAM or device memory.
    fn is_mapped(&self, port: &impl Port, at: u64) -> bool {
        self.frame(port, at).is_some()
    }
    /// The frame of RAM that is mapped at this address of user space, if user mode may write to it.
    fn writable(&self, port: &impl Port, at: u64) -> Option<u64>;
    /// [`Space::writable`] from what was looked up last. `None`: not to be told from that.
    #[inline(always)]
    fn writable_again(&self, _at: u64) -> Option<u64> {
        None
    }
    /// Puts a zeroed frame in place of the highest table that an address lacks.
    fn add_table(&self, port: &impl Port, at: u64, table: u64);
    /// Maps one page, if nothing is in the way and no table is missing: a frame of RAM, or one that
    /// counts on from [`Port::device_frame`].
    fn map(&self, port: &impl Port, at: u64, frame: u64, rights: Rights) -> Mapped;
    /// Changes the rights of a mapped page, and invalidates it in the TLB of this CPU. Other CPUs
    /// are reached by [`Space::REMOTE`], for which the [`Change`] was noted.
    fn protect(&self, port: &impl Port, at: u64, rights: Rights, change: Change);
    /// Removes a page, and invalidates it in the TLB of this CPU; else as [`Space::protect`].
    fn unmap(&self, port: &impl Port, at: u64, change: Change);
    /// Flushes the TLB of this CPU, which has these tables loaded from then on. Only where TLBs are
    /// [`RemoteTlbs::Interrupted`].
    fn flush(&self, _local: &Self::Local) {}
    /// Looks for a table frame to detach, emptied, from a space without mappings, and takes a
    /// bounded number of steps.
    fn take_table(&self, port: &impl Port) -> Taken;
}
