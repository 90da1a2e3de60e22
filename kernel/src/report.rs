//! What the kernel tells the console. It is kept as it is, and put together part by part as the
//! console takes it: no section makes the whole line.

use abi::message::FaultKind;

/// How many parts there are. The last one is never empty.
const PARTS: u8 = 11;
/// How many bytes are put together at a time.
const PIECE: usize = 16;

/// A fault, as a port reports it.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// Address or detail.
    pub detail: u64,
    /// The machine's error code.
    pub code: u64,
}

/// The name of the manifest's domain that a thread is in, of the inner one that it is in if it is,
/// and its own; zeros: none.
pub type Names = ([u64; 2], Option<[u64; 2]>, [u64; 2]);

/// A line.
#[derive(Clone, Copy)]
pub struct Report {
    /// The fault that it is about, if it is.
    pub of: Option<Faulted>,
    /// The end of the line: what becomes of the thread.
    pub end: &'static str,
    /// Reports that were dropped since the one before it.
    pub lost: u64,
}

/// A fault of a thread.
#[derive(Clone, Copy)]
pub struct Faulted {
    /// What has happened.
    pub fault: Fault,
    /// What the thread and its domains are called.
    pub names: Names,
    /// The thread's index.
    pub thread: u32,
    /// Where the thread was.
    pub instruction: u64,
}

/// A part of a line: a text, and what comes behind it.
#[derive(Clone, Copy)]
pub struct Part {
    before: &'static str,
    then: Then,
}

#[derive(Clone, Copy)]
enum Then {
    Text(&'static str),
    /// A name, as in [`abi::boot::name_bytes`].
    Name([u64; 2]),
    /// A number, in hexadecimal.
    Number(u64),
}

impl Report {
    /// A line that is empty.
    pub const EMPTY: Report = Report { of: None, end: "", lost: 0 };

    /// The first part from this one on that is not empty, and the number of the next one, if it is
    /// not the last.
    pub fn part(&self, mut number: u8) -> (Part, Option<u8>) {
        let mut part = self.part_of(number);
        while part.length() == 0 && number < PARTS {
            number += 1;
            part = self.part_of(number);
        }
        (part, Some(number + 1).filter(|next| *next < PARTS))
    }

    /// A domain that a program made stands behind the manifest's that it is in, with a `/` that no
    /// name has: no program can fault under another one's name.
    fn part_of(&self, number: u8) -> Part {
        match (number, self.of) {
            (0, _) if self.lost > 0 => Part::number("console: reports lost: 0x", self.lost),
            (1, _) if self.lost > 0 => Part::text("", "\n"),
            (2..10, Some(of)) => of.part(number),
            (10, _) => Part::text(self.end, "\n"),
            _ => Part::NONE,
        }
    }
}

impl Faulted {
    fn part(&self, number: u8) -> Part {
        let (outer, inner, of_thread) = self.names;
        match (number, inner) {
            (2, _) => Part::text("fault: ", self.fault.kind.name()),
            (3, _) => Part::name(", domain ", outer),
            (4, Some(inner)) => Part::name("/", inner),
            (5, _) => Part::number(", thread 0x", self.thread.into()),
            (6, _) if of_thread != [0; 2] => Part::name(" ", of_thread),
            (7, _) => Part::number(", detail 0x", self.fault.detail),
            (8, _) => Part::number(", code 0x", self.fault.code),
            (9, _) => Part::number(", at 0x", self.instruction),
            _ => Part::NONE,
        }
    }
}

impl Part {
    const NONE: Part = Part::text("", "");

    const fn text(before: &'static str, text: &'static str) -> Part {
        Part { before, then: Then::Text(text) }
    }

    const fn name(before: &'static str, name: [u64; 2]) -> Part {
        Part { before, then: Then::Name(name) }
    }

    const fn number(before: &'static str, number: u64) -> Part {
        Part { before, then: Then::Number(number) }
    }

    /// Its bytes.
    pub fn length(&self) -> usize {
        let behind = match self.then {
            Then::Text(text) => text.len(),
            Then::Name([low, 0]) => used(low),
            Then::Name([_, high]) => 8 + used(high),
            Then::Number(_) => 16,
        };
        self.before.len() + behind
    }

    /// Some of its bytes, from this one on, and how many.
    pub fn piece(&self, from: usize) -> ([u8; PIECE], usize) {
        let mut bytes = [0; PIECE];
        let length = PIECE.min(self.length().saturating_sub(from));
        for (at, to) in (from..).zip(&mut bytes[..length]) {
            *to = self.byte(at);
        }
        (bytes, length)
    }

    /// A byte of it. Without the formatter, whose text would weigh more than the rest of fault
    /// handling, and not inlined, as sixteen of them would.
    #[inline(never)]
    fn byte(&self, number: usize) -> u8 {
        let Some(at) = number.checked_sub(self.before.len()) else {
            return self.before.as_bytes()[number];
        };
        match self.then {
            Then::Text(text) => text.as_bytes().get(at).copied().unwrap_or(0),
            Then::Name(words) => (words[at / 8 % 2] >> (8 * (at % 8))) as u8,
            Then::Number(number) => digit(number >> (60 - 4 * (at % 16))),
        }
    }
}

/// The bytes of a word up to the last one that is not 0.
fn used(word: u64) -> usize {
    8 - word.leading_zeros() as usize / 8
}

/// The last digit of a number in hexadecimal.
fn digit(number: u64) -> u8 {
    b"0123456789abcdef"[(number & 15) as usize]
}

/// A number in hexadecimal.
#[inline(never)]
pub fn hex(value: u64) -> [u8; 18] {
    let mut text = *b"0x0000000000000000";
    let mut rest = value;
    for to in text.iter_mut().rev() {
        // Else the compiler writes sixteen steps out.
        if rest == 0 {
            break;
        }
        *to = digit(rest);
        rest >>= 4;
    }
    text
}
