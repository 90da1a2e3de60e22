//! Files without a name that the emulator and the laboratory share, and finding things in the
//! machine's memory after a run.

use super::Emulator;
use crate::failure::usage;
use abi::PAGE;
use abi::boot::{HEADER_WORDS, MAGIC, WORD_BYTES, WORD_MAGIC, WORD_NONCE};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Where files live in memory.
pub const MEMORY_FILES: &str = "/dev/shm";

/// Whether there is room for this many bytes in memory. Containers often have little, and an
/// emulator that runs out of it dies.
fn has_room(bytes: u64) -> bool {
    let room = rustix::fs::statvfs(MEMORY_FILES);
    room.is_ok_and(|room| room.f_bavail.saturating_mul(room.f_frsize) > bytes)
}

/// A file that has no name and so vanishes with its last user, however that ends.
pub struct SharedFile {
    file: File,
}

impl SharedFile {
    /// An empty file of this size, in memory if possible.
    pub fn new(bytes: u64) -> Result<SharedFile> {
        let in_memory = has_room(bytes).then(|| tempfile::tempfile_in(MEMORY_FILES).ok());
        let file = match in_memory.flatten() {
            Some(file) => file,
            None => tempfile::tempfile().map_err(|error| {
                let directory = std::env::temp_dir().display().to_string();
                usage(format!(
                    "cannot create a file, neither in /dev/shm nor in {directory}: {error}"
                ))
            })?,
        };
        file.set_len(bytes)?;
        Ok(SharedFile { file })
    }

    /// A file with these contents.
    pub fn with(contents: &[u8]) -> Result<SharedFile> {
        let mut shared = SharedFile::new(0)?;
        shared.file.write_all(contents).context("cannot write a temporary file")?;
        Ok(shared)
    }

    /// The memory of a machine that another process runs, at its [`path`](SharedFile::path).
    pub fn open(path: &Path) -> std::io::Result<SharedFile> {
        let file = File::options().read(true).write(true).open(path)?;
        Ok(SharedFile { file })
    }

    /// Whether this process alone uses it by this function now; waits until it does.
    pub fn lock(&self) -> std::io::Result<()> {
        self.file.lock()
    }

    /// Ends what [`lock`](SharedFile::lock) began.
    pub fn unlock(&self) -> std::io::Result<()> {
        self.file.unlock()
    }

    /// A path under which another process of this user opens it while this one holds it.
    pub fn path(&self) -> PathBuf {
        let descriptor = self.file.as_raw_fd();
        Path::new("/proc").join(std::process::id().to_string()).join(format!("fd/{descriptor}"))
    }

    /// Reads bytes at an offset.
    pub fn read(&self, offset: u64, bytes: usize) -> Result<Vec<u8>> {
        let mut buffer = vec![0; bytes];
        self.file
            .read_exact_at(&mut buffer, offset)
            .with_context(|| format!("cannot read {bytes} bytes of memory at {offset:#x}"))?;
        Ok(buffer)
    }

    /// Writes bytes at an offset.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file
            .write_all_at(bytes, offset)
            .with_context(|| format!("cannot write {} bytes of memory", bytes.len()))
    }

    /// A word of the boot archive with this nonce, at a byte offset, as the kernel left it; none
    /// while the archive is not there.
    pub fn archive_word(&self, nonce: u64, offset: u64) -> Result<Option<u64>> {
        let Some(archive) = self.find_archive(nonce)? else { return Ok(None) };
        Ok(word_at(&self.read(archive + offset, WORD)?, 0))
    }

    /// Offset of the boot archive with this nonce: it starts at a page, near the top.
    fn find_archive(&self, nonce: u64) -> Result<Option<u64>> {
        let pages = self.file.metadata()?.len() / PAGE;
        let mut header = [0; HEADER_WORDS * WORD];
        for page in (0..pages).rev() {
            self.file.read_exact_at(&mut header, page * PAGE)?;
            let word = |index: usize| word_at(&header, index);
            if word(WORD_MAGIC) == Some(MAGIC) && word(WORD_NONCE) == Some(nonce) {
                return Ok(Some(page * PAGE));
            }
        }
        Ok(None)
    }

    /// The boot archive with this nonce as the kernel left it.
    pub fn archive(&self, nonce: u64) -> Result<Vec<u8>> {
        let Some(offset) = self.find_archive(nonce)? else {
            bail!("the boot archive is not in the machine's memory: the kernel overwrote it");
        };
        let header = self.read(offset, HEADER_WORDS * WORD)?;
        let bytes = word_at(&header, WORD_BYTES).context("the header ends early")?;
        self.read(offset, usize::try_from(bytes)?)
    }

    /// Physical memory of a machine whose memory this file is.
    pub fn physical(&self, machine: &dyn Emulator, address: u64, bytes: u64) -> Result<Vec<u8>> {
        let offset = machine
            .memory_offset(address)
            .with_context(|| format!("physical address {address:#x} is not in the memory file"))?;
        self.read(offset, usize::try_from(bytes)?)
    }
}

/// Bytes in a word.
pub const WORD: usize = size_of::<u64>();

/// A little-endian word of some bytes.
pub fn word_at(bytes: &[u8], index: usize) -> Option<u64> {
    let word = bytes.get(index * WORD..(index + 1) * WORD)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_into_memory_is_told() {
        assert!(!has_room(u64::MAX));
    }

    #[test]
    fn another_process_can_open_it_although_it_has_no_name() {
        let file = SharedFile::with(b"contents").unwrap();
        let output = std::process::Command::new("cat").arg(file.path()).output().unwrap();
        assert_eq!(output.stdout, b"contents");
        let path = std::fs::read_link(file.path()).unwrap();
        assert!(!path.exists(), "{} has a name", path.display());
    }

    #[test]
    fn the_archive_with_the_right_nonce_is_found() {
        let memory = SharedFile::new(64 * PAGE).unwrap();
        let put = |page: u64, nonce: u64| {
            let mut words = [0u64; HEADER_WORDS];
            (words[WORD_MAGIC], words[WORD_NONCE], words[WORD_BYTES]) = (MAGIC, nonce, 80);
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            memory.file.write_all_at(&bytes, page * PAGE).unwrap();
        };
        put(60, 1);
        put(40, 2);
        assert_eq!(memory.find_archive(2).unwrap(), Some(40 * PAGE));
        assert_eq!(memory.archive(1).unwrap().len(), 80);
        assert!(memory.archive(3).is_err());
    }
}
