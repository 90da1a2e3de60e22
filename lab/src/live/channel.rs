//! Asking a running system. What its memory holds is the claim of a program that may be wrong, or
//! not itself any more: it is checked, and decides about nothing but what is shown.

use super::entry::Entry;
use crate::failure::usage;
use crate::machine::{self, Emulator, SharedFile, WORD, word_at};
use abi::Error;
use abi::control::{
    Command, MAGIC, Row, Rows, WORD_ANSWER, WORD_COMMAND, WORD_MAGIC, WORD_REQUEST,
    WORD_REQUEST_CHECK, WORD_ROWS, WORD_STATUS, number,
};
use anyhow::{Context, Result, bail};
use std::thread;
use std::time::{Duration, Instant};

/// How often the host looks for an answer.
const POLL: Duration = Duration::from_millis(1);
/// How long it looks: some hundred looks of the program.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a system may take to boot.
const BOOT: Duration = Duration::from_secs(20);

/// A running system that can be asked.
pub struct Channel {
    ram: SharedFile,
    /// Where the shared memory begins in the file.
    base: u64,
    entry: Entry,
}

/// What a system answers.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// Why it did not do what it was asked; none: it did.
    pub refused: Option<Error>,
    /// Its rows.
    pub rows: Vec<Row>,
    /// Whether there was no room for all rows.
    pub cut: bool,
}

impl Channel {
    /// Opens the memory of a running system, once it has booted so far.
    pub fn open(entry: &Entry) -> Result<Channel> {
        let machine = machine::find(&entry.machine);
        let emulator = machine.and_then(|machine| machine.emulator());
        let emulator = emulator.context("the running system is on no known machine")?;
        let ram = SharedFile::open(&entry.ram).map_err(|error| {
            let (system, pid) = (&entry.system, entry.pid);
            usage(format!("cannot open the memory of {system} (pid {pid}): {error}"))
        })?;
        let base = within(BOOT, || base(&ram, emulator, entry))?;
        let base = base.with_context(|| format!("{} does not boot", entry.system))?;
        let channel = Channel { ram, base, entry: entry.clone() };
        let begun = || Ok((channel.word(WORD_MAGIC)? == MAGIC).then_some(()));
        if within(BOOT, begun)?.is_none() {
            let (system, control) = (&entry.system, &entry.control);
            bail!("domain {control} of {system} has not begun: does it get CPU time?");
        }
        Ok(channel)
    }

    /// Asks, and waits for the answer. Other commands that ask wait for their turn.
    pub fn ask(&self, command: Command) -> Result<Answer> {
        self.ram.lock().context("the memory of the running system cannot be locked")?;
        let answer = self.ask_alone(command);
        self.ram.unlock().context("the memory of the running system cannot be unlocked")?;
        answer
    }

    fn ask_alone(&self, command: Command) -> Result<Answer> {
        let next = self.word(WORD_REQUEST)?.max(self.word(WORD_ANSWER)?).wrapping_add(1);
        for (index, word) in command.encode().into_iter().enumerate() {
            self.set(WORD_COMMAND + index, word)?;
        }
        self.set(WORD_REQUEST_CHECK, !next)?;
        self.set(WORD_REQUEST, next)?;
        let answered = || {
            if self.has_ended() {
                bail!("{} has ended", self.entry.system);
            }
            Ok((self.answered()? == Some(next)).then_some(()))
        };
        if within(PATIENCE, answered)?.is_none() {
            let Entry { system, control, .. } = &self.entry;
            let seconds = PATIENCE.as_secs();
            bail!(
                "{system} has not answered for {seconds} s: it is stopped, or its domain \
                 {control} gets no CPU time"
            );
        }
        let header = self.ram.read(self.base + (WORD_STATUS * WORD) as u64, 3 * WORD)?;
        let word = |index| word_at(&header, index).unwrap_or(0);
        let (status, length, cut) = (word(0), word(1), word(2) != 0);
        let room = self.entry.bytes / WORD as u64 - WORD_ROWS as u64;
        let length = length.min(room) as usize;
        let bytes = self.ram.read(self.base + (WORD_ROWS * WORD) as u64, length * WORD)?;
        decoded(status, &bytes, cut).with_context(|| {
            let Entry { system, control, .. } = &self.entry;
            format!("domain {control} of {system} has answered what means nothing")
        })
    }

    /// Whether the system runs no more.
    pub fn has_ended(&self) -> bool {
        !self.entry.path.exists()
    }

    fn answered(&self) -> Result<Option<u64>> {
        let bytes = self.ram.read(self.base + (WORD_ANSWER * WORD) as u64, 2 * WORD)?;
        let word = |index| word_at(&bytes, index).unwrap_or(0);
        Ok(number(word(0), word(1)))
    }

    fn word(&self, index: usize) -> Result<u64> {
        let bytes = self.ram.read(self.base + (index * WORD) as u64, WORD)?;
        word_at(&bytes, 0).context("a word has 8 bytes")
    }

    fn set(&self, index: usize, word: u64) -> Result<()> {
        self.ram.write(self.base + (index * WORD) as u64, &word.to_le_bytes())
    }
}

/// Looks again and again until there is something, or the time is over.
fn within<T>(limit: Duration, look: impl Fn() -> Result<Option<T>>) -> Result<Option<T>> {
    let started = Instant::now();
    loop {
        let found = look()?;
        if found.is_some() || started.elapsed() > limit {
            return Ok(found);
        }
        thread::sleep(POLL);
    }
}

/// Where the shared memory begins in the file, if the kernel has said so already.
fn base(ram: &SharedFile, emulator: &dyn Emulator, entry: &Entry) -> Result<Option<u64>> {
    let address = ram.archive_word(entry.nonce, entry.address_at)?.unwrap_or(0);
    if address == 0 {
        return Ok(None);
    }
    let base = emulator.memory_offset(address);
    base.map(Some).with_context(|| format!("physical address {address:#x} is not in the file"))
}

/// The answer with this status and these rows.
fn decoded(status: u64, bytes: &[u8], cut: bool) -> Result<Answer> {
    let refused = match status {
        0 => None,
        code => {
            let known = Error::ALL.into_iter().find(|error| *error as u64 == code);
            Some(known.with_context(|| format!("there is no error {code}"))?)
        }
    };
    let words: Vec<u64> = (0..bytes.len() / WORD).filter_map(|at| word_at(bytes, at)).collect();
    let rows: Result<Vec<Row>, _> = Rows::new(&words).collect();
    let rows = rows.ok().context("its rows are not of a known kind and length")?;
    Ok(Answer { refused, rows, cut })
}

#[cfg(test)]
mod tests;
