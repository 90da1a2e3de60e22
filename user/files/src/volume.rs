//! The files of an archive by their paths.

use crate::bytes::Bytes;
use crate::newc::{Entries, Entry};
use abi::files::{LONGEST_PATH, MOST, is_path, split};
use core::cmp::Ordering;

/// Why an archive has no files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corrupt {
    /// It ends in the middle of an entry, or without its last one.
    Short,
    /// What should be a header is none.
    Header,
    /// A name is none, or too long.
    Name,
    /// An entry is neither a file nor a folder.
    Type,
    /// There are too many entries.
    TooMany,
    /// Two entries have one name.
    Twice,
    /// An entry lies in a folder that is not there.
    NoFolder,
}

/// A file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// The folder that all others lie in.
    Root,
    /// The one at this place of the table.
    At(u16),
}

/// A row of the table of files.
#[derive(Clone, Copy)]
struct Row {
    name_at: u32,
    data_at: u32,
    size: u32,
    name: u8,
    is_folder: bool,
}

/// The files of an archive: a table in the order of folders, then names, so that a path is found by
/// bisection and what a folder holds stands together.
pub struct Volume<B> {
    archive: B,
    rows: [Row; MOST],
    count: usize,
}

/// A path that was copied out of an archive.
struct Path {
    bytes: [u8; LONGEST_PATH],
    length: usize,
}

impl Path {
    /// It was checked when the table was made, but the bytes may have changed since.
    fn text(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("")
    }
}

impl<B: Bytes> Volume<B> {
    /// The files of an archive, or none and the reason.
    pub fn of(archive: B) -> (Volume<B>, Option<Corrupt>) {
        let row = Row { name_at: 0, data_at: 0, size: 0, name: 0, is_folder: false };
        let mut volume = Volume { archive, rows: [row; MOST], count: 0 };
        let corrupt = volume.fill().err();
        if corrupt.is_some() {
            volume.count = 0;
        }
        (volume, corrupt)
    }

    /// Reads the table.
    fn fill(&mut self) -> Result<(), Corrupt> {
        let mut entries = Entries::of(&self.archive);
        let mut count = 0;
        while let Some(entry) = entries.next()? {
            let row = row(&self.archive, entry)?;
            // The root itself, as other tools write it.
            if row.name == 0 {
                continue;
            }
            *self.rows.get_mut(count).ok_or(Corrupt::TooMany)? = row;
            count += 1;
        }
        self.count = count;
        let (archive, rows) = (&self.archive, &mut self.rows[..count]);
        rows.sort_unstable_by(|a, b| order(path(archive, a).text(), path(archive, b).text()));
        for pair in self.rows[..count].windows(2) {
            if path(&self.archive, &pair[0]).text() == path(&self.archive, &pair[1]).text() {
                return Err(Corrupt::Twice);
            }
        }
        for row in &self.rows[..count] {
            let path = path(&self.archive, row);
            let (folder, _) = split(path.text());
            let is_there = self.find(folder).is_some_and(|folder| self.is_folder(folder));
            is_there.then_some(()).ok_or(Corrupt::NoFolder)?;
        }
        Ok(())
    }

    /// How many files and folders there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// What a path names; the empty one names the root.
    pub fn find(&self, wanted: &str) -> Option<Node> {
        if wanted.is_empty() {
            return Some(Node::Root);
        }
        // It would be split as the path without its slash is.
        if wanted.starts_with('/') {
            return None;
        }
        let compare = |row: &Row| order(path(&self.archive, row).text(), wanted);
        self.rows().binary_search_by(compare).ok().map(|at| Node::At(at as u16))
    }

    /// Whether it is a folder.
    pub fn is_folder(&self, node: Node) -> bool {
        self.row(node).is_none_or(|row| row.is_folder)
    }

    /// Bytes of a file, or what a folder holds: how many files and folders.
    pub fn size(&self, node: Node) -> u32 {
        match self.row(node) {
            Some(row) if !row.is_folder => row.size,
            _ => self.children(node).1,
        }
    }

    /// Copies bytes of a file from `offset` on, as many as there are and fit; how many.
    pub fn read(&self, node: Node, offset: u64, into: &mut [u8]) -> usize {
        let Some(row) = self.row(node).filter(|row| !row.is_folder) else { return 0 };
        let left = u64::from(row.size).saturating_sub(offset).min(into.len() as u64) as usize;
        if left > 0 {
            self.archive.copy(row.data_at as usize + offset as usize, &mut into[..left]);
        }
        left
    }

    /// Shows a name to a function: that of the `number`th that lies in a folder, and what it is.
    pub fn child<R>(
        &self,
        folder: Node,
        number: u32,
        show: impl FnOnce(Node, &str) -> R,
    ) -> Option<R> {
        let (first, count) = self.children(folder);
        let at = (number < count).then_some(first + number as usize)?;
        let path = path(&self.archive, &self.rows[at]);
        Some(show(Node::At(at as u16), split(path.text()).1))
    }

    /// Where what lies in a folder begins in the table, and how many that are.
    fn children(&self, folder: Node) -> (usize, u32) {
        if !self.is_folder(folder) {
            return (0, 0);
        }
        let own = self.row(folder).map(|row| path(&self.archive, row));
        let own = own.as_ref().map_or("", Path::text);
        let end = |with: Ordering| {
            let is_before = |row: &Row| {
                let ordering = split(path(&self.archive, row).text()).0.cmp(own);
                ordering == Ordering::Less || ordering == with
            };
            self.rows().partition_point(is_before)
        };
        let first = end(Ordering::Less);
        (first, (end(Ordering::Equal) - first) as u32)
    }

    fn rows(&self) -> &[Row] {
        &self.rows[..self.count]
    }

    fn row(&self, node: Node) -> Option<&Row> {
        match node {
            Node::Root => None,
            Node::At(at) => self.rows().get(usize::from(at)),
        }
    }
}

/// The order of the table.
fn order(one: &str, other: &str) -> Ordering {
    split(one).cmp(&split(other))
}

/// The path of a row.
fn path<B: Bytes>(archive: &B, row: &Row) -> Path {
    let mut path = Path { bytes: [0; LONGEST_PATH], length: row.name.into() };
    archive.copy(row.name_at as usize, &mut path.bytes[..path.length]);
    path
}

/// The row of an entry; that of the root has no name.
fn row<B: Bytes>(archive: &B, entry: Entry) -> Result<Row, Corrupt> {
    let mut begin = [0; 2];
    let shown = entry.name.min(2);
    archive.copy(entry.name_at, &mut begin[..shown]);
    let skipped = match &begin[..shown] {
        b"." => 1,
        b"./" => 2,
        _ => 0,
    };
    let name = entry.name - skipped;
    let word = |at: usize| u32::try_from(at).map_err(|_| Corrupt::Short);
    let row = Row {
        name_at: word(entry.name_at + skipped)?,
        data_at: word(entry.data_at)?,
        size: word(entry.size)?,
        name: u8::try_from(name).ok().filter(|_| name <= LONGEST_PATH).ok_or(Corrupt::Name)?,
        is_folder: entry.is_folder,
    };
    let is_root = name == 0 && skipped > 0 && entry.is_folder;
    let good = is_root || is_path(path(archive, &row).text());
    good.then_some(row).ok_or(Corrupt::Name)
}
