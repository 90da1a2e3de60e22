//! The twin's program: processes that wait for requests, as many as are asked at once.

use crate::image;
use anyhow::{Context, Result, anyhow, bail};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::sync::{Mutex, OnceLock, PoisonError};
use twin_protocol::{About, Outcome, Reply, Request, Run, receive, send};

/// Processes that nothing is asked of. They end when this process does, which closes the sockets.
static IDLE: Mutex<Vec<Process>> = Mutex::new(Vec::new());

/// What the twin consists of.
pub fn about() -> Result<&'static About> {
    static ABOUT: OnceLock<About> = OnceLock::new();
    if let Some(known) = ABOUT.get() {
        return Ok(known);
    }
    match ask(&Request::About)? {
        Reply::About(about) => Ok(ABOUT.get_or_init(|| about)),
        other => bail!("the twin was asked what it consists of, and answered {other:?}"),
    }
}

/// Boots an archive in the twin and runs it.
pub fn run(run: Run) -> Result<Outcome> {
    match ask(&Request::Run(Box::new(run)))? {
        Reply::Ran(outcome) => Ok(*outcome),
        Reply::Failed(message) => bail!("the twin failed: {message}"),
        Reply::About(_) => bail!("the twin was asked for a run, and answered something else"),
    }
}

fn idle() -> std::sync::MutexGuard<'static, Vec<Process>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ask(request: &Request) -> Result<Reply> {
    // A statement of its own: the lock is not held while a process starts.
    let waiting = idle().pop();
    let mut process = waiting.map_or_else(Process::start, Ok)?;
    let reply = process.ask(request)?;
    idle().push(process);
    Ok(reply)
}

/// A process of the twin's program.
struct Process {
    child: Child,
    socket: UnixStream,
}

impl Process {
    fn start() -> Result<Process> {
        let program = image::twin()?;
        let (socket, its) = UnixStream::pair().context("no socket for the twin")?;
        let child = Command::new(&program).stdin(OwnedFd::from(its)).spawn();
        let child = child.with_context(|| format!("cannot run {}", program.display()))?;
        Ok(Process { child, socket })
    }

    fn ask(&mut self, request: &Request) -> Result<Reply> {
        let reply = send(&mut self.socket, request).and_then(|()| receive(&mut self.socket));
        match reply {
            Ok(Some(reply)) => Ok(reply),
            Ok(None) => Err(self.failed(None)),
            Err(error) => Err(self.failed(Some(error))),
        }
    }

    /// Why there is no reply; the process is gone after that.
    fn failed(&mut self, error: Option<io::Error>) -> anyhow::Error {
        // One that has ended is not killed; one that has not makes no sense any more.
        let ended = self.child.try_wait();
        let _ = self.child.kill();
        let status = ended.ok().flatten().or_else(|| self.child.wait().ok());
        let status = status.map_or("somehow".to_string(), |status| status.to_string());
        match error {
            None => anyhow!("the twin ended without an answer: {status}"),
            Some(error) => anyhow!("the twin gave no answer: {error}; it ended: {status}"),
        }
    }
}
