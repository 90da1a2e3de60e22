//! Boots a system on a machine and follows it to its end.

use super::console::{self, Console, Feed, Input, Interrupts, Printed, RawTerminal, Typist};
use super::memory::{SharedFile, WORD, word_at};
use super::outcome::{Exit, Outcome, Simulated, kernel_name};
use super::standing::Standing;
use super::watch::Watch;
use super::{
    Doing, Emulator, Launch, Machine, Plugged, Plugin, Remains, Samples, Sampling, Simulation,
    attached, twin,
};
use crate::failure::{did_you_mean, interrupted, usage};
use crate::image::{self, Images};
use crate::leash;
use crate::live::Registration;
use crate::symbols;
use anyhow::{Context, Result, bail};
use manifest::{Archive, System};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How often the laboratory looks whether the emulator has ended.
const POLL: Duration = Duration::from_millis(2);

/// What to boot, and how.
pub struct Boot<'a> {
    /// The machine.
    pub machine: &'a dyn Machine,
    /// One of its boards.
    pub board: &'a str,
    /// The built kernel and programs.
    pub images: &'a Images,
    /// The system.
    pub system: &'a System,
    /// The kernel's name.
    pub kernel: &'a str,
    /// Count instructions as time, exactly repeatably, with this seed.
    pub icount: Option<u64>,
    /// What happens with the console.
    pub console: Console,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// Judge the page tables that the run has left, if it ends well.
    pub inspect: bool,
    /// What the twin alone can do.
    pub simulation: Simulation,
    /// Where all CPUs share one clock: whether the kernel hands out slices of it, without which a
    /// program that neither pauses nor waits keeps other CPUs from running.
    pub slices: bool,
    /// Seed of the scheduling tree's decisions by chance; 0: its policies decide. An image for that
    /// is built with [`chance`](crate::image::Build::chance).
    pub decisions: u64,
    /// The kernel keeps a log of its primitive steps, which the outcome is to hold.
    pub log: bool,
    /// The kernel takes samples, which the outcome is to hold.
    pub sampling: Option<Sampling>,
    /// The socket on which the emulator waits for a debugger before the first instruction.
    pub debugger: Option<&'a Path>,
    /// What sees every instruction, where the machine is emulated.
    pub plugin: Option<&'a Plugin>,
    /// Enters the running system among those that can be watched and changed.
    pub control: Option<&'a Registration>,
}

impl<'a> Boot<'a> {
    /// A system under its own kernel on the machine's usual board, at the pace of the clock and
    /// without end, its console captured.
    pub fn new(machine: &'a dyn Machine, images: &'a Images, system: &'a System) -> Boot<'a> {
        Boot {
            machine,
            board: machine.boards()[0],
            images,
            system,
            kernel: &system.kernel,
            icount: None,
            console: Console::CAPTURE,
            timeout: None,
            inspect: false,
            simulation: Simulation::default(),
            slices: true,
            decisions: 0,
            log: false,
            sampling: None,
            debugger: None,
            plugin: None,
            control: None,
        }
    }

    /// On another of its boards.
    pub fn board(self, board: &'a str) -> Boot<'a> {
        Boot { board, ..self }
    }

    /// Under another kernel.
    pub fn kernel(self, kernel: &'a str) -> Boot<'a> {
        Boot { kernel, ..self }
    }

    /// With instructions counted as time, exactly repeatably, with this seed.
    pub fn seed(self, seed: u64) -> Boot<'a> {
        Boot { icount: Some(seed), ..self }
    }

    /// With the console used in this way.
    pub fn console(self, console: Console) -> Boot<'a> {
        Boot { console, ..self }
    }

    /// Given up after this time.
    pub fn timeout(self, timeout: Duration) -> Boot<'a> {
        Boot { timeout: Some(timeout), ..self }
    }

    /// With the page tables judged that the run leaves, if it ends well.
    pub fn inspect(self, inspect: bool) -> Boot<'a> {
        Boot { inspect, ..self }
    }

    /// With what the twin alone can do.
    pub fn simulation(self, simulation: Simulation) -> Boot<'a> {
        Boot { simulation, ..self }
    }

    /// With slices of a shared clock handed out, or not.
    pub fn slices(self, slices: bool) -> Boot<'a> {
        Boot { slices, ..self }
    }

    /// With decisions by chance from this seed, if it is not 0.
    pub fn decisions(self, seed: u64) -> Boot<'a> {
        Boot { decisions: seed, ..self }
    }

    /// With the log of primitive steps in the outcome.
    pub fn log(self) -> Boot<'a> {
        Boot { log: true, ..self }
    }

    /// With samples in the outcome, if any are to be taken.
    pub fn sampling(self, sampling: Option<Sampling>) -> Boot<'a> {
        Boot { sampling, ..self }
    }

    /// Stopped until a debugger lets it go, if one is to come to this socket.
    pub fn debugger(self, debugger: Option<&'a Path>) -> Boot<'a> {
        Boot { debugger, ..self }
    }

    /// With every instruction seen by a plugin.
    pub fn plugin(self, plugin: &'a Plugin) -> Boot<'a> {
        Boot { plugin: Some(plugin), ..self }
    }

    /// Entered among the running systems, if it has a control domain.
    pub fn control(self, control: Option<&'a Registration>) -> Boot<'a> {
        Boot { control, ..self }
    }
}

/// Boots and waits for the end.
pub fn boot(boot: &Boot) -> Result<Outcome> {
    boot_spoilt(boot, &|_| ())
}

/// [`boot`] with an archive that has been changed.
pub fn boot_spoilt(boot: &Boot, spoil: &dyn Fn(&mut [u8])) -> Result<Outcome> {
    let Some(emulator) = boot.machine.emulator() else { return twin::boot(boot, spoil) };
    let nonce = RandomState::new().hash_one(0);
    let mut archive = pack(boot.images, boot.system, nonce)?;
    spoil(&mut archive.bytes);
    let memory = SharedFile::new(boot.system.memory)?;
    let archive_file = SharedFile::with(&archive.bytes)?;
    let devices = attach(boot, emulator)?;
    let launch = Launch {
        board: boot.board,
        icount: boot.icount,
        cpus: boot.system.cpus,
        memory: boot.system.memory,
        memory_file: Some(&memory.path()),
        kernel: &boot.images.kernel,
        archive: &archive_file.path(),
        command_line: &command_line(boot),
        debugger: boot.debugger,
        plugin: boot.plugin,
        devices: &devices,
    };
    let enter = |registration: &Registration| registration.enter(&memory.path(), nonce, &archive);
    let entered = boot.control.map(enter).transpose()?;
    let standing = || Standing::of(emulator, &boot.images.kernel, &memory);
    let watch = Watch::of(Some(standing()?), launch.cpus);
    let (exit, console) = follow(emulator, &launch, &boot.console, boot.timeout, watch)?;
    drop(entered);
    let (given_up, threads) = left_by(&standing()?, &exit);
    let mut memories = BTreeMap::new();
    let mut findings = Vec::new();
    let done = matches!(exit, Exit::Done(_));
    let wanted = boot.inspect || archive.memories.iter().any(|memory| memory.host);
    let left = if wanted { memory.archive(nonce).map(Some) } else { Ok(None) };
    // After a crash there may be less, or nothing.
    let left = if done { left? } else { left.ok().flatten() };
    if let Some(left) = left {
        for wanted in archive.memories.iter().filter(|memory| memory.host) {
            let address = word_at(&left, wanted.address_offset / WORD).unwrap_or(0);
            if address == 0 && done {
                bail!("the kernel did not say where the memory `{}` lies", wanted.name);
            }
            if address != 0 {
                let contents = memory.physical(emulator, address, wanted.bytes)?;
                memories.insert(wanted.name.clone(), contents);
            }
        }
        if boot.inspect && done {
            let (machine, kernel) = (emulator, boot.images.kernel.as_path());
            let remains = Remains { machine, memory: &memory, archive: &left, kernel };
            findings = machine.inspect(&remains).context("the page tables cannot be judged")?;
        }
    }
    let log = if boot.log { read_log(emulator, boot, &memory)? } else { Vec::new() };
    let samples = samples(emulator, boot, &memory, &exit)?;
    let kernel = kernel_name(&console).unwrap_or_default().to_string();
    Ok(Outcome {
        machine: emulator.name(),
        exit,
        backtrace: symbols::backtrace(&boot.images.kernel, &console),
        console,
        memories,
        simulated: Simulated::default(),
        kernel,
        findings,
        threads,
        given_up,
        log,
        samples,
    })
}

/// The devices that the board is given; tells at which ports of this host they are reached.
fn attach(boot: &Boot, emulator: &dyn Emulator) -> Result<Vec<Plugged>> {
    if let Some(device) = boot.system.attached.first()
        && !emulator.has_places(boot.board)
    {
        let (name, board) = (&device.name, boot.board);
        let message = format!("board {board} has no place for device `{name}`");
        return Err(usage(format!("{message}; run it on {}", emulator.boards()[0])));
    }
    let devices = attached::plug(boot.system)?;
    if boot.console.show {
        attached::forwards(&devices).for_each(|forward| eprintln!("{forward}"));
    }
    Ok(devices)
}

/// What was given up, and what each thread was doing, if that is to be told. If the
/// kernel has not come so far that it has threads, there are none to tell of.
fn left_by(standing: &Standing, exit: &Exit) -> (Vec<(u32, u32)>, Vec<Doing>) {
    let waits = matches!(exit, Exit::Hang | Exit::Stuck);
    if !waits && !matches!(exit, Exit::Done(_)) {
        return (Vec::new(), Vec::new());
    }
    let given_up = standing.given_up().unwrap_or_default();
    let tells = waits || !given_up.is_empty();
    let threads = if tells { standing.threads() } else { Ok(Vec::new()) };
    (given_up, threads.unwrap_or_default())
}

/// Nanoseconds for which one of several CPUs runs that do not idle, where all share one clock.
const SLICE: u64 = 100_000;

fn command_line(boot: &Boot) -> String {
    let mut line = format!("kernel={}", boot.kernel);
    if let Some(Sampling { period, seed }) = boot.sampling {
        line += &format!(" profile={period} profile_seed={seed}");
    } else if boot.slices && boot.system.cpus > 1 && boot.icount.is_some() {
        line += &format!(" slices={SLICE}");
    }
    if boot.decisions > 0 {
        line += &format!(" decisions={}", boot.decisions);
    }
    line
}

/// The samples that a kernel has taken, if it was to take any and came so far.
fn samples(
    machine: &dyn Emulator,
    boot: &Boot,
    memory: &SharedFile,
    exit: &Exit,
) -> Result<Option<Samples>> {
    let ran = matches!(exit, Exit::Done(_) | Exit::Hang | Exit::Interrupted | Exit::Stuck);
    let wanted = boot.sampling.filter(|_| ran);
    wanted.map(|_| Samples::read(machine, &boot.images.kernel, memory)).transpose()
}

/// The steps that a kernel has written down, as far as there was room.
fn read_log(machine: &dyn Emulator, boot: &Boot, memory: &SharedFile) -> Result<Vec<u64>> {
    const LOG: &str = "STEP_LOG";
    let at = image::static_address(&boot.images.kernel, LOG)?;
    let count = memory.physical(machine, at, WORD as u64)?;
    let count = word_at(&count, 0).unwrap_or(0).min(image::LOG_ROOM as u64);
    let bytes = memory.physical(machine, at + WORD as u64, count * WORD as u64)?;
    Ok((0..count as usize).filter_map(|index| word_at(&bytes, index)).collect())
}

/// Makes the boot archive of a system with its programs.
pub fn pack(images: &Images, system: &System, nonce: u64) -> Result<Archive> {
    let programs = &images.programs;
    let read = |name: &str| {
        let names = programs.keys().map(String::as_str);
        let Some(path) = programs.get(name) else {
            return Err(format!("it was not built{}", did_you_mean(name, names)));
        };
        std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    Ok(manifest::pack(system, &read, nonce)?)
}

/// [`pack`] with programs from elsewhere.
pub fn pack_with(
    boot: &Boot,
    read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    nonce: u64,
) -> Result<Archive> {
    Ok(manifest::pack(boot.system, read, nonce)?)
}

/// Starts the emulator and waits for its end; returns how it ended and what was printed.
fn follow(
    machine: &dyn Emulator,
    launch: &Launch,
    Console { show, input }: &Console,
    timeout: Option<Duration>,
    watch: Watch,
) -> Result<(Exit, String)> {
    let program = machine.program();
    let interrupts = Interrupts::watch();
    let start = || {
        let mut command = leash::command(program)?;
        command.args(machine.arguments(launch));
        let is_fed = !matches!(input, Input::Nothing);
        command.stdin(if is_fed { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        leash::spawn(command)
    };
    let mut child = start()
        .map_err(|error| usage(format!("cannot run {program}: {error}; see `./giusto doctor`")))?;
    let printed = Arc::new(Printed::default());
    let output = child.stdout.take().context("the emulator has no standard output")?;
    let (typist, fed) = match input {
        Input::Nothing => (None, None),
        Input::User => (None, Some(Feed::User(Arc::clone(&printed)))),
        Input::Script(script) => {
            let (typist, keys) = Typist::new(script.clone());
            (Some(typist), Some(Feed::Typed(keys)))
        }
    };
    let reader = printed.follow(output, *show, typist);
    let mut complaints = child.stderr.take().context("the emulator has no standard error")?;
    let complaints = thread::spawn(move || {
        let mut text = String::new();
        // What can be read of it is enough.
        let _ = complaints.read_to_string(&mut text);
        text
    });
    let is_users = matches!(input, Input::User);
    let terminal = is_users.then(RawTerminal::enter);
    if let Some(fed) = fed {
        let guest = child.stdin.take().context("the emulator has no standard input")?;
        console::feed(guest, fed);
    }
    let stopped = wait(&mut child, timeout, (&interrupts, &printed), watch);
    drop(terminal);
    if !is_users && matches!(stopped, Ok(Stopped::Forced(Exit::Interrupted))) {
        // No user is at this console: the whole command was meant.
        interrupted();
    }
    reader.join().expect("the reader does not panic");
    let complaints = complaints.join().expect("the reader does not panic");
    let console = printed.text();
    let exit = match stopped? {
        Stopped::Alone(code) => machine.decode(code, &complaints),
        Stopped::Forced(exit) => exit,
    };
    Ok((blame(exit, &console, program, &complaints), console))
}

/// How an emulator came to its end.
enum Stopped {
    /// By itself, with this exit code unless by a signal.
    Alone(Option<i32>),
    /// The laboratory ended it, for this reason.
    Forced(Exit),
}

/// Waits for the emulator, and ends it at the timeout or when the user asks.
fn wait(
    child: &mut Child,
    timeout: Option<Duration>,
    (interrupts, printed): (&Interrupts, &Printed),
    mut watch: Watch,
) -> Result<Stopped> {
    let started = Instant::now();
    loop {
        let ended = child.try_wait()?;
        let forced = if interrupts.any() {
            Exit::Interrupted
        } else if let Some(status) = ended {
            return Ok(Stopped::Alone(status.code()));
        } else if watch.finds_stuck(child, printed.takes_word()) {
            Exit::Stuck
        } else if timeout.is_some_and(|timeout| started.elapsed() > timeout) {
            Exit::Hang
        } else {
            thread::sleep(POLL);
            continue;
        };
        // It may have ended in the meantime.
        let _ = child.kill();
        child.wait()?;
        return Ok(Stopped::Forced(forced));
    }
}

/// An emulator that fails to start exits with the same code as a guest that ends well; what
/// tells them apart is that nothing was printed.
fn blame(exit: Exit, console: &str, program: &str, complaints: &str) -> Exit {
    let complaints = complaints.trim();
    match exit {
        Exit::Done(_) if console.is_empty() => Exit::Emulator(match complaints {
            "" => format!("{program} ended at once"),
            complaints => complaints.to_string(),
        }),
        Exit::Emulator(what) if !complaints.is_empty() => {
            Exit::Emulator(format!("{what}; {complaints}"))
        }
        exit => exit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Count, Debugger, Does, Finding, Platform, STUCK};
    use std::ffi::OsString;

    /// A machine whose emulator is the shell and whose kernel is a script.
    struct Script(&'static str);

    impl Platform for Script {
        fn name(&self) -> &'static str {
            "script"
        }
        fn unit(&self) -> &'static str {
            "steps"
        }
        fn origin(&self) -> results::Origin {
            results::Origin::EMULATED
        }
    }

    impl Machine for Script {
        fn boards(&self) -> &'static [&'static str] {
            &["board"]
        }

        fn most_cpus(&self) -> u32 {
            1
        }
        fn emulator(&self) -> Option<&dyn Emulator> {
            Some(self)
        }
    }

    impl Emulator for Script {
        fn target(&self) -> &'static str {
            "none"
        }
        fn port(&self) -> &'static str {
            "none"
        }
        fn kernel_binary(&self) -> &'static str {
            "none"
        }
        fn program(&self) -> &'static str {
            "sh"
        }
        fn emulator_package(&self) -> &'static str {
            "dash"
        }
        fn least_version(&self) -> (u32, u32) {
            (0, 0)
        }
        fn arguments(&self, _: &Launch) -> Vec<OsString> {
            ["-c", self.0].map(OsString::from).to_vec()
        }
        fn memory_offset(&self, physical: u64) -> Option<u64> {
            Some(physical)
        }
        fn decode(&self, code: Option<i32>, _: &str) -> Exit {
            code.map_or(Exit::Hang, |code| Exit::Done(code as u32))
        }
        fn inspect(&self, _: &Remains) -> Result<Vec<Finding>> {
            bail!("a script has no page tables")
        }
        fn count_round_trip(&self, _: &mut Debugger, _: &Path, _: usize) -> Result<Vec<Count>> {
            bail!("a script has no instructions")
        }
        fn does(&self, _: &[u8]) -> Does {
            Does::default()
        }
        fn counter_reads(&self, _: &[u8], _: u64) -> Vec<u64> {
            Vec::new()
        }
        fn kernel_memory(&self, _: u64) -> Option<u64> {
            None
        }
        fn has_places(&self, _: &str) -> bool {
            false
        }
        fn is_kernel(&self, _: u64) -> bool {
            false
        }
    }

    fn run(script: &'static str, timeout: Duration) -> (Exit, String) {
        let nowhere = Path::new("/nonexistent");
        let launch = Launch {
            board: "board",
            icount: None,
            cpus: 1,
            memory: 0,
            memory_file: Some(nowhere),
            kernel: nowhere,
            archive: nowhere,
            command_line: "",
            debugger: None,
            plugin: None,
            devices: &[],
        };
        let watch = Watch::of(None, 1);
        follow(&Script(script), &launch, &Console::CAPTURE, Some(timeout), watch).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn the_console_is_captured_to_its_end() {
        let (exit, console) = run("printf 'one\\r\\ntwo'; exit 3", LONG);
        assert_eq!((exit, console.as_str()), (Exit::Done(3), "one\ntwo"));
        let (_, console) = run("head -c 300000 /dev/zero", LONG);
        assert_eq!(console.len(), 300_000);
    }

    #[test]
    fn a_hanging_guest_is_ended() {
        let started = Instant::now();
        let (exit, console) = run("echo begun; exec sleep 50", Duration::from_millis(300));
        assert_eq!((exit, console.as_str()), (Exit::Hang, "begun\n"));
        assert!(started.elapsed() < Duration::from_secs(40));
    }

    /// A program can print what the kernel does when all threads wait.
    #[test]
    fn what_is_printed_ends_no_run() {
        let script = "echo every thread waits, and nothing will happen; sleep 1; exit 3";
        let (exit, console) = run(script, LONG);
        assert_eq!((exit, console), (Exit::Done(3), format!("{STUCK}\n")));
    }

    #[test]
    fn an_emulator_that_fails_is_quoted() {
        let (exit, _) = run("echo no such board >&2; exit 0", LONG);
        assert_eq!(exit, Exit::Emulator("no such board".to_string()));
    }

    #[test]
    fn a_silent_success_is_the_emulators_failure() {
        let blamed = blame(Exit::Done(0), "", "emulator", "emulator: no such board\n");
        assert_eq!(blamed, Exit::Emulator("emulator: no such board".to_string()));
        assert_eq!(blame(Exit::Done(0), "hello\n", "emulator", "warning"), Exit::Done(0));
        let blamed = blame(Exit::Emulator("reset".to_string()), "x", "emulator", "bad");
        assert_eq!(blamed, Exit::Emulator("reset; bad".to_string()));
    }
}
