//! Threads.

use crate::arch::{self, word};
use crate::noted;
use crate::shared::Words;
use crate::system::{self, done, results, simple};
use crate::{Env, Slot};
use abi::Error;
use abi::call::{Call, exchange};

/// Where and how a new thread runs.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its domain; [`Slot::NONE`] is the caller's.
    pub domain: Slot,
    /// Its priority.
    pub priority: u64,
    /// The address of its message buffer; 0 is none.
    pub buffer: u64,
    /// The endpoint that receives its faults; [`Slot::NONE`] is none.
    pub handler: Slot,
}

impl Spec {
    /// Further thread `n` of the environment, with its message buffer, in the caller's domain. Its
    /// faults go to the program's supervisor, if it has one.
    pub fn further(env: &Env, n: usize, priority: u64) -> Spec {
        let (buffer, handler) = (env.buffer_address(n), env.fault_handler());
        Spec { domain: Slot::NONE, priority, buffer, handler }
    }
}

/// Registers to set; the others stay as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registers {
    /// Instruction pointer.
    pub instruction: Option<u64>,
    /// Stack pointer.
    pub stack: Option<u64>,
    /// First argument.
    pub argument: Option<u64>,
    /// Thread pointer.
    pub thread: Option<u64>,
    /// Whether to cancel the IPC operation that the thread is blocked in.
    pub cancel: bool,
}

/// Creates a suspended thread.
#[inline(always)]
pub fn create(slot: Slot, spec: Spec) -> Result<(), Error> {
    let handler = spec.handler.word();
    let a = [slot.word(), spec.domain.word(), spec.priority, spec.buffer, handler];
    let about = [slot.word(), spec.domain.word(), handler | spec.priority << 32];
    noted::result(simple(Call::ThreadCreate, a).status, Call::ThreadCreate, about)
}

/// Sets registers of a suspended thread; its instruction and stack pointer before.
pub fn set(slot: Slot, registers: Registers) -> Result<(u64, u64), Error> {
    let values = [registers.instruction, registers.stack, registers.argument, registers.thread];
    let bits = [exchange::INSTRUCTION, exchange::STACK, exchange::ARGUMENT, exchange::THREAD];
    let mut mask = if registers.cancel { exchange::CANCEL } else { 0 };
    let mut a = [word(slot.word()), word(0), word(0), word(0), word(0), word(0)];
    for (i, (value, bit)) in values.into_iter().zip(bits).enumerate() {
        if let Some(value) = value {
            a[i + 1] = word(value);
            mask |= bit;
        }
    }
    a[5] = word(mask);
    let outcome = arch::syscall(Call::ThreadExchange as u64, a, arch::words([]));
    noted::result(outcome.status, Call::ThreadExchange, [slot.word(), 0, 0])?;
    Ok((outcome.badge, outcome.info.0))
}

/// Words that a new thread finds on its stack: its function, the environment text, its argument,
/// and one that keeps the stack aligned.
pub(crate) const START_WORDS: u64 = 4;

/// Makes further thread `n` of the environment run a function, with the environment and an
/// argument. When the function returns, the thread sleeps for ever: it ends when it is destroyed.
/// Its stack must not be in use.
pub fn start(
    env: &Env,
    n: usize,
    slot: Slot,
    spec: Spec,
    work: (fn(&Env, u64), u64),
) -> Result<(), Error> {
    assert!(n > 0, "thread 0 is the first one, which runs on its stack");
    create(slot, spec)?;
    begin_at(env, env.stack(n), slot, work)
}

/// [`start`] on a stack of the program's own: these words, which end at a multiple of 16 bytes.
/// Nothing else may use them as long as the thread lives.
pub fn start_on(
    env: &Env,
    stack: Words,
    slot: Slot,
    spec: Spec,
    work: (fn(&Env, u64), u64),
) -> Result<(), Error> {
    let top = stack.address() + 8 * stack.len() as u64;
    let fits = stack.len() as u64 >= START_WORDS && top.is_multiple_of(16);
    assert!(fits, "a stack of {} words that ends at {top:#x}", stack.len());
    create(slot, spec)?;
    begin_at(env, top, slot, work)
}

fn begin_at(env: &Env, top: u64, slot: Slot, work: (fn(&Env, u64), u64)) -> Result<(), Error> {
    let stack = top - 8 * START_WORDS;
    let words = Words::at(stack, 8 * START_WORDS);
    words.set(0, arch::function(work.0));
    words.set(1, env.address());
    words.set(2, work.1);
    let instruction = Some(arch::thread_entry());
    set(slot, Registers { instruction, stack: Some(stack), ..Registers::default() })?;
    resume(slot)
}

/// The first compiled function of a further thread.
#[cfg(target_os = "none")]
#[allow(improper_ctypes_definitions)] // The function comes from `start`, through a register.
pub(crate) extern "C" fn begin(work: fn(&Env, u64), environment: u64, argument: u64) -> ! {
    work(&Env::at(environment), argument);
    crate::exit()
}

/// Names a thread, as [`domain::name`](crate::domain::name) names a domain. Threads of the manifest
/// can be named too.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for what is no name; and the capability needs the right to control.
pub fn name(thread: Slot, name: &str) -> Result<(), Error> {
    system::name(thread, name)
}

/// Lets a thread run.
pub fn resume(slot: Slot) -> Result<(), Error> {
    done(Call::ThreadResume, [slot.word()])
}

/// Stops a thread.
pub fn suspend(slot: Slot) -> Result<(), Error> {
    done(Call::ThreadSuspend, [slot.word()])
}

/// Sets a thread's priority.
pub fn set_priority(slot: Slot, priority: u64) -> Result<(), Error> {
    done(Call::ThreadPriority, [slot.word(), priority])
}

/// Makes a thread run on another CPU from now on.
pub fn migrate(slot: Slot, cpu: u64) -> Result<(), Error> {
    done(Call::ThreadMigrate, [slot.word(), cpu])
}

/// The code of a thread's [`ThreadState`](abi::call::ThreadState).
pub fn state(slot: Slot) -> Result<u64, Error> {
    Ok(results(Call::ThreadInspect, [slot.word()])?.badge)
}

/// Lets the next thread of the same priority run.
#[inline(always)]
pub fn yield_now() -> Result<(), Error> {
    yield_to(Slot::NONE)
}

/// Gives the rest of the tick to a thread.
#[inline(always)]
pub fn yield_to(slot: Slot) -> Result<(), Error> {
    done(Call::Yield, [slot.word()])
}
