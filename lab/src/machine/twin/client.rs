//! Programs of the twin: processes that wait for requests, as many as are asked at once.

use crate::failure::usage;
use crate::machine::Shared;
use crate::{image, leash};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use twin_protocol::{About, Outcome, Reply, Request, Run, Typed, receive, send};

/// Processes that nothing is asked of. They end when this process does.
static IDLE: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// The twin that has Giusto's own programs alone.
pub fn own() -> Result<&'static Path> {
    static OWN: OnceLock<PathBuf> = OnceLock::new();
    if let Some(known) = OWN.get() {
        return Ok(known);
    }
    image::twin().map(|program| OWN.get_or_init(|| program).as_path())
}

/// What the twin consists of that has Giusto's own programs alone.
pub fn about() -> Result<&'static About> {
    about_of(own()?)
}

/// What a twin consists of.
pub fn about_of(program: &Path) -> Result<&'static About> {
    static KNOWN: Mutex<BTreeMap<PathBuf, &'static About>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(about) = known().get(program) {
        return Ok(about);
    }
    match ask(program, &Request::About, None)? {
        Reply::About(about) => {
            // Kept for as long as this process lives, once for each program.
            let about: &About = Box::leak(Box::new(about));
            known().insert(program.to_path_buf(), about);
            Ok(about)
        }
        other => bail!("the twin was asked what it consists of, and answered {other:?}"),
    }
}

/// Boots an archive in the twin that has Giusto's own programs alone, and runs it.
pub fn run(run: Run) -> Result<Outcome> {
    run_on(own()?, run, None)
}

/// Boots an archive in a twin and runs it; a script is followed if the run listens.
pub fn run_on(program: &Path, run: Run, script: Option<&Shared>) -> Result<Outcome> {
    match ask(program, &Request::Run(Box::new(run)), script)? {
        Reply::Ran(outcome) => Ok(*outcome),
        Reply::Refused(why) => Err(usage(why)),
        Reply::Failed(message) => bail!("the twin failed: {message}"),
        other => bail!("the twin was asked for a run, and answered {other:?}"),
    }
}

fn idle() -> MutexGuard<'static, Vec<Process>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ask(program: &Path, request: &Request, script: Option<&Shared>) -> Result<Reply> {
    // A function of its own: the lock is not held while a process starts.
    let mut process = match waiting(program) {
        Some(process) => process,
        None => Process::start(program)?,
    };
    let mut reply = process.ask(request)?;
    while let (Reply::Printed(line), Some(script)) = (&reply, script) {
        let mut script = script.script();
        let typed = Typed { text: script.hear(line), listens: !script.is_done() };
        drop(script);
        reply = process.ask(&Request::Typed(typed))?;
    }
    idle().push(process);
    Ok(reply)
}

fn waiting(program: &Path) -> Option<Process> {
    let mut idle = idle();
    let at = idle.iter().position(|process| process.program == program)?;
    Some(idle.swap_remove(at))
}

/// Ends the processes that nothing is asked of, and waits for them, so that the system counts the
/// time which they took as that of processes which this one has started.
pub fn end_idle() {
    let ended = std::mem::take(&mut *idle());
    for mut process in ended {
        // One that has ended by itself has closed it.
        let _ = process.socket.shutdown(Shutdown::Both);
        let _ = process.child.wait();
    }
}

/// A process of a twin's program.
struct Process {
    program: PathBuf,
    child: Child,
    socket: UnixStream,
}

impl Process {
    fn start(program: &Path) -> Result<Process> {
        let (socket, its) = UnixStream::pair().context("no socket for the twin")?;
        let start = || {
            let mut command = leash::command(program)?;
            command.stdin(OwnedFd::from(its));
            leash::spawn(command)
        };
        let child = start();
        let child = child.with_context(|| format!("cannot run {}", program.display()))?;
        Ok(Process { program: program.to_path_buf(), child, socket })
    }

    fn ask(&mut self, request: &Request) -> Result<Reply> {
        let reply = send(&mut self.socket, request).and_then(|()| receive(&mut self.socket));
        let why = match reply {
            Ok(Some(reply)) => return Ok(reply),
            Ok(None) => "it closed the socket".to_string(),
            Err(error) => error.to_string(),
        };
        // A machine that has closed the socket ends; what says something else is of no use.
        let _ = self.socket.shutdown(Shutdown::Both);
        let status = self.child.wait()?;
        bail!("the twin ended without an answer: {status}; {why}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twin_protocol::Options;

    #[test]
    fn a_run_that_the_twin_cannot_do_says_why_and_leaves_it_alive() {
        let (archive, options) = (vec![0; 64], Options::default());
        let run = Run { archive, options, wanted: vec![(64, 8)] };
        let mut process = Process::start(&image::twin().unwrap()).unwrap();
        let Reply::Failed(why) = process.ask(&Request::Run(Box::new(run))).unwrap() else {
            panic!("a word behind the archive's end was read");
        };
        assert!(why.contains("index out of bounds"), "{why}");
        assert!(matches!(process.ask(&Request::About), Ok(Reply::About(_))));
    }

    #[test]
    fn processes_that_nothing_is_asked_of_can_be_ended() {
        let twin = own().unwrap();
        ask(twin, &Request::About, None).unwrap();
        let pids: Vec<u32> = idle().iter().map(|process| process.child.id()).collect();
        end_idle();
        assert!(!pids.is_empty());
        assert!(idle().iter().all(|process| !pids.contains(&process.child.id())));
        assert!(pids.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()), "{pids:?}");
        assert!(ask(twin, &Request::About, None).is_ok(), "another one is started");
    }

    #[test]
    fn a_program_that_ends_is_one_error() {
        let mut process = Process::start(Path::new("false")).unwrap();
        let error = process.ask(&Request::About).unwrap_err().to_string();
        assert!(error.starts_with("the twin ended without an answer: exit status: 1; "), "{error}");
    }
}
