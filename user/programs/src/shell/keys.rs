//! From the bytes that a terminal sends to keys.

/// What was pressed.
pub enum Key {
    /// A printable character.
    Char(u8),
    Enter,
    /// Control-D, which also comes when the input that is piped in is over.
    EndOfInput,
    Backspace,
    /// Control-U.
    Kill,
    Up,
    Down,
    Left,
    Right,
}

const END_OF_INPUT: u8 = 4;
const BACKSPACE: u8 = 8;
const DELETE: u8 = 127;
const KILL: u8 = 21;
const ESCAPE: u8 = 27;

/// How much of a sequence has come: arrows are `ESC [ A` or `ESC O A`, with digits in between for
/// those that are pressed with another key.
#[derive(Clone, Copy, PartialEq)]
enum Sequence {
    None,
    Escape,
    Open,
}

/// What has come so far.
pub struct Keys {
    sequence: Sequence,
    last: u8,
}

impl Keys {
    pub fn new() -> Keys {
        Keys { sequence: Sequence::None, last: 0 }
    }

    /// Takes a byte; the key that it completes, if it does.
    pub fn byte(&mut self, byte: u8) -> Option<Key> {
        let last = core::mem::replace(&mut self.last, byte);
        match (core::mem::replace(&mut self.sequence, Sequence::None), byte) {
            (Sequence::Escape, b'[' | b'O') | (Sequence::Open, b'0'..=b'?') => {
                self.sequence = Sequence::Open;
                None
            }
            (Sequence::Open, _) => arrow(byte),
            (_, ESCAPE) => {
                self.sequence = Sequence::Escape;
                None
            }
            // A carriage return and a line feed are one end of line.
            (_, b'\n') if last == b'\r' => None,
            (_, b'\r' | b'\n') => Some(Key::Enter),
            (_, END_OF_INPUT) => Some(Key::EndOfInput),
            (_, BACKSPACE | DELETE) => Some(Key::Backspace),
            (_, KILL) => Some(Key::Kill),
            (_, b' '..=b'~') => Some(Key::Char(byte)),
            _ => None,
        }
    }
}

fn arrow(end: u8) -> Option<Key> {
    match end {
        b'A' => Some(Key::Up),
        b'B' => Some(Key::Down),
        b'C' => Some(Key::Right),
        b'D' => Some(Key::Left),
        _ => None,
    }
}
