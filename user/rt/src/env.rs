//! The environment: what a program was given, by name.

use crate::{Buffer, Console, Error, Heartbeat, Log, Slot, Why, Words, shared};
use abi::adaptive::{self, Adaptive};
use abi::{env, supervision};

/// What a program was given.
#[derive(Clone, Copy)]
pub struct Env {
    text: &'static str,
    address: u64,
}

impl Env {
    /// The environment whose text is at an address.
    pub(crate) fn at(address: u64) -> Env {
        Env { text: shared::text_at(address), address }
    }

    /// The address of the text.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// The name of the program's domain.
    pub fn name(&self) -> &'static str {
        env::get(self.text, "name").unwrap_or("?")
    }

    /// The slot of a capability that the program cannot do without.
    #[track_caller]
    pub fn cap(&self, name: &str) -> Slot {
        match self.find_cap(name) {
            Some(slot) => slot,
            None => panic!("the manifest gives no capability '{name}'"),
        }
    }

    /// The slot of a capability, if the program has it.
    pub fn find_cap(&self, name: &str) -> Option<Slot> {
        Some(Slot(env::get_in(self.text, "cap.", name)?.parse().ok()?))
    }

    /// All capabilities, with their names.
    pub fn caps(&self) -> impl Iterator<Item = (&'static str, Slot)> + use<> {
        self.text.lines().filter_map(|line| {
            let (name, slot) = line.strip_prefix("cap.")?.split_once('=')?;
            Some((name, Slot(slot.parse().ok()?)))
        })
    }

    /// The reservations whose budgets the program is to let follow demand, with the names of its
    /// capabilities.
    pub fn adaptive(&self) -> impl Iterator<Item = (&'static str, Slot, Adaptive)> + use<> {
        let env = *self;
        env.text.lines().filter_map(move |line| {
            let (name, told) = line.strip_prefix(adaptive::PREFIX)?.split_once('=')?;
            Some((name, env.find_cap(name)?, Adaptive::parse(told)?))
        })
    }

    /// Shared memory that the program cannot do without.
    #[track_caller]
    pub fn mem(&self, name: &str) -> Words {
        match self.find_mem(name) {
            Some(words) => words,
            None => panic!("the manifest maps no memory '{name}'"),
        }
    }

    /// Shared memory, if the program has it.
    pub fn find_mem(&self, name: &str) -> Option<Words> {
        let (address, bytes) = env::pair(env::get_in(self.text, "mem.", name)?, 16)?;
        Some(Words::at(address, bytes))
    }

    /// An argument, if it was given.
    pub fn arg(&self, name: &str) -> Option<&'static str> {
        env::get_in(self.text, "arg.", name)
    }

    /// A number among the arguments, or what to take instead.
    #[track_caller]
    pub fn number(&self, name: &str, default: u64) -> u64 {
        let Some(text) = self.arg(name) else { return default };
        match text.parse() {
            Ok(number) => number,
            Err(_) => panic!("argument '{name}' is '{text}', not a number"),
        }
    }

    /// Address and bytes of the memory for a heap, if the manifest gives one (key `heap`).
    pub fn heap(&self) -> Option<(u64, u64)> {
        env::pair(env::get(self.text, "heap")?, 16)
    }

    /// How many threads the manifest lays out stacks and message buffers for.
    pub fn threads(&self) -> usize {
        env::get(self.text, "threads").and_then(|count| count.parse().ok()).unwrap_or(1)
    }

    /// The top of the stack for further thread `n`, from 1.
    #[track_caller]
    pub fn stack(&self, n: usize) -> u64 {
        let (top, distance) = self.row("stacks", n);
        top - n as u64 * distance
    }

    /// The number of the thread that the manifest lays out the stack for that an address is in.
    #[cfg(target_os = "none")]
    pub(crate) fn stack_of(&self, address: u64) -> Option<u64> {
        let (top, distance) = env::get(self.text, "stacks").and_then(|row| env::pair(row, 16))?;
        let number = top.checked_sub(address)?.checked_div(distance)?;
        (number < self.threads() as u64).then_some(number)
    }

    /// Why a call of the calling thread has failed with this error, for people: which slot, right
    /// or quota it failed for, with the names of slots that the manifest gives. The error alone, if
    /// another call that notes has failed since, the thread runs on a stack that the program has
    /// laid out, or it is an error that depends on no such thing. Ask where the error is returned:
    /// the calls that `docs/errors.md` lists note nothing, and what failed before them is told.
    ///
    /// ```no_run
    /// # use rt::{Env, Rights, Slot, cap, println};
    /// # fn copy(env: &Env, to: Slot) {
    /// if let Err(error) = cap::copy(env.cap("door"), to, Rights::ALL) {
    ///     // For instance: "CapCopy: slot 3 (`door`) lacks the right to copy".
    ///     println!(env.console(), "{}", env.why(error));
    /// }
    /// # }
    /// ```
    pub fn why(&self, error: Error) -> Why {
        Why::new(*self, error)
    }

    /// The message buffer of thread `n`; the first thread's is 0.
    #[track_caller]
    pub fn buffer(&self, n: usize) -> Buffer {
        Buffer::at(self.buffer_address(n))
    }

    /// The address of [`Env::buffer`].
    #[track_caller]
    pub fn buffer_address(&self, n: usize) -> u64 {
        let (first, distance) = self.row("buffers", n);
        first + n as u64 * distance
    }

    #[track_caller]
    fn row(&self, name: &str, n: usize) -> (u64, u64) {
        assert!(n < self.threads(), "the manifest lays out no thread {n}");
        match env::get(self.text, name).and_then(|row| env::pair(row, 16)) {
            Some(row) => row,
            None => panic!("the environment has no '{name}'"),
        }
    }

    /// The slots that the program may fill itself, from the first one each time. Two of these hand
    /// out the same slots, as does a [`SlotPool`](crate::SlotPool): use one of them.
    pub fn slots(&self) -> Slots {
        let (first, limit) =
            env::get(self.text, "slots").and_then(|v| env::pair(v, 10)).unwrap_or((0, 0));
        Slots { next: first as u32, limit: (limit as u32).max(first as u32) }
    }

    /// The endpoint of the supervisor that takes the program's faults; [`Slot::NONE`] if it is not
    /// supervised.
    pub fn fault_handler(&self) -> Slot {
        self.find_cap(supervision::FAULTS).unwrap_or(Slot::NONE)
    }

    /// The program's heartbeat, unheard if it is not supervised by one.
    pub fn heartbeat(&self) -> Heartbeat {
        Heartbeat::new(self.find_cap(supervision::BEATS).unwrap_or(Slot::NONE))
    }

    /// The domain's log, silent if it has none. Opening it takes a system call, a line none.
    pub fn log(&self) -> Log {
        let place = env::get(self.text, "log").and_then(|log| env::pair(log, 16));
        Log::open(place.map(|(address, bytes)| Words::at(address, bytes)))
    }

    /// Where the reason of a panic stays: the domain's log, or what stands in for it where there is
    /// neither a log nor a console.
    pub(crate) fn panics(&self) -> Log {
        let place = env::get(self.text, "log").or_else(|| env::get(self.text, "panics"));
        let place = place.and_then(|place| env::pair(place, 16));
        Log::open(place.map(|(address, bytes)| Words::at(address, bytes)))
    }

    /// The console, silent if the program has none.
    pub fn console(&self) -> Console {
        Console::new(self.find_cap("console").unwrap_or(Slot::NONE))
    }
}

/// Hands out slots one after the other, each once.
#[derive(Clone, Debug)]
pub struct Slots {
    next: u32,
    limit: u32,
}

impl Slots {
    /// The slots from one up to another.
    #[cfg(test)]
    pub(crate) fn new(next: u32, limit: u32) -> Slots {
        Slots { next, limit }
    }

    /// The next free slot.
    #[track_caller]
    pub fn fresh(&mut self) -> Slot {
        match self.next() {
            Some(slot) => slot,
            None => panic!("all {} capability slots are taken", self.limit),
        }
    }

    /// The first slot beyond the table.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// How many are left.
    pub fn left(&self) -> u32 {
        self.limit - self.next
    }

    /// The next `count` slots, or as many as are left, to be handed out by themselves.
    pub fn part(&mut self, count: u32) -> Slots {
        let next = self.next;
        self.next += count.min(self.left());
        Slots { next, limit: self.next }
    }
}

impl Iterator for Slots {
    type Item = Slot;

    fn next(&mut self) -> Option<Slot> {
        (self.next < self.limit).then(|| {
            self.next += 1;
            Slot(self.next - 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SlotPool;
    use crate::machine::{self, BASE};
    use std::boxed::Box;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
    use std::sync::Once;
    use std::thread_local;

    thread_local! {
        static LINE: Cell<u32> = const { Cell::new(0) };
    }

    /// The line of this file that a panic names, less the line of what panics.
    fn off<T>(line: u32, what: impl FnOnce() -> T) -> i64 {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let before = take_hook();
            set_hook(Box::new(move |panic| {
                let here = panic.location().filter(|place| place.file() == file!());
                LINE.set(here.map_or(0, |place| place.line()));
                before(panic);
            }));
        });
        assert!(catch_unwind(AssertUnwindSafe(what)).is_err(), "it does not panic");
        i64::from(LINE.take()) - i64::from(line)
    }

    #[test]
    fn a_panic_names_the_line_that_asked_for_what_is_not_there() {
        let _machine = machine::install(1);
        let env = Env { text: "name=pump\narg.rate=fast\n", address: BASE };
        let words = Words::at(BASE, 16);
        let pool = SlotPool::over(Slots::new(1, 1), words);
        let off = [
            off(line!(), || env.cap("door")),
            off(line!(), || env.mem("door")),
            off(line!(), || env.number("rate", 1)),
            off(line!(), || env.stack(1)),
            off(line!(), || env.buffer(0)),
            off(line!(), || Slots::new(1, 1).fresh()),
            off(line!(), || pool.take()),
            off(line!(), || words.get(2)),
            off(line!(), || words.set(2, 1)),
            off(line!(), || words.part(1, 2)),
        ];
        assert_eq!(off, [0; 10]);
    }
}
