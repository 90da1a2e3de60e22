//! What the threads of an emulated machine are doing: read from its memory while it stands still,
//! or after its end, as the layout in the kernel's image says. The kernel has no part in it.

use super::Emulator;
use super::memory::{SharedFile, WORD, word_at};
use crate::image;
use abi::call::{Awaited, ThreadState};
use abi::layout::{LIVE, Layout, SYMBOL};
use anyhow::{Context, Result};
use std::path::Path;
use twin_protocol::Doing;

/// Domains in each other: more of them are none of this kernel's.
const DEEPEST: usize = 64;

/// The instant of a deadline that never comes.
const NEVER: u64 = u64::MAX;

/// A timer that will not interrupt.
const DISARMED: u64 = u64::MAX;

/// States of blocked threads in the kernel's memory, in the order of their bytes from 1 on.
const BLOCKED: [ThreadState; 4] =
    [ThreadState::Sending, ThreadState::Receiving, ThreadState::Calling, ThreadState::Waiting];

/// A machine's memory, and how its kernel is found there.
pub struct Standing<'a> {
    machine: &'a dyn Emulator,
    memory: &'a SharedFile,
    layout: Layout,
    /// The address of the word with the kernel's address.
    root: u64,
}

/// The kernel's threads and CPUs: the first one's address, and how many there are.
struct Kernel {
    address: u64,
    threads: (u64, u64),
    cpus: (u64, u64),
}

impl<'a> Standing<'a> {
    /// A machine whose kernel is this image.
    pub fn of(
        machine: &'a dyn Emulator,
        kernel: &Path,
        memory: &'a SharedFile,
    ) -> Result<Standing<'a>> {
        let bytes = image::static_contents(kernel, SYMBOL)?;
        let words = (1..=Layout::WORDS).filter_map(|index| word_at(&bytes, index));
        let words = words.collect::<Vec<u64>>().try_into().ok().context("a layout of words")?;
        let layout = Layout::from_words(words);
        let root = word_at(&bytes, 0).unwrap_or(0) + layout.machine_kernel;
        Ok(Standing { machine, memory, layout, root })
    }

    /// What all threads are doing but those that idle, in the order of their places.
    pub fn threads(&self) -> Result<Vec<Doing>> {
        let kernel = self.kernel()?;
        let mut all = Vec::new();
        for at in self.places(&kernel) {
            if self.byte(at + self.layout.thread_life)? == LIVE {
                // One that was caught in the midst of a change is left out.
                all.extend(self.doing(at));
            }
        }
        Ok(all)
    }

    /// By the index of an endpoint, how many messages were given up there before they were
    /// received; none that has no such.
    pub fn given_up(&self) -> Result<Vec<(u32, u32)>> {
        let address = self.word(self.root)? + self.layout.kernel_endpoints;
        let (first, places) = (self.word(address)?, self.word(address + WORD as u64)?);
        let mut all = Vec::new();
        for at in (0..places).map(|place| first + place * self.layout.endpoint_size) {
            let count = at + self.layout.endpoint_given_up;
            let count = u32::from_le_bytes([self.byte(count)?, self.byte(count + 1)?, 0, 0]);
            if count > 0 && self.byte(at + self.layout.endpoint_life)? == LIVE {
                all.push((self.half(at + self.layout.endpoint_index)?, count));
            }
        }
        Ok(all)
    }

    /// Whether no CPU runs a thread or has a timer that will interrupt, and no device interrupts.
    pub fn idles(&self) -> Result<bool> {
        let kernel = self.kernel()?;
        if self.half(kernel.address + self.layout.kernel_interrupts)? > 0 {
            return Ok(false);
        }
        let Layout { cpu_size, cpu_current, cpu_idle, cpu_armed, .. } = self.layout;
        for number in 0..kernel.cpus.1 {
            let cpu = kernel.cpus.0 + number * cpu_size;
            let runs = self.word(cpu + cpu_current)? != self.word(cpu + cpu_idle)?;
            if runs || self.word(cpu + cpu_armed)? != DISARMED {
                return Ok(false);
            }
        }
        Ok(kernel.cpus.1 > 0)
    }

    /// Whether all threads wait and nothing will end a wait: what [`Standing::idles`] says, and no
    /// thread is ready. The machine stands still. Of several CPUs one may stand between two timers,
    /// so no thread may have a deadline there that comes; on one CPU a deadline without a timer is
    /// one that never does. Several CPUs may also be booting, when they have threads that have
    /// never run: some thread has blocked or has stopped at a fault.
    pub fn is_stuck(&self) -> Result<bool> {
        if !self.idles()? {
            return Ok(false);
        }
        let kernel = self.kernel()?;
        let are_several = kernel.cpus.1 > 1;
        let mut has_run = !are_several;
        for at in self.places(&kernel) {
            if self.byte(at + self.layout.thread_life)? == LIVE {
                let word = self.state(at)?;
                let is_timed = are_several && self.is_timed(at)?;
                if word == ThreadState::Ready as u64 || is_timed {
                    return Ok(false);
                }
                has_run |= word != ThreadState::Suspended as u64 || self.has_ended(at)?;
            }
        }
        Ok(has_run)
    }

    /// Whether a thread has stopped at a fault that none handles.
    fn has_ended(&self, at: u64) -> Result<bool> {
        let flags = u64::from(self.half(at + self.layout.thread_flags)?);
        Ok(flags & self.layout.flag_ended != 0)
    }

    fn kernel(&self) -> Result<Kernel> {
        let address = self.word(self.root)?;
        let pair = |at: u64| Ok::<_, anyhow::Error>((self.word(at)?, self.word(at + WORD as u64)?));
        let threads = pair(address + self.layout.kernel_threads)?;
        let cpus = pair(address + self.layout.kernel_cpus)?;
        Ok(Kernel { address, threads, cpus })
    }

    /// The places of threads behind those of the idle ones, one for each CPU.
    fn places(&self, kernel: &Kernel) -> impl Iterator<Item = u64> {
        let ((first, count), size) = (kernel.threads, self.layout.thread_size);
        (kernel.cpus.1..count).map(move |index| first + index * size)
    }

    /// The state of a thread.
    fn state(&self, at: u64) -> Result<u64> {
        let flags = u64::from(self.half(at + self.layout.thread_flags)?);
        let state = usize::from(self.byte(at + self.layout.thread_state)?);
        Ok(match state.checked_sub(1).and_then(|state| BLOCKED.get(state)) {
            _ if flags & self.layout.flag_suspended != 0 => ThreadState::Suspended as u64,
            Some(state) => *state as u64,
            None => ThreadState::Ready as u64,
        })
    }

    /// Whether a thread's wait ends at some instant: one whose function has returned sleeps until
    /// one that never comes.
    fn is_timed(&self, at: u64) -> Result<bool> {
        let flags = u64::from(self.half(at + self.layout.thread_flags)?);
        Ok(flags & self.layout.flag_deadline != 0
            && self.word(at + self.layout.thread_deadline)? != NEVER)
    }

    fn doing(&self, at: u64) -> Result<Doing> {
        let layout = &self.layout;
        let named = self.word(at + layout.thread_named)?;
        let is_named = named == self.word(at + layout.thread_incarnation)?;
        Ok(Doing {
            domain: self.domain(self.word(at + layout.thread_domain)?)?,
            name: if is_named { self.name(at + layout.thread_name)? } else { [0; 2] },
            index: self.half(at + layout.thread_index)?,
            word: self.state(at)? | self.awaited(at)?,
            timed: self.is_timed(at)?,
        })
    }

    /// What a thread waits for.
    fn awaited(&self, at: u64) -> Result<u64> {
        let layout = &self.layout;
        let state = usize::from(self.byte(at + layout.thread_state)?);
        let state = state.checked_sub(1).and_then(|state| BLOCKED.get(state));
        let index = |at: u64, place: u64| self.half(at + place).map(u64::from);
        let (what, which) = match state {
            Some(ThreadState::Calling) => match self.word(at + layout.thread_server)? {
                0 => (Awaited::Answer, 0),
                server => (Awaited::Answer, index(server, layout.thread_index)? + 1),
            },
            Some(ThreadState::Waiting) => (Awaited::Words, self.words(at)?),
            Some(_) => {
                let what = self.word(at + layout.thread_wait)?;
                let object = self.word(at + layout.thread_wait + WORD as u64)?;
                match what {
                    1 => (Awaited::Endpoint, index(object, layout.endpoint_index)?),
                    2 => (Awaited::Notification, index(object, layout.notification_index)?),
                    3 => (Awaited::Train, index(object, layout.train_index)?),
                    _ => (Awaited::Time, 0),
                }
            }
            None => return Ok(0),
        };
        Ok(what.word(which))
    }

    /// The address of the mutex or condition that a thread waits for.
    fn words(&self, at: u64) -> Result<u64> {
        let layout = &self.layout;
        match self.word(at + layout.thread_turnstile)? {
            0 if self.byte(at + layout.thread_conditional)? == 0 => {
                self.word(at + layout.thread_mutex)
            }
            0 => self.word(at + layout.thread_condition),
            turnstile => self.word(turnstile + layout.thread_described),
        }
    }

    /// The name of the manifest's domain that a domain is in, and its own if that is another one.
    fn domain(&self, inner: u64) -> Result<([u64; 2], Option<[u64; 2]>)> {
        let mut outer = inner;
        for _ in 0..DEEPEST {
            match self.word(outer + self.layout.domain_owner)? {
                0 => break,
                owner => outer = owner,
            }
        }
        let name = |domain: u64| self.name(domain + self.layout.domain_name);
        Ok((name(outer)?, (outer != inner).then(|| name(inner)).transpose()?))
    }

    fn name(&self, at: u64) -> Result<[u64; 2]> {
        Ok([self.word(at)?, self.word(at + WORD as u64)?])
    }

    fn word(&self, at: u64) -> Result<u64> {
        let bytes = self.read(at, WORD as u64)?;
        word_at(&bytes, 0).context("a word")
    }

    fn half(&self, at: u64) -> Result<u32> {
        let bytes = self.read(at, 4)?;
        Ok(u32::from_le_bytes(bytes.try_into().ok().context("half a word")?))
    }

    fn byte(&self, at: u64) -> Result<u8> {
        self.read(at, 1)?.first().copied().context("a byte")
    }

    /// Memory of the kernel's.
    fn read(&self, at: u64, bytes: u64) -> Result<Vec<u8>> {
        let physical = self.machine.kernel_memory(at);
        let physical =
            physical.with_context(|| format!("{at:#x} is no address of the kernel's"))?;
        self.memory.physical(self.machine, physical, bytes)
    }
}
