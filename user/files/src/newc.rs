//! The entries of a cpio archive of the format `newc`, one after the other.
//!
//! An archive may say anything: each step checks what it reads, and goes on behind the place where
//! it began, so that their number is bounded by the archive's length.

use crate::Corrupt;
use crate::bytes::Bytes;

/// Bytes of an entry's header, in front of its name.
const HEADER: usize = 110;
/// What a header begins with; the second format has a checksum, which is not looked at.
const MAGICS: [&[u8; 6]; 2] = [b"070701", b"070702"];
/// The name of the entry behind the last file.
const TRAILER: &[u8] = b"TRAILER!!!";
/// Names, file contents and headers begin at multiples of this.
const ALIGNMENT: usize = 4;
/// Mask and values of the type of a file in its mode.
const TYPE: u32 = 0o170000;
const FOLDER: u32 = 0o040000;
const FILE: u32 = 0o100000;
/// Fields of a header, by their place behind the magic number.
const MODE: usize = 1;
const FILE_SIZE: usize = 6;
const NAME_SIZE: usize = 11;

/// What lies where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where its name begins, as the archive has it.
    pub name_at: usize,
    /// Bytes of the name.
    pub name: usize,
    /// Where the content begins.
    pub data_at: usize,
    /// Bytes of the content.
    pub size: usize,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// The entries of an archive.
pub struct Entries<B> {
    archive: B,
    at: usize,
}

impl<B: Bytes> Entries<B> {
    /// All entries.
    pub fn of(archive: B) -> Entries<B> {
        Entries { archive, at: 0 }
    }

    /// The next entry; none behind the last.
    pub fn next(&mut self) -> Result<Option<Entry>, Corrupt> {
        let mut header = [0; HEADER];
        let name_at = self.range(self.at, HEADER)?;
        self.archive.copy(self.at, &mut header);
        let magic = &header[..6];
        if !MAGICS.iter().any(|known| magic == *known) {
            return Err(Corrupt::Header);
        }
        // With the zero behind it.
        let name = field(&header, NAME_SIZE)? as usize;
        let size = field(&header, FILE_SIZE)? as usize;
        let data_at = aligned(self.range(name_at, name)?);
        let name = name.checked_sub(1).ok_or(Corrupt::Name)?;
        let mut end = [0; TRAILER.len() + 1];
        if name == TRAILER.len() {
            self.archive.copy(name_at, &mut end);
            if &end[..name] == TRAILER {
                return Ok(None);
            }
        }
        self.at = aligned(self.range(data_at, size)?);
        let is_folder = match field(&header, MODE)? & TYPE {
            FOLDER => true,
            FILE => false,
            _ => return Err(Corrupt::Type),
        };
        Ok(Some(Entry { name_at, name, data_at, size, is_folder }))
    }

    /// The end of so many bytes, if they are there.
    fn range(&self, at: usize, bytes: usize) -> Result<usize, Corrupt> {
        let end = at.checked_add(bytes).filter(|end| *end <= self.archive.count());
        end.ok_or(Corrupt::Short)
    }
}

fn aligned(at: usize) -> usize {
    at.next_multiple_of(ALIGNMENT)
}

/// A field of a header: eight hexadecimal digits.
fn field(header: &[u8; HEADER], number: usize) -> Result<u32, Corrupt> {
    let begin = 6 + 8 * number;
    header[begin..begin + 8].iter().try_fold(0, |value, digit| {
        let digit = char::from(*digit).to_digit(16).ok_or(Corrupt::Header)?;
        Ok(value << 4 | digit)
    })
}
