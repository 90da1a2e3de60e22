//! The terminal, redrawn; where standard output is none, text behind text.

use crate::machine::{Interrupts, RawTerminal};
use crate::output;
use std::io::{IsTerminal, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Another screen without a cursor, and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";
/// To the upper left corner.
const HOME: &str = "\x1b[H";
/// Clears the rest of the line, and of the screen.
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_REST: &str = "\x1b[J";
/// How often is looked whether the user interrupts.
const LOOK: Duration = Duration::from_millis(50);

/// Why a wait is over.
pub enum Woken {
    /// The time has come.
    Time,
    /// The user has typed q.
    Quit,
    /// The user interrupts.
    Interrupted,
}

/// Where rounds are shown.
pub struct Screen {
    is_live: bool,
    interrupts: Interrupts,
    keys: Receiver<u8>,
    _raw: Option<RawTerminal>,
}

impl Screen {
    /// The terminal, if standard output is one and is wanted as such; it comes back as it was when
    /// this is dropped.
    pub fn enter(as_json: bool) -> Screen {
        let is_live = std::io::stdout().is_terminal() && !as_json;
        let (sender, keys) = channel();
        let raw = is_live.then(RawTerminal::enter);
        if is_live {
            write(ENTER);
            // It ends with the program.
            thread::spawn(move || {
                let bytes = std::io::stdin().lock().bytes().map_while(Result::ok);
                bytes.take_while(|byte| sender.send(*byte).is_ok()).for_each(drop);
            });
        }
        Screen { is_live, interrupts: Interrupts::watch(), keys, _raw: raw }
    }

    /// Whether it is redrawn.
    pub fn is_live(&self) -> bool {
        self.is_live
    }

    /// Waits so long, or until the user wants it to end.
    pub fn wait(&self, delay: Duration) -> Woken {
        let end = Instant::now() + delay;
        loop {
            if self.interrupts.any() {
                return Woken::Interrupted;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Woken::Time;
            }
            match self.keys.recv_timeout(left.min(LOOK)) {
                Ok(b'q' | b'Q') => return Woken::Quit,
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(left.min(LOOK)),
            }
        }
    }

    /// Shows a round.
    pub fn show(&self, text: &str, round: u32) {
        if !self.is_live {
            let gap = if round > 0 { "\n" } else { "" };
            return output::line(format_args!("{gap}{}", text.trim_end()));
        }
        let lines: String = text.lines().map(|line| format!("{line}{CLEAR_LINE}\r\n")).collect();
        write(&format!("{HOME}{lines}{CLEAR_REST}"));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.is_live {
            write(LEAVE);
        }
    }
}

/// A terminal that is gone shows nothing.
fn write(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
