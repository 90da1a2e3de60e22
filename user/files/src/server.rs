//! The server of an archive.

use crate::bytes::Bytes;
use crate::interface::{Chunk, Entry, FileError, Files, Handle, Kind, Name, Stat};
use crate::volume::{Corrupt, Node, Volume};
use service::Badge;

/// Clients at most: their badges are 1 to this.
pub const CLIENTS: usize = 16;
/// Handles that each client has at most.
pub const HANDLES: usize = 8;

/// Bits of a handle that name its place among the client's.
const PLACE_BITS: u32 = HANDLES.ilog2();

/// An open file or folder.
#[derive(Clone, Copy)]
struct Open {
    handle: Handle,
    node: Node,
}

/// A server of the files in an archive.
pub struct FileServer<B> {
    volume: Volume<B>,
    corrupt: Option<Corrupt>,
    open: [[Option<Open>; HANDLES]; CLIENTS],
    /// How many handles there were, and a beginning that no former life of the server had.
    given: u64,
}

impl<B: Bytes> FileServer<B> {
    /// A server of the files in `archive`. No handle of it is one of another server whose `life`
    /// differs, for instance the time at which it began in nanoseconds.
    pub fn new(archive: B, life: u64) -> FileServer<B> {
        let (volume, corrupt) = Volume::of(archive);
        FileServer { volume, corrupt, open: [[None; HANDLES]; CLIENTS], given: life }
    }

    /// Why there are no files, if the archive is corrupt.
    pub fn corrupt(&self) -> Option<Corrupt> {
        self.corrupt
    }

    /// How many files and folders there are.
    pub fn count(&self) -> usize {
        self.volume.count()
    }

    /// How many handles all clients have.
    pub fn handles(&self) -> usize {
        self.open.iter().flatten().flatten().count()
    }

    /// The handles of a client.
    fn client(&mut self, who: Badge) -> Result<&mut [Option<Open>; HANDLES], FileError> {
        let number = usize::try_from(who.0).ok().and_then(|badge| badge.checked_sub(1));
        number.and_then(|number| self.open.get_mut(number)).ok_or(FileError::NoClient)
    }

    /// Where a client's handle is kept, if it has it.
    fn find(&mut self, who: Badge, handle: Handle) -> Result<&mut Option<Open>, FileError> {
        let place = handle.0 as usize % HANDLES;
        let kept = &mut self.client(who)?[place];
        let is_it = kept.is_some_and(|open| open.handle == handle);
        is_it.then_some(kept).ok_or(FileError::NoHandle)
    }

    /// What a client's handle leads to, and what that is.
    fn opened(&mut self, who: Badge, handle: Handle) -> Result<(Node, Kind), FileError> {
        let open = *self.find(who, handle)?;
        let node = open.ok_or(FileError::NoHandle)?.node;
        Ok((node, kind(self.volume.is_folder(node))))
    }

    /// What a path leads to.
    fn node(&mut self, who: Badge, path: &str) -> Result<(Node, Stat), FileError> {
        self.client(who)?;
        if self.corrupt.is_some() {
            return Err(FileError::Corrupt);
        }
        let node = self.volume.find(path).ok_or(FileError::NotFound)?;
        Ok((node, stat(&self.volume, node)))
    }
}

fn kind(is_folder: bool) -> Kind {
    if is_folder { Kind::Folder } else { Kind::File }
}

fn stat<B: Bytes>(volume: &Volume<B>, node: Node) -> Stat {
    Stat { kind: kind(volume.is_folder(node)), size: volume.size(node) }
}

impl<B: Bytes> Files for FileServer<B> {
    fn begin(&mut self, who: Badge) -> Result<(), FileError> {
        *self.client(who)? = [None; HANDLES];
        Ok(())
    }

    fn stat(&mut self, who: Badge, path: &str) -> Result<Stat, FileError> {
        self.node(who, path).map(|(_, stat)| stat)
    }

    fn open(&mut self, who: Badge, path: &str) -> Result<(Handle, Stat), FileError> {
        let (node, stat) = self.node(who, path)?;
        let given = self.given;
        let all = self.client(who)?;
        let place = all.iter().position(Option::is_none).ok_or(FileError::TooManyHandles)?;
        let handle = Handle(given << PLACE_BITS | place as u64);
        all[place] = Some(Open { handle, node });
        self.given = given.wrapping_add(1);
        Ok((handle, stat))
    }

    fn close(&mut self, who: Badge, handle: Handle) -> Result<(), FileError> {
        *self.find(who, handle)? = None;
        Ok(())
    }

    fn read(
        &mut self,
        who: Badge,
        handle: Handle,
        offset: u64,
        length: u32,
    ) -> Result<Chunk, FileError> {
        match self.opened(who, handle)? {
            (_, Kind::Folder) => Err(FileError::IsFolder),
            (node, Kind::File) => {
                let read = |into: &mut [u8]| self.volume.read(node, offset, into);
                Ok(Chunk::filled(length as usize, read))
            }
        }
    }

    fn list(
        &mut self,
        who: Badge,
        handle: Handle,
        cursor: u32,
    ) -> Result<Option<Entry>, FileError> {
        let (node, kind) = self.opened(who, handle)?;
        if kind == Kind::File {
            return Err(FileError::IsFile);
        }
        let volume = &self.volume;
        let entry = |node, name: &str| Entry { name: Name::new(name), stat: stat(volume, node) };
        Ok(volume.child(node, cursor, entry))
    }
}
