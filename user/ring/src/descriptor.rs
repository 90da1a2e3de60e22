//! A descriptor: one word, so that it is read and written as a whole.

/// A buffer, the bytes in it, and a mark that the two ends agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub buffer: u16,
    pub length: u16,
    pub mark: u32,
}

impl From<Descriptor> for u64 {
    fn from(descriptor: Descriptor) -> u64 {
        let Descriptor { buffer, length, mark } = descriptor;
        u64::from(mark) << 32 | u64::from(length) << 16 | u64::from(buffer)
    }
}

impl From<u64> for Descriptor {
    fn from(word: u64) -> Descriptor {
        Descriptor { buffer: word as u16, length: (word >> 16) as u16, mark: (word >> 32) as u32 }
    }
}
