//! What the user types: keys that edit a line, or bring an earlier one back.

use super::history::History;
use super::keys::{Key, Keys};
use super::line::{Line, text};
use rt::{Console, print};

/// The line that is typed, and those before it.
pub struct Input {
    console: Console,
    keys: Keys,
    line: Line,
    history: History,
}

impl Input {
    pub fn new(console: Console) -> Input {
        let (keys, line, history) = (Keys::new(), Line::new(console), History::new());
        Input { console, keys, line, history }
    }

    /// Forgets the line that was complete.
    pub fn clear(&mut self) {
        self.line.clear();
    }

    /// Takes a byte and shows what it does. Returns the line when it is complete.
    pub fn typed(&mut self, byte: u8) -> Option<&str> {
        match self.keys.byte(byte)? {
            Key::Enter => {
                print!(self.console, "\n");
                self.history.keep(self.line.bytes());
                return Some(text(self.line.bytes()));
            }
            // On an empty line it ends the shell.
            Key::EndOfInput if self.line.bytes().is_empty() => {
                print!(self.console, "exit\n");
                return Some("exit");
            }
            Key::EndOfInput => {}
            Key::Char(byte) => self.line.insert(byte),
            Key::Backspace => self.line.erase(),
            Key::Kill => self.line.replace(&[]),
            Key::Up => {
                if let Some(older) = self.history.older() {
                    self.line.replace(older);
                }
            }
            Key::Down => {
                if let Some(newer) = self.history.newer() {
                    self.line.replace(newer);
                }
            }
            Key::Left => self.line.left(),
            Key::Right => self.line.right(),
        }
        None
    }
}
