//! Files as a client uses them.

use crate::interface::{Entry, FileError, FilesClient, Handle, MOST_READ, Stat};
use service::CallError;

/// Why a client has no file.
pub type Failure = CallError<FileError>;

/// An open file or folder, which is closed when it is dropped.
///
/// A restarted server knows none of the handles that it gave before: requests fail with
/// [`FileError::NoHandle`] then, and the client opens the file again.
pub struct File {
    files: FilesClient,
    handle: Handle,
    stat: Stat,
}

impl File {
    /// Opens a file or folder. The client has the buffer of its thread (`with_buffer`).
    pub fn open(files: FilesClient, path: &str) -> Result<File, Failure> {
        let (handle, stat) = files.open(path)?;
        Ok(File { files, handle, stat })
    }

    /// What is known of it.
    pub fn stat(&self) -> Stat {
        self.stat
    }

    /// Its handle.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Reads from `offset` on, until `into` is full or the file ends; how many bytes. Makes a
    /// request for each [`MOST_READ`] bytes.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<usize, Failure> {
        let mut done = 0;
        while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let wanted = rest.len().min(MOST_READ);
            let chunk = self.files.read(self.handle, offset + done as u64, wanted as u32)?;
            let bytes = chunk.bytes();
            // A server that sends more than was asked for does no harm.
            let count = bytes.len().min(wanted);
            rest[..count].copy_from_slice(&bytes[..count]);
            done += count;
            if count < wanted {
                break;
            }
        }
        Ok(done)
    }

    /// What lies in the folder, in the order of names.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry, Failure>> {
        (0..self.stat.size).map_while(|cursor| self.files.list(self.handle, cursor).transpose())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // A server that was restarted has closed it.
        let _ = self.files.close(self.handle);
    }
}
