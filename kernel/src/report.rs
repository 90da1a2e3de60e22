//! What the kernel tells the console of a fault. It is kept as it is, and put together part by part
//! as the console takes it: no section makes the whole line.

use crate::manage::Names;
use abi::boot::name_bytes;
use abi::message::FaultKind;

/// The most bytes in a part.
const PART: usize = 48;
/// How many parts there are. The last one is never empty.
const PARTS: u8 = 11;

/// A fault of a thread.
#[derive(Clone, Copy)]
pub struct Report {
    /// What has happened.
    pub kind: FaultKind,
    /// What the thread and its domains are called.
    pub names: Names,
    /// The thread's index.
    pub thread: u32,
    /// Address or detail of the fault.
    pub detail: u64,
    /// The machine's error code.
    pub code: u64,
    /// Where the thread was.
    pub instruction: u64,
    /// What becomes of it: the end of the line.
    pub end: &'static str,
    /// Reports that were dropped since the one before it.
    pub lost: u64,
}

/// Some text of a report.
pub struct Part {
    bytes: [u8; PART],
    length: usize,
}

impl Report {
    /// A report of nothing, for a place where one can be.
    pub const NONE: Report = Report {
        kind: FaultKind::Other,
        names: ([0; 2], None, [0; 2]),
        thread: 0,
        detail: 0,
        code: 0,
        instruction: 0,
        end: "\n",
        lost: 0,
    };

    /// The first part from this one on that is not empty, and the number of the next one, if it is
    /// not the last. Without the formatter, whose text would weigh more than the rest of fault
    /// handling.
    ///
    /// A domain that a program made stands behind the manifest's that it is in, with a `/` that no
    /// name has: no program can fault under another one's name.
    #[inline(never)]
    pub fn part(&self, mut number: u8) -> (Part, Option<u8>) {
        let (outer, inner, of_thread) = self.names;
        let mut part = Part { bytes: [0; PART], length: 0 };
        while part.length == 0 && number < PARTS {
            match number {
                0 if self.lost > 0 => part.write_number("console: reports lost: ", self.lost),
                1 if self.lost > 0 => part.write("\n"),
                2 => part.write_text("fault: ", self.kind.name().as_bytes()),
                3 => part.write_name(", domain ", outer),
                4 => inner.into_iter().for_each(|inner| part.write_name("/", inner)),
                5 => part.write_number(", thread ", self.thread.into()),
                6 if of_thread != [0; 2] => part.write_name(" ", of_thread),
                7 => part.write_number(", detail ", self.detail),
                8 => part.write_number(", code ", self.code),
                9 => part.write_number(", at ", self.instruction),
                10 => part.write(self.end),
                _ => {}
            }
            number += 1;
        }
        (part, (number < PARTS).then_some(number))
    }
}

impl Part {
    /// Its text.
    pub fn text(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    #[inline(never)]
    fn put(&mut self, text: &[u8]) {
        for (to, byte) in self.bytes.iter_mut().skip(self.length).zip(text) {
            *to = *byte;
        }
        self.length = PART.min(self.length + text.len());
    }

    fn write(&mut self, text: &str) {
        self.put(text.as_bytes());
    }

    fn write_text(&mut self, before: &str, text: &[u8]) {
        self.write(before);
        self.put(text);
    }

    fn write_number(&mut self, before: &str, value: u64) {
        self.write_text(before, &hex(value));
    }

    fn write_name(&mut self, before: &str, [low, high]: [u64; 2]) {
        let name = name_bytes([low, high]);
        // A search would be written out, sixteen steps of it.
        let unused = (u128::from(high) << 64 | u128::from(low)).leading_zeros() / 8;
        self.write_text(before, name.get(..name.len() - unused as usize).unwrap_or_default());
    }
}

/// A number in hexadecimal.
#[inline(never)]
pub fn hex(value: u64) -> [u8; 18] {
    let mut text = *b"0x0000000000000000";
    let mut rest = value;
    for digit in text.iter_mut().rev() {
        // Else the compiler writes sixteen steps out.
        if rest == 0 {
            break;
        }
        *digit = b"0123456789abcdef"[(rest & 15) as usize];
        rest >>= 4;
    }
    text
}
