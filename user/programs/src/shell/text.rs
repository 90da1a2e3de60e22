//! Short texts, and what domains and threads are called.

use super::commands::Domain;
use abi::boot::{MOST_NAME, name_bytes, name_text};
use abi::call::Table;
use core::fmt::{self, Write};
use rt::{Slot, system};

/// A short text that is padded as a whole; what does not fit is left out.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    /// An empty one.
    pub fn new() -> Text<N> {
        Text { bytes: [0; N], length: 0 }
    }

    /// What was written.
    pub fn get(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.length]).unwrap_or("?")
    }
}

impl<const N: usize> Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (to, from) in self.bytes[self.length..].iter_mut().zip(text.bytes()) {
            *to = from;
            self.length += 1;
        }
        Ok(())
    }
}

impl<const N: usize> fmt::Display for Text<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.get())
    }
}

/// Room for a domain of the manifest, one in it, a thread, and what stands between them.
pub type Title = Text<{ 3 * MOST_NAME + 2 }>;

impl Domain {
    /// What the domain is called. One that a program has made stands behind the domain of the
    /// manifest that it is in, with a `/` that no name has, so that it cannot pass for another one.
    pub fn title(&self, system: Slot) -> Title {
        let mut title = Title::new();
        let _ = match self.outermost(system) {
            _ if self.index == 0 => title.write_str("(idle)"),
            outer if outer == self.index => title.write_str(name_text(&self.name())),
            outer => {
                let row = system::inspect(system, Table::Domain, outer);
                let words = row.map_or([0; 2], |row| [row.words[0], row.words[1]]);
                let outer = name_bytes(words);
                match self.name() {
                    [0, ..] => write!(title, "{}/#{}", name_text(&outer), self.index),
                    own => write!(title, "{}/{}", name_text(&outer), name_text(&own)),
                }
            }
        };
        title
    }

    /// What one of its threads is called, by its index: as the domain, and its own name if it has
    /// one.
    pub fn title_of(&self, system: Slot, thread: u64) -> Title {
        let mut title = self.title(system);
        let row = system::inspect(system, Table::ThreadName, thread);
        let name = row.map_or([0; MOST_NAME], |row| name_bytes(row.results));
        if name[0] != 0 {
            let _ = write!(title, " {}", name_text(&name));
        }
        title
    }
}
