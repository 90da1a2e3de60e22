//! Where things are in the memory of a channel.

/// The sender's and the receiver's words lie in cache lines of their own.
pub(crate) const LINE: usize = 8;
/// The words of each end: what it has published, and whether it waits.
pub(crate) const SENDER: usize = 0;
pub(crate) const RECEIVER: usize = LINE;
pub(crate) const WAITS: usize = 1;

/// The number of buffers of a channel, and their size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    buffers: usize,
    size: usize,
}

impl Layout {
    /// A number of buffers, a power of two up to 64, of so many bytes, a multiple of 8 up to 65528.
    ///
    /// # Panics
    ///
    /// With other numbers.
    pub const fn new(buffers: usize, size: usize) -> Layout {
        assert!(buffers.is_power_of_two() && buffers <= 64, "1, 2, 4 ... 64 buffers");
        assert!(
            size > 0 && size.is_multiple_of(8) && size <= 0xffff,
            "a buffer is 8, 16 ... 65528 bytes"
        );
        Layout { buffers, size }
    }

    /// How many buffers there are.
    pub const fn buffers(self) -> usize {
        self.buffers
    }

    /// The size of a buffer in bytes.
    pub const fn size(self) -> usize {
        self.size
    }

    /// The length of a channel in words.
    pub const fn words(self) -> usize {
        self.buffer(self.buffers) / 8
    }

    /// All buffers, a bit for each.
    pub(crate) const fn all(self) -> u64 {
        u64::MAX >> (64 - self.buffers)
    }

    /// The word of a descriptor of filled buffers, which the sender writes.
    pub(crate) const fn filled(self, count: u32) -> usize {
        2 * LINE + self.place(count)
    }

    /// The word of a descriptor of returned buffers, which the receiver writes.
    pub(crate) const fn returned(self, count: u32) -> usize {
        2 * LINE + self.buffers + self.place(count)
    }

    /// The first byte of a buffer.
    pub(crate) const fn buffer(self, index: usize) -> usize {
        8 * (2 * LINE + 2 * self.buffers) + index * self.size
    }

    const fn place(self, count: u32) -> usize {
        count as usize % self.buffers
    }
}
