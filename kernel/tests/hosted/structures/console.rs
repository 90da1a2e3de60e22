//! The console's ring.

use crate::support::host::{Host, QUEUE};
use abi::Error;
use kernel::console::{Console, ENTRY, REPORTS, SHARE};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Places of domains, the kernel's own among them.
const PLACES: usize = 4;

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    /// A domain writes so many bytes.
    Write(u32, u8, bool),
    /// The kernel reports so many bytes.
    Report(usize),
    /// The console sends its queue, and interrupts if that is wanted.
    Sent,
    /// The run might end.
    Empty,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..PLACES as u32, 0..=ENTRY as u8, any::<bool>())
            .prop_map(|(place, length, lines)| Step::Write(place, length, lines)),
        3 => (1..1200_usize).prop_map(Step::Report),
        12 => Just(Step::Sent),
        1 => Just(Step::Empty),
    ]
}

/// The same, plainly: entries with their places.
#[derive(Default)]
struct Model {
    waiting: VecDeque<(u32, Vec<u8>)>,
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
        self.waiting.push_back((place, text.to_vec()));
        self.drain();
        Ok(())
    }

    fn report(&mut self, text: &[u8]) {
        let lost = match self.lost {
            0 => String::new(),
            lost => format!("console: reports lost: {lost:#018x}\n"),
        };
        let all = [lost.as_bytes(), text].concat();
        let entries: Vec<&[u8]> = all.chunks(ENTRY).collect();
        if self.count(0) + entries.len() > REPORTS as usize {
            self.lost += 1;
            return;
        }
        self.lost = 0;
        self.waiting.extend(entries.iter().map(|entry| (0, entry.to_vec())));
        self.drain();
    }

    fn drain(&mut self) {
        // The device's queue is empty, or takes nothing.
        let mut room = std::mem::take(&mut self.room);
        let full = room;
        while let Some((_, text)) = self.waiting.front_mut() {
            let takes = 1 + usize::from(text[0] == b'\n');
            if takes > room {
                break;
            }
            room -= takes;
            self.output.push(text.remove(0));
            if text.is_empty() {
                self.waiting.pop_front();
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
                Step::Report(length) => {
                    let text = text(number, length, true);
                    let mut report = console.report();
                    text.chunks(7).for_each(|part| report.write(part));
                    report.finish(host);
                    model.report(&text);
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
