//! Rows, as far as there is room.

use super::kept::Kept;
use abi::control::{Machine, Row, Thread, WORD_ROWS};
use rt::prelude::*;
use rt::{Kind, Words, cap, sched};

/// An answer that is being written.
pub struct Answer {
    memory: Words,
    next: usize,
    cut: bool,
}

impl Answer {
    /// An answer without rows.
    pub fn new(memory: Words) -> Answer {
        Answer { memory, next: WORD_ROWS, cut: false }
    }

    /// The memory that it is written to.
    pub fn memory(&self) -> Words {
        self.memory
    }

    /// Words of its rows.
    pub fn length(&self) -> u64 {
        (self.next - WORD_ROWS) as u64
    }

    /// Whether there was no room for a row.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    fn row(&mut self, row: Row) {
        let (words, length) = row.encode();
        if self.cut || self.memory.len() - self.next < length {
            self.cut = true;
            return;
        }
        for word in &words[..length] {
            self.memory.set(self.next, *word);
            self.next += 1;
        }
    }
}

/// Rows of everything.
pub fn picture(env: &Env, answer: &mut Answer, kept: &Kept, (looks, stacks): (u64, bool)) {
    let system = env.cap("system");
    let machine = Machine { looks, ..sched::machine() };
    answer.row(Row::Machine(machine));
    // Their figures belong to the instant above: stacks take long.
    sched::reservations(system).for_each(|one| answer.row(Row::Reservation(one)));
    for (_, slot) in env.caps() {
        let is_reservation = cap::inspect(slot).is_ok_and(|held| held.kind == Kind::Reservation);
        if let (true, Ok(held)) = (is_reservation, sched::held(slot)) {
            answer.row(Row::Held(kept.tell(held)));
            kept.windows(held.slot).for_each(|window| answer.row(Row::Window(window)));
        }
    }
    sched::domains(system).for_each(|domain| answer.row(Row::Domain(domain)));
    for thread in sched::threads(system, machine.cpus) {
        let stack = stacks.then(|| sched::stack(system, thread.index)).flatten();
        let thread =
            stack.map_or(thread, |it| Thread { stack_used: it.used, stack: it.size, ..thread });
        answer.row(Row::Thread(thread));
    }
}
