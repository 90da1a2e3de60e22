//! Ways into the kernel, by name.

use abi::call::Call;
use abi::trace::entry;
use serde::{Serialize, Serializer};
use std::fmt;

/// A way into the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// A system call with this number.
    Call(u8),
    /// A system call with any number that means nothing.
    NoCall,
    /// The timer interrupt.
    Timer,
    /// An interrupt for nothing that concerns the core.
    Spurious,
    /// A fault.
    Fault,
    /// An IPI: the interrupt of another CPU.
    Ipi,
    /// A device's IRQ.
    Irq(u32),
    /// A code that stands for nothing.
    Unknown(u32),
}

impl Entry {
    /// The way in with this [code](entry).
    pub fn from_code(code: u32) -> Entry {
        match code {
            0..=entry::LAST_CALL => Entry::Call(code as u8),
            entry::TIMER => Entry::Timer,
            entry::SPURIOUS => Entry::Spurious,
            entry::FAULT => Entry::Fault,
            entry::IPI => Entry::Ipi,
            entry::IRQ_0.. => Entry::Irq(code - entry::IRQ_0),
            _ => Entry::Unknown(code),
        }
    }

    /// What stands for it where entries are counted: all numbers that mean nothing are one.
    pub fn kind(self) -> Entry {
        match self {
            Entry::Call(number) if Call::from_number(number.into()).is_none() => Entry::NoCall,
            entry => entry,
        }
    }

    /// Whether a program asked for it.
    pub fn is_call(self) -> bool {
        matches!(self, Entry::Call(_) | Entry::NoCall)
    }

    /// Whether a device, the timer or another CPU asked for it.
    pub fn is_interrupt(self) -> bool {
        matches!(self, Entry::Timer | Entry::Spurious | Entry::Ipi | Entry::Irq(_))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entry::Call(number) => match Call::from_number(u64::from(*number)) {
                Some(call) => f.write_str(&dashed(&format!("{call:?}"))),
                None => write!(f, "call {number}"),
            },
            Entry::NoCall => f.write_str("unknown-call"),
            Entry::Timer => f.write_str("timer"),
            Entry::Spurious => f.write_str("spurious"),
            Entry::Fault => f.write_str("fault"),
            Entry::Ipi => f.write_str("IPI"),
            Entry::Irq(irq) => write!(f, "IRQ {irq}"),
            Entry::Unknown(code) => write!(f, "entry {code:#x}"),
        }
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// `ReplyWait` as `reply-wait`.
pub(crate) fn dashed(name: &str) -> String {
    let mut dashed = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !dashed.is_empty() {
            dashed.push('-');
        }
        dashed.push(letter.to_ascii_lowercase());
    }
    dashed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_mean_nothing_are_one_kind() {
        let kinds = [200, 201, 1, 0x100].map(|code| Entry::from_code(code).kind());
        assert_eq!(kinds, [Entry::NoCall, Entry::NoCall, Entry::Call(1), Entry::Timer]);
    }

    #[test]
    fn codes_read_like_names() {
        let codes = [0, 1, 2, 6, 20, 200, 0x100, 0x101, 0x102, 0x103, 0x200, 0x204];
        let names = codes.map(|code| Entry::from_code(code).to_string());
        assert_eq!(
            names.join(", "),
            "ipc, call, reply-wait, clock, cap-inspect, call 200, timer, spurious, fault, \
             IPI, IRQ 0, IRQ 4"
        );
    }
}
