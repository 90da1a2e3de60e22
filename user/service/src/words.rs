//! Words of a message, in their order.

use rt::abi::message::{MAX_WORDS, REGISTER_WORDS};
use rt::{Buffer, Error, Info, Message, OwnedSlot, Request, Rights, Slot};

/// The longest `&str` or `&[u8]`, in bytes.
pub const MAX_BYTES: usize = 480;
/// Bytes in a word.
const WORD: usize = 8;

/// A message to which values append their words.
pub struct Outgoing {
    first: [u64; REGISTER_WORDS],
    length: usize,
    /// How many of the first words may have a value.
    registers: usize,
    buffer: Option<Buffer>,
    /// Whether a capability goes with it, which the buffer names.
    grants: bool,
}

impl Outgoing {
    /// Begins a message of so many words; none if it needs a buffer and there is none.
    #[doc(hidden)]
    #[inline(always)]
    pub fn begin(words: usize, buffer: Option<Buffer>) -> Option<Outgoing> {
        let fits = words <= REGISTER_WORDS || buffer.is_some();
        let registers = if words < REGISTER_WORDS { words } else { REGISTER_WORDS };
        let first = [0; REGISTER_WORDS];
        fits.then_some(Outgoing { first, length: 0, registers, buffer, grants: false })
    }

    /// Appends a word.
    #[inline(always)]
    pub fn word(&mut self, value: u64) {
        match (self.length, self.buffer) {
            (at @ 0..REGISTER_WORDS, _) => self.first[at] = value,
            (at @ REGISTER_WORDS..MAX_WORDS, Some(buffer)) => buffer.0.set(at, value),
            // Only a type that puts more words than it says gets here, and is refused for its
            // length.
            _ => return,
        }
        self.length += 1;
    }

    /// Sends a capability along. Without a buffer none goes: a type that has one is refused then.
    #[inline(always)]
    pub(crate) fn grant(&mut self, slot: Slot, rights: Rights) {
        if let Some(buffer) = self.buffer {
            buffer.offer(slot, rights);
            self.grants = true;
        }
    }

    /// Appends a length in bytes and bytes.
    #[doc(hidden)]
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let words = bytes.len().div_ceil(8);
        if bytes.len() > MAX_BYTES || self.length + 1 + words > MAX_WORDS {
            return Err(Error::TooLong);
        }
        if self.length + 1 + words > REGISTER_WORDS && self.buffer.is_none() {
            return Err(Error::NoBuffer);
        }
        self.registers = REGISTER_WORDS;
        self.word(bytes.len() as u64);
        self.packed(bytes);
        Ok(())
    }

    /// Appends bytes, eight in a word, the last one filled up with zeros: the same as their words
    /// one by one, but faster. Their number is not told.
    pub fn packed(&mut self, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<WORD>();
        let in_registers = REGISTER_WORDS.saturating_sub(self.length).min(whole.len());
        let (first, whole) = whole.split_at(in_registers);
        first.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let end = self.length + whole.len();
        // As of `word`: what does not fit is left out.
        if let Some(buffer) = self.buffer.filter(|_| !whole.is_empty() && end <= MAX_WORDS) {
            buffer.0.write(WORD * self.length, whole.as_flattened());
            self.length = end;
        }
        if !rest.is_empty() {
            let mut word = [0; WORD];
            word[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// Its descriptor under a label.
    #[inline(always)]
    pub(crate) fn info(&self, label: u32) -> Info {
        let info = Info::new(label, self.length);
        if self.grants { info.with_capability() } else { info }
    }

    /// The words that go in registers, and how many of them mean something at most.
    #[inline(always)]
    pub(crate) fn registers(&self) -> (usize, [u64; REGISTER_WORDS]) {
        (self.registers, self.first)
    }

    /// The message under a label.
    #[inline(always)]
    pub(crate) fn message(self, label: u32) -> Message {
        Message { info: self.info(label), words: self.first }
    }
}

/// A message from which values take their words.
pub struct Incoming {
    first: [u64; REGISTER_WORDS],
    at: usize,
    length: usize,
    buffer: Option<Buffer>,
    capability: Option<OwnedSlot>,
}

impl Incoming {
    /// The words of a request that must have so many, and its capability if it may have one; none
    /// if it has others, or if they are more than four and the server has no buffer.
    #[doc(hidden)]
    #[inline(always)]
    pub fn exactly(request: &Request, words: usize, capabilities: usize) -> Option<Incoming> {
        (request.len() == words).then_some(())?;
        Incoming::of(request, words, capabilities)
    }

    /// The words of a request that has more than so many, of which [`Incoming::bytes`] takes all
    /// the others.
    #[doc(hidden)]
    #[inline]
    pub fn more_than(request: &Request, words: usize, capabilities: usize) -> Option<Incoming> {
        let length = request.len();
        (words < length && length <= MAX_WORDS).then_some(())?;
        Incoming::of(request, length, capabilities)
    }

    #[inline(always)]
    fn of(request: &Request, words: usize, capabilities: usize) -> Option<Incoming> {
        let capability = if capabilities > 0 { request.take_capability() } else { None };
        Incoming::new(request.received().words, words, request.buffer(), capability)
    }

    /// The words of a message, and its capability if it has one; none if some words are in a buffer
    /// that is missing.
    #[inline(always)]
    pub(crate) fn new(
        first: [u64; REGISTER_WORDS],
        length: usize,
        buffer: Option<Buffer>,
        capability: Option<OwnedSlot>,
    ) -> Option<Incoming> {
        let reached = length <= REGISTER_WORDS || buffer.is_some();
        reached.then_some(Incoming { first, at: 0, length, buffer, capability })
    }

    /// Takes the capability of the message.
    #[inline(always)]
    pub(crate) fn capability(&mut self) -> Option<OwnedSlot> {
        self.capability.take()
    }

    /// The next word; 0 behind the last.
    #[inline(always)]
    pub fn word(&mut self) -> u64 {
        let word = match (self.at, self.buffer) {
            (at, _) if at >= self.length => 0,
            (at @ 0..REGISTER_WORDS, _) => self.first[at],
            (at @ REGISTER_WORDS..MAX_WORDS, Some(buffer)) => buffer.0.get(at),
            _ => 0,
        };
        self.at += 1;
        word
    }

    /// The bytes that are the rest of the message, with their length before them; none if that is
    /// not the length.
    #[doc(hidden)]
    pub fn bytes<'a>(&mut self, room: &'a mut [u8; MAX_BYTES]) -> Option<&'a [u8]> {
        let length = usize::try_from(self.word()).ok().filter(|length| *length <= MAX_BYTES)?;
        (self.at + length.div_ceil(8) == self.length).then_some(())?;
        let bytes = room.get_mut(..length)?;
        self.packed(bytes)?;
        Some(bytes)
    }

    /// Takes so many bytes, which are eight in a word; none if there are fewer words.
    pub fn packed(&mut self, bytes: &mut [u8]) -> Option<()> {
        (self.at + bytes.len().div_ceil(WORD) <= self.length).then_some(())?;
        let in_registers = WORD * REGISTER_WORDS.saturating_sub(self.at);
        let (first, rest) = bytes.split_at_mut(in_registers.min(bytes.len()));
        for part in first.chunks_mut(WORD) {
            part.copy_from_slice(&self.word().to_le_bytes()[..part.len()]);
        }
        if !rest.is_empty() {
            self.buffer?.0.read(WORD * self.at, rest);
            self.at += rest.len().div_ceil(WORD);
        }
        Some(())
    }

    /// [`Incoming::bytes`] that are UTF-8.
    #[doc(hidden)]
    pub fn text<'a>(&mut self, room: &'a mut [u8; MAX_BYTES]) -> Option<&'a str> {
        core::str::from_utf8(self.bytes(room)?).ok()
    }
}
