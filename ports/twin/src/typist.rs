//! What is typed because of what is printed: at the instant of the line, whatever the host does.

use crate::hardware::Hardware;
use std::cell::{Cell, RefCell};
use twin_protocol::Typed;

/// Says what is typed because of a line.
pub type Ask = &'static dyn Fn(String) -> Typed;

/// Reads lines and types.
pub struct Typist {
    ask: Ask,
    /// What was printed of a line.
    line: RefCell<Vec<u8>>,
    listens: Cell<bool>,
}

impl Typist {
    /// One that asks what to type because of a line.
    pub fn new(ask: Ask) -> Typist {
        Typist { ask, line: RefCell::default(), listens: Cell::new(true) }
    }
}

impl Hardware {
    /// A program has printed a character.
    pub fn hear(&self, byte: u8) {
        let Some(typist) = self.typist.as_ref().filter(|typist| typist.listens.get()) else {
            return;
        };
        if byte != b'\n' {
            return typist.line.borrow_mut().push(byte);
        }
        let line = String::from_utf8_lossy(&typist.line.take()).into_owned();
        let typed = (typist.ask)(line);
        typist.listens.set(typed.listens);
        self.type_text(&typed.text);
    }
}
