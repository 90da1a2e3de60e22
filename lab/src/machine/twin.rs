//! The twin: the simulation that is part of this process.

use super::boot::pack_with;
use super::console::END_OF_INPUT;
use super::memory::WORD;
use super::{Boot, Emulator, Exit, Input, Machine, Outcome, Platform};
use crate::failure::{did_you_mean, usage};
use abi::PAGE;
use anyhow::Result;
use manifest::NO_LOCKING;
use results::Origin;
use std::io::{IsTerminal, Read};
use std::ops::Range;
use twin::{End, LOCKED_KERNELS, Options, Sections, Service, Topology};

/// Steps of a run for each second of its timeout: what a spin may take.
const STEPS: u64 = 5_000_000;

/// The paper's larger machine: two sockets of 14 CPUs.
pub const LARGE: Topology = Topology::X86;
/// Its smaller one, of 4 CPUs.
pub const SMALL: Topology = Topology::ARM;

/// The machine.
pub struct Twin;

impl Platform for Twin {
    fn name(&self) -> &'static str {
        "twin"
    }

    fn unit(&self) -> &'static str {
        "modelled instructions"
    }

    fn origin(&self) -> Origin {
        Origin::SIMULATED
    }
}

impl Machine for Twin {
    fn boards(&self) -> &'static [&'static str] {
        &["host"]
    }

    fn emulator(&self) -> Option<&dyn Emulator> {
        None
    }
}

/// What a simulation can do and no emulator.
#[derive(Clone, Debug, Default)]
pub struct Simulation {
    /// Delays and interrupts are injected once in so many places, and other CPUs go on once in so
    /// many accesses; 0: never.
    pub chaos: u64,
    /// What lines of memory cost that come from other CPUs.
    pub topology: Option<Topology>,
    /// Whether the kernel's invariants are checked after each step.
    pub check: bool,
    /// How long sections take, if not as long as what happens in them.
    pub service: Option<Service>,
    /// The instants between which lines are noted that several CPUs share.
    pub observed: Option<Range<u64>>,
}

/// What a simulation has seen besides.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Sections of all CPUs.
    pub sections: Sections,
    /// Lines of kernel memory that one CPU has written and another one touched, while that was
    /// observed: offsets in RAM.
    pub shared: Vec<usize>,
}

/// Runs a system as [`boot`](super::boot) does.
pub fn boot(boot: &Boot, spoil: &dyn Fn(&mut [u8])) -> Result<Outcome> {
    Ok(simulate(boot, spoil)?.0)
}

/// [`boot`], and what there is to know of a simulation alone.
pub fn simulate(boot: &Boot, spoil: &dyn Fn(&mut [u8])) -> Result<(Outcome, Seen)> {
    let locking = boot.system.locking();
    if locking != NO_LOCKING && !LOCKED_KERNELS.contains(&boot.kernel) {
        let known = LOCKED_KERNELS.join(", ");
        let message = format!("the twin runs kernel {} on one CPU without locks only", boot.kernel);
        return Err(usage(format!("{message}; under locks take one of {known}")));
    }
    let options = Options {
        kernel: boot.kernel.to_string(),
        locking: Some(locking.to_string()),
        seed: boot.icount.unwrap_or(1),
        memory: boot.system.memory,
        show: boot.console.show,
        input: typed(boot.console.input),
        limit: boot.timeout.map_or(u64::MAX, |time| time.as_secs().saturating_mul(STEPS)),
        log: boot.log,
        chaos: boot.simulation.chaos,
        topology: boot.simulation.topology,
        check: boot.simulation.check,
        service: boot.simulation.service,
        observed: boot.simulation.observed.clone(),
        ..Options::default()
    };
    let archive = Packed::new(boot, spoil)?;
    let mut ran = twin::run(&archive.words, &options, &archive.wanted);
    let seen = Seen { sections: ran.sections, shared: std::mem::take(&mut ran.shared) };
    Ok((archive.outcome(ran, boot.kernel), seen))
}

/// What will be typed: all of it beforehand, since time here is not a user's.
fn typed(input: Input) -> Vec<u8> {
    let mut text = Vec::new();
    match input {
        Input::Nothing => return text,
        Input::Script(script) => text.extend_from_slice(script.as_bytes()),
        Input::User => {
            let mut stdin = std::io::stdin();
            if stdin.is_terminal() {
                eprintln!("the twin takes its input beforehand: type it, then press Ctrl-D");
            }
            // What can be read of it is enough.
            let _ = stdin.read_to_end(&mut text);
        }
    }
    text.push(END_OF_INPUT);
    text
}

/// A boot archive for the twin.
pub struct Packed {
    /// Its words.
    pub words: Vec<u64>,
    /// Memory objects to read after the run, for [`twin::run`].
    pub wanted: Vec<(usize, u64)>,
    names: Vec<String>,
}

impl Packed {
    /// Packs a system.
    pub fn new(boot: &Boot, spoil: &dyn Fn(&mut [u8])) -> Result<Packed> {
        let read = |name: &str| {
            let missing = || format!("the twin has none{}", did_you_mean(name, twin::programs()));
            twin::text(name).map(|text| executable(&text)).ok_or_else(missing)
        };
        let mut archive = pack_with(boot, &read, 0)?;
        spoil(&mut archive.bytes);
        let words = archive.bytes.chunks_exact(WORD);
        let host = || archive.memories.iter().filter(|memory| memory.host);
        Ok(Packed {
            words: words.map(|word| u64::from_le_bytes(word.try_into().expect("8"))).collect(),
            wanted: host().map(|memory| (memory.address_offset / WORD, memory.bytes)).collect(),
            names: host().map(|memory| memory.name.clone()).collect(),
        })
    }

    /// Names of the memory objects that are wanted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// A run's outcome, as that of any machine.
    pub fn outcome(&self, ran: twin::Outcome, kernel: &str) -> Outcome {
        let bytes = |words: Vec<u64>| words.into_iter().flat_map(u64::to_le_bytes).collect();
        let memories = ran.memories.into_iter().map(bytes);
        let mut console = ran.console;
        let exit = match ran.end {
            End::Done(status) => Exit::Done(status),
            End::Stuck => Exit::Emulator("every thread waits, and nothing will happen".into()),
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
            log: ran.log.iter().map(|step| step.word()).collect(),
            samples: None,
        }
    }
}

/// An executable file of one page of text that begins with these words.
fn executable(text: &[u64; 2]) -> Vec<u8> {
    const HEADER: u64 = 64;
    let header = [
        u64::from_le_bytes(*b"\x7fELF\x02\x01\x01\0"),
        0,
        // An executable for no particular processor.
        2 | 1 << 32,
        twin::TEXT,
        HEADER,
        0,
        HEADER << 32 | 56 << 48,
        1,
        // One segment to be loaded, readable and executable.
        1 | 5 << 32,
        PAGE,
        twin::TEXT,
        twin::TEXT,
        16,
        PAGE,
        PAGE,
    ];
    let mut words = header.to_vec();
    words.resize((PAGE / 8) as usize, 0);
    words.extend(text);
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}
