//! A system as a boot archive for the twin, and its outcome as that of any machine.

use super::{Twin, about_of, program};
use crate::failure::did_you_mean;
use crate::image;
use crate::machine::boot::pack_with;
use crate::machine::memory::WORD;
use crate::machine::{Boot, Exit, Outcome, Platform, Simulated};
use abi::PAGE;
use abi::boot::{name_bytes, name_text};
use anyhow::Result;
use std::path::Path;
use twin_protocol::{End, Options, Run};

/// A boot archive for the twin.
pub struct Packed {
    words: Vec<u64>,
    /// Memory objects to read after the run: the words that tell their addresses, and bytes.
    wanted: Vec<(usize, u64)>,
    names: Vec<String>,
    /// The words that tell the addresses of all shared memory objects.
    all: Vec<usize>,
}

impl Packed {
    /// Packs a system.
    pub fn new(boot: &Boot, spoil: &dyn Fn(&mut [u8])) -> Result<Packed> {
        let about = about_of(program(boot)?)?;
        let read = |name: &str| {
            if let Some(file) = boot.images.programs.get(name) {
                return machine_code(file, about.work).map_err(|error| error.to_string());
            }
            let names = about.programs.iter().map(|(name, _)| name.as_str());
            let missing = || format!("the twin has none{}", did_you_mean(name, names));
            let found = about.programs.iter().find(|(known, _)| known == name);
            found.map(|(_, text)| executable(about.text, text)).ok_or_else(missing)
        };
        let mut archive = pack_with(boot, &read, 0)?;
        spoil(&mut archive.bytes);
        let words = archive.bytes.chunks_exact(WORD);
        let all = archive.memories.iter().map(|memory| memory.address_offset / WORD).collect();
        let host = || archive.memories.iter().filter(|memory| memory.host);
        Ok(Packed {
            words: words.map(|word| u64::from_le_bytes(word.try_into().expect("8"))).collect(),
            wanted: host().map(|memory| (memory.address_offset / WORD, memory.bytes)).collect(),
            names: host().map(|memory| memory.name.clone()).collect(),
            all,
        })
    }

    /// The request for a run.
    pub fn run(&self, options: Options) -> Run {
        Run { archive: self.words.clone(), options, wanted: self.wanted.clone() }
    }

    /// The words that tell the addresses of the memory objects with these indices.
    pub fn words_of(&self, memories: &[usize]) -> Vec<usize> {
        memories.iter().map(|index| self.all[*index]).collect()
    }

    /// Names of the memory objects that are wanted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// A run's outcome, as that of any machine.
    pub fn outcome(&self, ran: twin_protocol::Outcome, kernel: &str) -> Outcome {
        let memories = ran.memories.into_iter().map(|bytes| bytes.into_vec());
        let mut console = ran.console;
        let exit = match ran.end {
            End::Done(status) => Exit::Done(status),
            End::Stuck => Exit::Stuck,
            End::Deadlock(cpus) => Exit::Emulator(format!(
                "CPUs wait for each other in the kernel for ever: {}",
                cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
            )),
            End::Limit => Exit::Hang,
            End::Panic(message) => {
                console.push_str(&format!("KERNEL PANIC: {message}\n"));
                Exit::Panic
            }
        };
        Outcome {
            machine: Twin.name(),
            exit,
            console,
            memories: self.names().map(String::from).zip(memories).collect(),
            kernel: kernel.to_string(),
            backtrace: Vec::new(),
            findings: Vec::new(),
            threads: ran.threads,
            given_up: ran.given_up,
            log: ran.log,
            samples: None,
            simulated: Simulated {
                wires: ran.wires,
                worked: Some(ran.worked.into_iter().map(named).collect()),
                places: ran.places,
            },
        }
    }
}

/// A name as the kernel keeps it.
fn named(words: [u64; 2]) -> String {
    name_text(&name_bytes(words)).to_string()
}

/// The word of a program in C that says by which system call it computes in the simulation.
const WORK: &str = "giusto_simulated_work";

/// An executable file for the simulation.
fn machine_code(file: &Path, work: u64) -> Result<Vec<u8>> {
    let mut bytes = fs_err::read(file)?;
    image::set_static(&mut bytes, WORK, work);
    Ok(bytes)
}

/// An executable file of one page of text there that begins with these words.
fn executable(begin: u64, text: &[u64; 3]) -> Vec<u8> {
    const HEADER: u64 = 64;
    let header = [
        u64::from_le_bytes(*b"\x7fELF\x02\x01\x01\0"),
        0,
        // An executable for no particular processor.
        2 | 1 << 32,
        begin,
        HEADER,
        0,
        HEADER << 32 | 56 << 48,
        1,
        // One segment to be loaded, readable and executable.
        1 | 5 << 32,
        PAGE,
        begin,
        begin,
        8 * text.len() as u64,
        PAGE,
        PAGE,
    ];
    let mut words = header.to_vec();
    words.resize((PAGE / 8) as usize, 0);
    words.extend(text);
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}
