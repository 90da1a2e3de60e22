//! The trace: it changes nothing, it tells the truth, and it counts what it loses.

use crate::agreement::runner::{Runner, Told, repeatable, same};
use crate::support::board::Board;
use crate::support::effort::{INTERPRETED, seeds, some, steps};
use crate::support::host::{Host, SPARE};
use crate::support::programs::{Action, MANAGE, TALK};
use crate::support::rng::Rng;
use crate::support::town::{self, Plan};
use abi::PAGE;
use abi::call::Call;
use abi::trace::{Event, HEADER_WORDS, Keep, NO_THREAD, PAGE_RECORDS, Record};
use abi::trace::{WORD_CAPACITY, WORD_COST, WORD_EVENTS, WORD_TURN};
use kernel::port::Port;
use kernel::system::{Fastpath, IpcHeap, IpcScan, StrictEager, System, Traced};
use proptest::prelude::*;
use std::sync::atomic::Ordering::Relaxed;

/// Begins a trace in the pages of a board's memory that the kernel did not get.
fn begin<S: System<Port = Host>>(board: &Board<S>, pages: u64, keep: Keep) -> u64 {
    let at = board.host.spare();
    let name = board.machine.kernel.variant.name;
    board.machine.cpu.begin_trace(name, 1, [at, pages], keep, Event::EVERY);
    at
}

/// A word of the memory at `at`.
fn word(host: &Host, at: u64, index: usize) -> u64 {
    let per_page = HEADER_WORDS;
    host.frame(at + (index / per_page) as u64 * PAGE)[index % per_page].load(Relaxed)
}

/// The record at a place.
fn record(host: &Host, at: u64, place: u64) -> Record {
    let first = HEADER_WORDS + 2 * place as usize;
    let words = [word(host, at, first), word(host, at, first + 1)];
    Record::from_words(words).expect("a record")
}

/// What the records so far say about the kernel.
#[derive(Default)]
struct Story {
    read: u64,
    running: u16,
    /// Threads in the ready queue.
    queued: u16,
    /// Whether the kernel is entered.
    inside: bool,
    seen: u64,
}

impl Story {
    fn read(&mut self, host: &Host, at: u64) {
        let events = word(host, at, WORD_EVENTS);
        let capacity = word(host, at, WORD_CAPACITY);
        assert!(events - self.read < capacity, "one action fills the trace");
        for number in self.read..events {
            self.take(record(host, at, number % capacity));
        }
        self.read = events;
    }

    fn take(&mut self, record: Record) {
        self.seen |= record.event.bit();
        match record.event {
            Event::Enter => {
                assert!(!self.inside && record.thread == self.running, "{record:?}");
                self.inside = true;
            }
            Event::Exit => {
                assert!(self.inside && record.thread == self.running, "{record:?}");
                self.inside = false;
            }
            Event::Switch => {
                assert!(u32::from(self.running) == record.argument, "{record:?}");
                self.running = record.thread;
            }
            Event::Insert => {
                self.queued += 1;
                assert!(record.extra == self.queued, "{record:?}, {} queued", self.queued);
            }
            Event::Remove => {
                self.queued -= 1;
                assert!(record.extra == self.queued, "{record:?}, {} queued", self.queued);
            }
            Event::LookUp => self.queued -= record.argument as u16,
            _ => {}
        }
    }
}

/// The same actions under a kernel and under its traced instance. Returns the events that came.
fn lockstep<S: System<Port = Host>>(seed: u64, actions: u64) -> u64 {
    let told = Told::new(seed);
    let rng = Rng::new(seed);
    let plan = Plan { unique: false, handlers: rng.once_in(2), seed };
    let noise = rng.pick(&[0, 3, 20]);
    let plain: Board<S> = town::boot(&plan);
    let traced: Board<Traced<S>> = town::boot(&plan);
    let at = begin(&traced, SPARE as u64, Keep::Last);
    let mut says = Story {
        running: traced.running().unwrap_or(0) as u16,
        queued: traced.machine.cpu.ready.length(),
        ..Story::default()
    };
    let mix = [TALK, MANAGE][seed as usize % 2];
    let [plain, traced]: [&dyn Runner; 2] = [&plain, &traced];
    for runner in [plain, traced] {
        runner.host().noise_once_in.set(noise);
    }
    for number in 0..actions {
        told.action.set(number);
        let mut action = plain.choose(&rng, &mix);
        if let Action::Call { regs, .. } = &mut action
            && regs.number as u8 == Call::Observe as u8
        {
            regs.number = Call::Null as u64;
        }
        plain.act(&action);
        traced.act(&action);
        if plain.ended() {
            break;
        }
        same(plain, traced, [&plain.observe(true), &traced.observe(true)]);
        says.read(traced.host(), at);
        let running = traced.running().unwrap_or(0);
        assert!(u32::from(says.running) == running, "the trace says {}", says.running);
        let queued = traced.machine().cpu.ready.length();
        assert!(says.queued == queued, "{} are queued, by the trace {}", queued, says.queued);
    }
    says.seen
}

/// Kernels with one of every kind of path and of queue: with trace points each is compiled again.
const FOUR: [fn(u64, u64) -> u64; 4] = [
    lockstep::<Fastpath<Host>>,
    lockstep::<StrictEager<Host>>,
    lockstep::<IpcScan<Host>>,
    lockstep::<IpcHeap<Host>>,
];

#[test]
fn traced_kernels_do_the_same_and_say_so() {
    let mut seen = 0;
    for lockstep in some(&FOUR) {
        for seed in seeds(0x8900_0000..0x8900_0004) {
            seen |= lockstep(seed, steps(1_000));
        }
    }
    let by_programs = [Event::Mark, Event::UserBefore, Event::UserAfter];
    let of_several = [Event::Ipi, Event::Lock, Event::Unlock, Event::Undone];
    for event in Event::ALL {
        let others =
            by_programs.contains(&event) || of_several.contains(&event) || event == Event::Reserve;
        let wanted = !others && event != Event::Thread;
        assert!(INTERPRETED || !wanted || seen & event.bit() != 0, "no {event:?} came");
    }
}

#[test]
fn every_event_is_recorded() {
    const EVENTS: u64 = 10_000;
    let board: Board<kernel::system::DirectLazy<Host>> =
        town::boot(&Plan { unique: false, handlers: false, seed: 1 });
    let at = begin(&board, SPARE as u64, Keep::Last);
    let capacity = word(board.host, at, WORD_CAPACITY);
    for number in 0..EVENTS {
        board.machine.cpu.note_event(Event::Mark, number as u32, 0);
        assert_eq!(word(board.host, at, WORD_EVENTS), number + 1);
        assert_eq!(u64::from(record(board.host, at, number % capacity).argument), number);
    }
}

#[test]
fn what_turning_a_page_takes_is_measured() {
    for keep in [Keep::First, Keep::Last] {
        let board: Board<kernel::system::DirectLazy<Host>> =
            town::boot(&Plan { unique: false, handlers: false, seed: 1 });
        // Who turns a page looks up the header and the next one; who only writes has both.
        board.host.frame_takes.set(7);
        let at = begin(&board, 3, keep);
        let costs = [WORD_COST, WORD_TURN].map(|index| word(board.host, at, index));
        assert_eq!(costs, [0, 14], "{keep:?}");
    }
}

proptest! {
    #![proptest_config(repeatable(40))]

    /// Any number of events in any room: the count is exact, and the right ones are kept.
    #[test]
    fn what_has_no_room_is_counted(pages in 2_u64..6, events in 0_u64..1_500, last: bool) {
        let board: Board<kernel::system::DirectLazy<Host>> =
            town::boot(&Plan { unique: false, handlers: false, seed: 1 });
        let keep = if last { Keep::Last } else { Keep::First };
        let at = begin(&board, pages, keep);
        for number in 0..events {
            board.host.advance(1);
            board.machine.cpu.note_event(Event::Mark, number as u32, 7);
        }
        let capacity = word(board.host, at, WORD_CAPACITY);
        prop_assert_eq!(capacity, (pages - 1) * PAGE_RECORDS as u64);
        prop_assert_eq!(word(board.host, at, WORD_EVENTS), events);
        let kept = events.min(capacity);
        let first = if last { events - kept } else { 0 };
        for number in first..first + kept {
            let record = record(board.host, at, number % capacity);
            prop_assert_eq!(u64::from(record.argument), number);
            prop_assert_eq!((record.thread, record.extra), (NO_THREAD, 7));
            prop_assert_eq!(record.event, Event::Mark);
        }
    }
}
