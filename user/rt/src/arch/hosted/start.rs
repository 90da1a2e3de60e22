//! How a program's threads begin, and how a panic ends one.

use super::{Instruction, MACHINE, Program, TEXT, machine, note, std};
use crate::arch::{self, ANY, word};
use crate::noted;
use crate::panicked::Panicked;
use crate::start::tell_end;
use crate::train::{self, Entry, Visitor};
use crate::{Env, Message, Slot, Wait, Why, Words, error, exit, ipc, println, system};
use abi::Rights;
use abi::call::Call;
use abi::message::{self, FaultKind};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::{String, ToString};
use std::sync::Once;
use std::thread_local;

/// The address of a further thread's first instruction.
pub(crate) fn thread_entry() -> u64 {
    TEXT + 8
}

/// The word that stands for a thread's function on its stack.
pub(crate) fn function(work: fn(&Env, u64)) -> u64 {
    machine().function(work)
}

/// The address of a train's first instruction.
pub(crate) fn train_entry() -> u64 {
    TEXT + 16
}

/// The word that stands for what visitors run.
pub(crate) fn visitor<E: Entry>() -> u64 {
    machine().handler(train::run::<E>)
}

/// Returns to where the thread has entered its domain. It does so once.
fn leave(words: [u64; 4]) -> ! {
    let a = [word(0), ANY, ANY, ANY, ANY, ANY];
    arch::syscall(Call::TrainReturn as u64, a, arch::words(words));
    exit()
}

/// The registers that a thread begins with.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The first two arguments.
    pub arguments: [u64; 2],
    /// The stack pointer.
    pub stack: u64,
    /// The message words.
    pub words: [u64; 4],
}

/// Runs a thread that begins with an instruction of a program's text. `programs` are the machine's.
pub fn begin(instruction: Instruction, programs: &[Program], start: Start) -> ! {
    let Start { arguments: [argument, _], stack, .. } = start;
    match instruction {
        Instruction::Program(index) => match programs.get(index as usize) {
            Some((_, program)) => guarded(argument, |env| {
                program(env);
                tell_end(env);
            }),
            None => machine().fault(FaultKind::Instruction, false),
        },
        Instruction::Thread if stack == 0 || !stack.is_multiple_of(8) => {
            machine().fault(FaultKind::Memory, false);
        }
        Instruction::Thread => {
            let words = Words::at(stack, 8 * crate::thread::START_WORDS);
            match machine().function_of(words.get(0)) {
                Some(function) => guarded(words.get(1), |env| function(env, words.get(2))),
                None => machine().fault(FaultKind::Instruction, false),
            }
        }
        Instruction::Server => serve(),
        Instruction::Train => visit(start),
    }
    exit()
}

/// Runs what a visitor runs, as the record says that the train's word leads to.
fn visit(start: Start) {
    let [record, badge] = start.arguments;
    if record == 0 || !record.is_multiple_of(8) {
        return machine().fault(FaultKind::Memory, false);
    }
    let record = Words::at(record, 8 * train::RECORD_WORDS as u64);
    let environment = record.get(1);
    let visitor = Visitor { badge, argument: record.get(2), environment };
    match machine().handler_of(record.get(0)) {
        Some(handler) => guarded(environment, |_| {
            // A visitor without room for a call on its stack would go no further.
            Words::at(start.stack - 8, 8).set(0, 0);
            leave(handler(visitor, start.words));
        }),
        None => machine().fault(FaultKind::Instruction, false),
    }
}

/// The server of [`tiny_server`](super::tiny_server).
fn serve() -> ! {
    loop {
        let mut message = ipc::receive(Slot(1), Wait::NEVER);
        while let Ok(received) = message {
            message =
                ipc::reply_wait(Slot(1), Message::short(0, [received.words[0].wrapping_add(1)]));
        }
    }
}

thread_local! {
    /// The panic of the program that runs on this host thread, up to where it is caught.
    static PANIC: RefCell<Panic> = const { RefCell::new(None) };
}

/// What a panic said, and where; `None`: there is none.
pub type Panic = Option<String>;

/// What the last panic on this host thread said, and where; empty if there was none since the
/// last time that this was asked. The panic is over.
pub fn message_of_panic() -> String {
    PANIC.take().unwrap_or_default()
}

/// What a program that runs on this host thread leaves there when another one goes on: it can be
/// left in the midst of a panic, by a system call of a destructor.
#[derive(Default)]
pub struct Left {
    panic: Panic,
    note: [u64; noted::WORDS],
}

/// Exchanges what the program that runs on this host thread has there for what another one, which
/// goes on, has left.
pub fn exchange_left(other: &mut Left) {
    PANIC.with_borrow_mut(|panic| std::mem::swap(panic, &mut other.panic));
    note::exchange(&mut other.note);
}

/// Whether the program that runs on this host thread is in the midst of a panic. Destructors run
/// then, which on machines never do: they leave as it is what others could see of them.
pub fn panics() -> bool {
    PANIC.with(|panic| panic.try_borrow().map_or(true, |panic| panic.is_some()))
}

/// From now on a panic while a machine is installed is remembered rather than printed.
pub fn remember_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(std::boxed::Box::new(move |info| {
            if MACHINE.get().is_some() {
                PANIC.set(Some(String::new()));
                PANIC.set(Some(info.to_string()));
            } else {
                before(info);
            }
        }));
    });
}

/// A panic for the machine to tell: a line that says where, and one that says what. A program
/// without a console writes no others.
fn told(name: &str, said: &str) -> String {
    let (place, what) = said.split_once(":\n").unwrap_or((said, ""));
    let spelled = |text: &str| -> String {
        let spell = |c: char| match c.is_control() {
            true => c.escape_default().collect(),
            false => String::from(c),
        };
        text.chars().map(spell).collect()
    };
    std::format!("{name}: {}:\n{}", spelled(place), spelled(what))
}

/// What a panic has said, for the log.
fn panicked(said: &str) -> Panicked<'_, &str> {
    let (place, reason) = said.split_once(":\n").unwrap_or(("", said));
    let mut place = place.strip_prefix("panicked at ").unwrap_or(place).rsplitn(3, ':');
    let mut number = || place.next().and_then(|text| text.parse().ok()).unwrap_or(0);
    let (column, line) = (number(), number());
    Panicked { reason, file: place.next().unwrap_or_default(), place: [line, column] }
}

/// Runs a program's function. Its panic ends the run; without the right to do that it is a fault,
/// and without a console the machine tells what it says.
fn guarded(environment: u64, run: impl FnOnce(&Env)) {
    let env = Env::at(environment & !7);
    if catch_unwind(AssertUnwindSafe(|| run(&env))).is_err() {
        let said = message_of_panic();
        let why = Why::of_panic(env, &said);
        if let Some(why) = &why {
            println!(env.console(), "{}: {why}", env.name());
            error!(env.panics(), "{why}");
        }
        error!(env.panics(), "{}", panicked(&said));
        let message = std::format!("{}: {said}", env.name());
        match env.find_cap("console") {
            Some(_) => println!(env.console(), "{message}"),
            None => machine().say(&told(env.name(), &said)),
        }
        if let Some(system) = env.find_cap("system") {
            let _ = system::shutdown_in_panic(system, 0);
        }
        let _ = machine().reach(message::PANIC, Rights::READ, false);
    }
}
