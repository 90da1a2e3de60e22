//! The guest's console: captured, and on request attached to the user's terminal.

use super::script::Shared;
use crate::failure;
use abi::log::STUCK;
use rustix::termios::{self, LocalModes, OptionalActions, Termios};
use std::io::{IsTerminal, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, Once};
use std::thread::{self, JoinHandle};

/// Sent to the guest when the input that it reads from ends: end of transmission.
pub(super) const END_OF_INPUT: u8 = 4;

/// What happens with the console, which is captured in any case.
#[derive(Clone, Debug)]
pub struct Console {
    /// Show what the guest prints.
    pub show: bool,
    /// What the guest reads.
    pub input: Input,
}

/// What is passed on to the guest as typed.
#[derive(Clone, Debug)]
pub enum Input {
    /// Nothing.
    Nothing,
    /// What the user types or pipes in.
    User,
    /// Lines, each because of one that was printed.
    Script(Shared),
}

impl Console {
    /// Neither shown nor fed.
    pub const CAPTURE: Console = Console { show: false, input: Input::Nothing };

    /// Not shown, and fed with these inputs.
    pub fn typed(script: Shared) -> Console {
        Console { show: false, input: Input::Script(script) }
    }
}

/// What the guest has printed so far.
#[derive(Default)]
pub struct Printed {
    text: Mutex<Vec<u8>>,
    /// Whether it was told that nothing will happen any more.
    stuck: AtomicBool,
    grown: Condvar,
}

impl Printed {
    /// Follows the guest's output to its end, showing it if `show`. A typist hears each line before
    /// the next one is read, so that what it types depends on lines alone.
    pub fn follow(
        self: &Arc<Self>,
        mut output: ChildStdout,
        show: bool,
        mut typist: Option<Typist>,
    ) -> JoinHandle<()> {
        let printed = Arc::clone(self);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                if show {
                    let mut stdout = std::io::stdout().lock();
                    // A closed pipe must not end the run.
                    let _ = stdout.write_all(&buffer[..count]).and_then(|()| stdout.flush());
                }
                let mut text = printed.text.lock().expect("not poisoned");
                let seen = text.len().saturating_sub(STUCK.len() + 3);
                text.extend(&buffer[..count]);
                if ends_line(&text[seen..], STUCK) {
                    printed.stuck.store(true, Ordering::Relaxed);
                }
                typist.iter_mut().for_each(|typist| typist.hear(&text));
                drop(text);
                printed.grown.notify_all();
            }
            printed.grown.notify_all();
        })
    }

    /// Whether it was told since this was asked last that every thread waits for ever: by the
    /// kernel, or by a program that prints the same.
    pub fn takes_word(&self) -> bool {
        self.stuck.swap(false, Ordering::Relaxed)
    }

    /// Everything, without carriage returns.
    pub fn text(&self) -> String {
        let bytes = self.text.lock().expect("not poisoned");
        String::from_utf8_lossy(&bytes).replace('\r', "")
    }

    /// Waits for the first complete line: before it, the guest may not be able to receive.
    fn wait_for_line(&self) {
        let text = self.text.lock().expect("not poisoned");
        let waiting = self.grown.wait_while(text, |text| !text.contains(&b'\n'));
        drop(waiting.expect("not poisoned"));
    }
}

/// Hears what the guest prints, and says what is typed.
pub struct Typist {
    script: Shared,
    typed: Sender<Vec<u8>>,
    /// How much of the output it has heard.
    heard: usize,
}

impl Typist {
    /// One that follows a script, and where what it types comes out.
    pub fn new(script: Shared) -> (Typist, Receiver<Vec<u8>>) {
        let (typed, comes_out) = channel();
        (Typist { script, typed, heard: 0 }, comes_out)
    }

    /// The output has grown.
    fn hear(&mut self, text: &[u8]) {
        while let Some(length) = text[self.heard..].iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(&text[self.heard..self.heard + length]);
            let mut script = self.script.script();
            // Before the first line, the guest may not be able to receive.
            let mut keys = if self.heard == 0 { script.begin() } else { Vec::new() };
            keys.extend(script.hear(&line));
            self.heard += length + 1;
            // A guest that is gone reads nothing.
            let _ = self.typed.send(keys);
        }
    }
}

/// What is passed on to the guest.
pub enum Feed {
    /// What the user types or pipes in, and its end.
    User(Arc<Printed>),
    /// What a typist types.
    Typed(Receiver<Vec<u8>>),
}

/// Passes input on to the guest. The thread ends with the program.
pub fn feed(mut guest: ChildStdin, from: Feed) {
    thread::spawn(move || {
        // A guest that is gone reads nothing, and no end either.
        let _ = match from {
            Feed::User(printed) => {
                printed.wait_for_line();
                pass(std::io::stdin().lock(), &mut guest)
                    .and_then(|()| pass(&[END_OF_INPUT][..], &mut guest))
            }
            Feed::Typed(keys) => keys.iter().try_for_each(|keys| pass(&keys[..], &mut guest)),
        };
        // The emulator would take a closed pipe for the end of its console.
        loop {
            thread::park();
        }
    });
}

/// Passes on everything up to its end.
fn pass(mut from: impl Read, guest: &mut ChildStdin) -> std::io::Result<()> {
    let mut buffer = [0; 256];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        guest.write_all(&buffer[..count])?;
        guest.flush()?;
    }
    Ok(())
}

/// A terminal that passes every key on at once and shows none, until this is dropped. Ctrl-C
/// still interrupts.
pub struct RawTerminal {
    before: Option<Termios>,
}

impl RawTerminal {
    /// Switches the terminal over, if standard input is one.
    pub fn enter() -> RawTerminal {
        let stdin = std::io::stdin();
        let before = stdin.is_terminal().then(|| termios::tcgetattr(&stdin).ok()).flatten();
        if let Some(before) = &before {
            let mut raw = before.clone();
            raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            // Without it, keys are shown twice and arrive by line: usable all the same.
            let _ = termios::tcsetattr(&stdin, OptionalActions::Now, &raw);
        }
        RawTerminal { before }
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = termios::tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// While one exists, an interrupt (Ctrl-C, or being told to end) does not end the program at
/// once, so that it can end the emulator first.
pub struct Interrupts;

impl Interrupts {
    /// Starts watching.
    pub fn watch() -> Interrupts {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            ctrlc::set_handler(interrupt).expect("no other handler is set");
        });
        WATCHERS.fetch_add(1, Ordering::SeqCst);
        Interrupts
    }

    /// Whether there was one.
    pub fn any(&self) -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Ordering::SeqCst);
    }
}

fn interrupt() {
    if WATCHERS.load(Ordering::SeqCst) == 0 {
        failure::interrupted();
    }
    INTERRUPTED.store(true, Ordering::SeqCst);
}

/// Whether a line of a text ends in this: a program may have begun it.
fn ends_line(text: &[u8], end: &str) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n');
    // The last one goes on.
    lines.next_back();
    lines.any(|line| line.strip_suffix(b"\r").unwrap_or(line).ends_with(end.as_bytes()))
}
