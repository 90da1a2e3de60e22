//! The samples that a kernel has taken of where its time goes.

use super::Emulator;
use super::memory::{SharedFile, WORD, word_at};
use crate::image;
use anyhow::{Context, Result, bail};
use std::path::Path;

/// Where a kernel that takes samples has them: a header of [`HEADER`] words, then two words each.
const PROFILE: &str = "PROFILE";
const HEADER: u64 = 8;
const WORD_BYTES: u64 = WORD as u64;

const KERNEL: u64 = 1 << 62;
const IDLE: u64 = 1 << 63;

/// How a kernel is to take samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// One at a random instant in each block of so many nanoseconds.
    pub period: u64,
    /// The seed of these instants.
    pub seed: u64,
}

/// What was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// A program.
    User,
    /// The kernel at work.
    Kernel,
    /// The kernel with nothing to do.
    Idle,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Address of the instruction that was to be next.
    pub at: u64,
    /// The current thread's index in its pool.
    pub thread: u32,
    /// Its domain's index.
    pub domain: u32,
    /// What was interrupted.
    pub mode: Mode,
}

/// All samples of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// In the order of their instants.
    pub taken: Vec<Sample>,
    /// Samples for which there was no room.
    pub dropped: u64,
    /// Blocks without a sample, since they were over before it could be asked for.
    pub missed: u64,
    /// Length of a block in counter steps.
    pub period: u64,
    /// Counter steps that taking samples took, without entry and exit.
    pub spent: u64,
}

impl Samples {
    /// Reads what a kernel has left in a machine's memory.
    pub fn read(machine: &dyn Emulator, kernel: &Path, memory: &SharedFile) -> Result<Samples> {
        let at = image::static_address(kernel, PROFILE)?;
        let header = memory.physical(machine, at, HEADER * WORD_BYTES)?;
        let word = |index: usize| word_at(&header, index).unwrap_or(0);
        let (count, room) = (word(0), word(5));
        if word(3) == 0 {
            bail!("the kernel took no samples: it stopped before the first program");
        }
        if count > room {
            bail!("the kernel says that it took {count} samples, with room for {room}");
        }
        let bytes = memory.physical(machine, at + HEADER * WORD_BYTES, count * 2 * WORD_BYTES)?;
        let taken = (0..count as usize).map(|index| {
            let words = word_at(&bytes, 2 * index).zip(word_at(&bytes, 2 * index + 1));
            words.map(|(at, origin)| decode(at, origin)).context("the samples end early")
        });
        Ok(Samples {
            taken: taken.collect::<Result<_>>()?,
            dropped: word(1),
            missed: word(2),
            period: word(3),
            spent: word(6),
        })
    }
}

fn decode(at: u64, origin: u64) -> Sample {
    let mode = match (origin & IDLE != 0, origin & KERNEL != 0) {
        (true, _) => Mode::Idle,
        (false, true) => Mode::Kernel,
        (false, false) => Mode::User,
    };
    let domain = (origin & !(IDLE | KERNEL)) >> 32;
    Sample { at, thread: origin as u32, domain: domain as u32, mode }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_decoded() {
        let user = Sample { at: 7, thread: 3, domain: 2, mode: Mode::User };
        assert_eq!(decode(7, 2 << 32 | 3), user);
        assert_eq!(decode(7, KERNEL | 2 << 32 | 3), Sample { mode: Mode::Kernel, ..user });
        assert_eq!(decode(7, IDLE | KERNEL | 2 << 32 | 3), Sample { mode: Mode::Idle, ..user });
    }
}
