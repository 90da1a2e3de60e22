//! Messages: the descriptor, and the layout of a thread's message buffer.

/// Message words that travel in registers.
pub const REGISTER_WORDS: usize = 4;

/// The longest message, in 64-bit words. Words from [`REGISTER_WORDS`] on are read from the
/// sender's buffer and written to the receiver's, at their own index.
pub const MAX_WORDS: usize = 128;

/// 64-bit words in a message buffer (one page).
pub const BUFFER_WORDS: usize = 512;

/// Buffer word with the slot of the capability to send, read when [`Info::CAPABILITY`] is set.
pub const BUFFER_SEND_SLOT: usize = 128;
/// Buffer word with the rights that the receiver may get at most.
pub const BUFFER_SEND_RIGHTS: usize = 129;
/// Buffer word with the free slot in which the thread accepts a capability; 0 accepts none.
pub const BUFFER_RECEIVE_SLOT: usize = 130;

/// Describes a message: its length, what else it carries, and a label for the program's use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Info(pub u64);

impl Info {
    /// The message carries a capability.
    pub const CAPABILITY: u64 = 1 << 8;
    /// Set by the kernel: not a message but the bits of a notification, in the badge.
    pub const NOTIFICATION: u64 = 1 << 9;
    /// Set by the kernel: a fault of the thread whose reply right the receiver now holds.
    pub const FAULT: u64 = 1 << 10;
    /// The bits of the length.
    pub const LENGTH: u64 = 0xff;
    /// How far left the label stands.
    pub const LABEL_SHIFT: u32 = 32;

    /// A message of `words` words with a label.
    pub const fn new(label: u32, words: usize) -> Info {
        Info((label as u64) << Info::LABEL_SHIFT | words as u64)
    }

    /// The same message with a capability.
    pub const fn with_capability(self) -> Info {
        Info(self.0 | Info::CAPABILITY)
    }

    /// Length in words; more than [`MAX_WORDS`] is refused with
    /// [`Error::TooLong`](crate::Error::TooLong).
    pub const fn words(self) -> usize {
        (self.0 & Info::LENGTH) as usize
    }

    /// The label, chosen by the sender.
    pub const fn label(self) -> u32 {
        (self.0 >> Info::LABEL_SHIFT) as u32
    }

    /// Whether the message carries a capability.
    pub const fn has_capability(self) -> bool {
        self.0 & Info::CAPABILITY != 0
    }

    /// Whether this is the arrival of a notification.
    pub const fn is_notification(self) -> bool {
        self.0 & Info::NOTIFICATION != 0
    }

    /// Whether this is a fault message.
    pub const fn is_fault(self) -> bool {
        self.0 & Info::FAULT != 0
    }

    /// Whether this is no message of a sender but a notification or a fault.
    pub const fn is_from_kernel(self) -> bool {
        self.0 & (Info::NOTIFICATION | Info::FAULT) != 0
    }

    /// Whether the message fits into registers and carries nothing else: what a fast path takes.
    pub const fn is_short(self) -> bool {
        self.0 as u32 <= REGISTER_WORDS as u32
    }

    /// The descriptor with the bits removed that only the kernel may set.
    pub const fn from_user(self) -> Info {
        Info(self.0 & (0xffff_ffff << Info::LABEL_SHIFT | Info::CAPABILITY | Info::LENGTH))
    }
}

/// What happened, in the label of a fault message. The words are: address or detail,
/// instruction pointer, stack pointer, machine error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum FaultKind {
    /// Access to an address that is not mapped, or not with the needed right.
    Memory = 1,
    /// An instruction that user mode may not execute or that does not exist.
    Instruction = 2,
    /// Division by zero or overflow.
    Arithmetic = 3,
    /// A breakpoint or single step.
    Debug = 4,
    /// Anything else; the first word is the machine's exception number.
    Other = 5,
}

impl FaultKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [FaultKind; 5] = [
        FaultKind::Memory,
        FaultKind::Instruction,
        FaultKind::Arithmetic,
        FaultKind::Debug,
        FaultKind::Other,
    ];

    /// The kind with this code, the label of a fault message.
    pub fn from_code(code: u32) -> Option<FaultKind> {
        FaultKind::ALL.get((code as usize).wrapping_sub(1)).copied()
    }

    /// The kind's name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Memory => "memory",
            FaultKind::Instruction => "instruction",
            FaultKind::Arithmetic => "arithmetic",
            FaultKind::Debug => "debug",
            FaultKind::Other => "other",
        }
    }
}

/// Where programs that panic fault: a memory fault at this address plus that of a place in the
/// program, or plus 0 if it has none. Nothing else lies there. A place is the address of the file's
/// name and its length in bytes, as words, then line and column (0 if it is not known), as halves
/// of a word: so the compiler lays a [`core::panic::Location`] out.
pub const PANIC: u64 = 0x7fff_0000_0000;
/// How far above [`PANIC`] such an address may be: programs lie below.
pub const PANIC_RANGE: u64 = 1 << 32;
/// Exit status of a run that a panicking program ended.
pub const PANIC_STATUS: u64 = 100;
