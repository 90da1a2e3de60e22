//! Whether an emulated machine has come to stand for ever. Its memory says so, whatever is printed:
//! a program can print what the kernel does.

use super::standing::Standing;
use anyhow::Result;
use rustix::process::{self, Pid, Signal, WaitId, WaitIdOptions};
use std::mem::replace;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

/// How often a machine of several CPUs is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long an emulator may take to stop.
const STOPS: Duration = Duration::from_millis(100);
/// How often it is asked whether it has.
const POLL: Duration = Duration::from_millis(1);

/// Looks at a machine while it runs.
pub struct Watch<'a> {
    standing: Option<Standing<'a>>,
    /// There are several CPUs, none of which tells that all threads wait.
    are_silent: bool,
    looked: Instant,
    /// It stood when it was looked at last.
    stood: bool,
}

impl<'a> Watch<'a> {
    /// A machine of so many CPUs whose memory can be read, if it can.
    pub fn of(standing: Option<Standing<'a>>, cpus: u32) -> Watch<'a> {
        Watch { standing, are_silent: cpus > 1, looked: Instant::now(), stood: false }
    }

    /// Whether all threads wait for ever. One CPU has `told` so, then it is looked at once.
    /// Several are looked at now and then, and must have stood twice: a CPU that the host has
    /// stopped between two timers looks as if it had none.
    pub fn finds_stuck(&mut self, child: &Child, told: bool) -> bool {
        let is_due = told || self.are_silent && self.looked.elapsed() > LOOK;
        let Some(standing) = self.standing.as_ref().filter(|_| is_due) else { return false };
        // What cannot be looked at is believed.
        let stands = is_stuck(child, standing).unwrap_or(told);
        self.looked = Instant::now();
        let stood = replace(&mut self.stood, stands);
        stands && (stood || !self.are_silent)
    }
}

/// Whether all threads of a machine wait for ever. It is stopped while that is looked at, unless a
/// CPU is seen to be busy before.
fn is_stuck(child: &Child, standing: &Standing) -> Result<bool> {
    // While the kernel boots, its memory says nothing.
    if !standing.idles()? {
        return Ok(false);
    }
    let id = Pid::from_child(child);
    process::kill_process(id, Signal::STOP)?;
    let stuck = if stands(id) { standing.is_stuck() } else { Ok(false) };
    process::kill_process(id, Signal::CONT)?;
    stuck
}

/// Waits until all threads of an emulator that was told to stop stand. False: they do not, since it
/// has been told to go on, or it has ended.
fn stands(id: Pid) -> bool {
    let how = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let began = Instant::now();
    while began.elapsed() < STOPS {
        match process::waitid(WaitId::Pid(id), how) {
            Ok(Some(_)) => return true,
            Ok(None) => thread::sleep(POLL),
            Err(_) => return false,
        }
    }
    false
}
