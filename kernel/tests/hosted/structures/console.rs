//! The console's ring.

use crate::support::host::{Host, QUEUE};
use abi::Error;
use abi::message::FaultKind;
use kernel::console::{Console, ENTRY, REPORTS, SHARE};
use kernel::fault::Fault;
use kernel::report::{Faulted, Report};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::VecDeque;

/// Places of domains, the kernel's own among them.
const PLACES: usize = 4;

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// A domain writes so many bytes.
    Write(u32, u8, bool),
    /// The kernel reports a fault of a thread, under names of so many letters, with an end.
    Report(u32, [usize; 3], &'static str),
    /// The console sends its queue, and interrupts if that is wanted.
    Sent,
    /// The run might end.
    Empty,
}

/// Ends of reports.
const ENDS: [&str; 3] = ["", "; the run ends", "; the call that has entered fails"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..PLACES as u32, 0..=ENTRY as u8, any::<bool>())
            .prop_map(|(place, length, lines)| Step::Write(place, length, lines)),
        3 => (any::<u32>(), [1..=16_usize, 0..=16, 0..=16], select(&ENDS))
            .prop_map(|(thread, names, end)| Step::Report(thread, names, end)),
        12 => Just(Step::Sent),
        1 => Just(Step::Empty),
    ]
}

/// The same, plainly: entries with their places, of reports the parts.
#[derive(Default)]
struct Model {
    waiting: VecDeque<(u32, VecDeque<Vec<u8>>)>,
    lost: u64,
    /// What the device has taken, and how much fits into its queue now.
    output: Vec<u8>,
    room: usize,
}

impl Model {
    fn count(&self, place: u32) -> usize {
        self.waiting.iter().filter(|(at, _)| *at == place).count()
    }

    fn write(&mut self, place: u32, text: &[u8]) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        if self.count(place) == SHARE as usize {
            return Err(Error::Timeout);
        }
        self.waiting.push_back((place, [text.to_vec()].into()));
        self.drain();
        Ok(())
    }

    fn report(&mut self, parts: impl Iterator<Item = String>) {
        if self.count(0) == REPORTS as usize {
            self.lost += 1;
            return;
        }
        let lost = match std::mem::take(&mut self.lost) {
            0 => [String::new(), String::new()],
            lost => [format!("console: reports lost: {lost:#018x}"), "\n".to_string()],
        };
        let parts = lost.into_iter().chain(parts).filter(|part| !part.is_empty());
        self.waiting.push_back((0, parts.map(String::into_bytes).collect()));
        self.drain();
    }

    fn drain(&mut self) {
        // The device's queue is empty, or takes nothing.
        let mut room = std::mem::take(&mut self.room);
        let full = room;
        let mut piece = 0;
        while let Some((place, parts)) = self.waiting.front_mut() {
            let is_report = *place == 0;
            let text = parts.front_mut().expect("no entry is empty");
            let takes = 1 + usize::from(text[0] == b'\n');
            if takes > room {
                break;
            }
            room -= takes;
            piece += usize::from(is_report);
            self.output.push(text.remove(0));
            let ends = text.is_empty();
            if ends {
                parts.pop_front();
            }
            if parts.is_empty() {
                self.waiting.pop_front();
            }
            // A piece of a report at a time.
            if is_report && (ends || piece == 16) {
                break;
            }
        }
        if room == full {
            self.room = full;
        }
    }

    fn empty(&mut self) {
        while !self.waiting.is_empty() {
            self.room = QUEUE;
            self.drain();
        }
    }
}

/// Text whose bytes tell where it comes from.
fn text(number: usize, length: usize, lines: bool) -> Vec<u8> {
    let byte = |at| if lines && at % 3 == 0 { b'\n' } else { b'!' + ((number + at) % 90) as u8 };
    (0..length).map(byte).collect()
}

/// A name of so many letters.
fn name(length: usize) -> ([u64; 2], String) {
    let name = "abcdefghijklmnop"[..length].to_string();
    let word = |part: usize| {
        let letters = |at: usize| name.as_bytes().get(8 * part + at).copied().unwrap_or(0);
        u64::from_le_bytes(std::array::from_fn(letters))
    };
    ([word(0), word(1)], name)
}

/// A report, and what it says.
fn report(thread: u32, names: [usize; 3], end: &'static str) -> (Report, Vec<String>) {
    let [outer, inner, own] = names.map(name);
    let before = |before: &str, name: &str| match name {
        "" => String::new(),
        name => format!("{before}{name}"),
    };
    let parts = vec![
        "fault: memory".to_string(),
        before(", domain ", &outer.1),
        before("/", &inner.1),
        format!(", thread {thread:#018x}"),
        before(" ", &own.1),
        format!(", detail {:#018x}", 0xbad0),
        format!(", code {:#018x}", 6),
        format!(", at {:#018x}", u64::MAX),
        format!("{end}\n"),
    ];
    let names = (outer.0, (inner.0 != [0; 2]).then_some(inner.0), own.0);
    let fault = Fault { kind: FaultKind::Memory, detail: 0xbad0, code: 6 };
    let of = Some(Faulted { fault, names, thread, instruction: u64::MAX });
    (Report { of, end, lost: 0 }, parts)
}

/// A text and what is behind it in the registers.
fn filled(text: &[u8]) -> [u8; ENTRY] {
    let mut bytes = [b'?'; ENTRY];
    bytes[..text.len()].copy_from_slice(text);
    bytes
}

proptest! {
    #[test]
    fn the_ring_is_a_queue(steps in prop::collection::vec(step(), 0..200)) {
        let (host, mut arena) = Host::new(4, 0);
        let console = Console::carve(&mut arena, PLACES).expect("memory for a ring");
        host.queue.set(Some(0));
        let mut model = Model { room: QUEUE, ..Model::default() };
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Write(place, length, lines) => {
                    let text = text(number, length.into(), lines);
                    let written = console.write(host, place, filled(&text), length);
                    prop_assert_eq!(written, model.write(place, &text));
                }
                Step::Report(thread, names, end) => {
                    let (report, parts) = report(thread, names, end);
                    console.report(host, report);
                    model.report(parts.into_iter());
                }
                Step::Sent => {
                    host.queue.set(Some(0));
                    model.room = QUEUE;
                    if host.wants.get() {
                        console.drain(host, 1);
                        model.drain();
                    }
                }
                Step::Empty => {
                    console.empty(host);
                    model.empty();
                }
            }
            console.check();
            prop_assert_eq!(&*host.output.borrow(), &model.output);
            prop_assert_eq!(console.is_empty(), model.waiting.is_empty());
            prop_assert_eq!(host.wants.get(), !model.waiting.is_empty());
        }
        // SAFETY: the ring is used no more.
        unsafe { host.free() };
    }
}
