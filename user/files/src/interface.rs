//! What a client may ask.

use abi::files::LONGEST_NAME;
use rt::abi::message::MAX_WORDS;
use service::{Badge, Incoming, Outgoing, Wire, service};

/// Words in front of the bytes of a [`Chunk`].
const LENGTH: usize = 1;
/// Bytes that one request reads at most: what a message buffer holds behind their number.
pub const MOST_READ: usize = 8 * (MAX_WORDS - LENGTH);
/// Words of a name.
const NAME_WORDS: usize = LONGEST_NAME / 8;

/// What a path leads to.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
}

/// What is known of a file or folder.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// What it is.
    pub kind: Kind,
    /// Bytes of a file; of a folder, how many files and folders it holds.
    pub size: u32,
}

/// What a client has opened, a number that means something in its own requests only.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub u64);

/// Why a request is refused.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileError {
    /// Nothing has this path.
    NotFound,
    /// It is a folder: list it.
    IsFolder,
    /// It is a file: read it.
    IsFile,
    /// The client has no such handle; it closed it, or the server was restarted since.
    NoHandle,
    /// The client has as many handles as it may have.
    TooManyHandles,
    /// The badge is that of no client.
    NoClient,
    /// The archive is corrupt, so the server has no files.
    Corrupt,
}

/// Some bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    length: usize,
    bytes: [u8; MOST_READ],
}

impl Chunk {
    /// The bytes that a function leaves in the first of so many; it says how many it left.
    pub fn filled(most: usize, fill: impl FnOnce(&mut [u8]) -> usize) -> Chunk {
        let mut bytes = [0; MOST_READ];
        let most = most.min(MOST_READ);
        let length = fill(&mut bytes[..most]).min(most);
        Chunk { length, bytes }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Behind its length a chunk always has all its words: an answer has one length.
impl Wire for Chunk {
    const WORDS: usize = MAX_WORDS;

    fn put(self, to: &mut Outgoing) {
        to.word(self.length as u64);
        put_words(&self.bytes, to);
    }

    fn take(from: &mut Incoming) -> Option<Chunk> {
        let length = usize::try_from(from.word()).ok().filter(|length| *length <= MOST_READ)?;
        let mut bytes = [0; MOST_READ];
        take_words(&mut bytes[..length.next_multiple_of(8)], from);
        Some(Chunk { length, bytes })
    }
}

/// The name of a file or folder in the one that it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    length: usize,
    bytes: [u8; LONGEST_NAME],
}

impl Name {
    /// A name; of a longer one as much as fits.
    pub fn new(name: &str) -> Name {
        let length = name.floor_char_boundary(LONGEST_NAME);
        let mut bytes = [0; LONGEST_NAME];
        bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
        Name { length, bytes }
    }

    /// The name as a text.
    pub fn text(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

impl Wire for Name {
    const WORDS: usize = LENGTH + NAME_WORDS;

    fn put(self, to: &mut Outgoing) {
        to.word(self.length as u64);
        put_words(&self.bytes, to);
    }

    fn take(from: &mut Incoming) -> Option<Name> {
        let length = usize::try_from(from.word()).ok().filter(|length| *length <= LONGEST_NAME)?;
        let mut bytes = [0; LONGEST_NAME];
        take_words(&mut bytes, from);
        core::str::from_utf8(&bytes[..length]).ok()?;
        Some(Name { length, bytes })
    }
}

fn put_words(bytes: &[u8], to: &mut Outgoing) {
    let (words, _) = bytes.as_chunks();
    words.iter().for_each(|word| to.word(u64::from_le_bytes(*word)));
}

fn take_words(bytes: &mut [u8], from: &mut Incoming) {
    let (words, _) = bytes.as_chunks_mut();
    words.iter_mut().for_each(|word| *word = from.word().to_le_bytes());
}

/// One that lies in a folder.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub stat: Stat,
}

/// A server of files. Each request takes a bounded time, whatever it asks for.
///
/// A path has names with a slash between each two, without one in front; the empty path is the
/// root.
#[service]
pub trait Files {
    /// Closes all handles of the client: its first request, so that a restarted client has none of
    /// its former life.
    fn begin(&mut self, who: Badge) -> Result<(), FileError>;
    /// What is known of the file or folder with a path.
    fn stat(&mut self, who: Badge, path: &str) -> Result<Stat, FileError>;
    /// Opens a file or folder.
    fn open(&mut self, who: Badge, path: &str) -> Result<(Handle, Stat), FileError>;
    /// Closes it.
    fn close(&mut self, who: Badge, handle: Handle) -> Result<(), FileError>;
    /// Bytes of a file from `offset` on: `length`, [`MOST_READ`], or as many as there are, whatever
    /// is least; none at the end.
    fn read(
        &mut self,
        who: Badge,
        handle: Handle,
        offset: u64,
        length: u32,
    ) -> Result<Chunk, FileError>;
    /// What stands at the place `cursor` of a folder, from 0, in the order of names; none behind
    /// the last.
    fn list(&mut self, who: Badge, handle: Handle, cursor: u32)
    -> Result<Option<Entry>, FileError>;
}
