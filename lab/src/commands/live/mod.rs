//! `ps`, `sched` and `top`: running systems.

mod ps;
mod sched;
mod top;
mod words;

pub use ps::{ps, time};
pub use sched::sched;
pub use top::top;

use crate::cli::Which;
use crate::live::{self, Channel, Entry, Picture};
use abi::control::Command;
use anyhow::Result;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How often is looked for a system that is waited for.
const LOOK: Duration = Duration::from_millis(50);

/// A running system that can be asked.
struct Live {
    entry: Entry,
    channel: Channel,
}

impl Live {
    fn open(which: &Which) -> Result<Live> {
        let find = || live::find(which.system.as_deref(), which.pid);
        let end = which.wait.map(|wait| Instant::now() + wait);
        let mut entry = find();
        // A process that has ended runs no system any more.
        let may_come = || which.pid.is_none_or(|pid| Path::new(&format!("/proc/{pid}")).exists());
        while entry.is_err() && end.is_some_and(|end| Instant::now() < end) && may_come() {
            thread::sleep(LOOK);
            entry = find();
        }
        let entry = entry?;
        let channel = Channel::open(&entry)?;
        Ok(Live { entry, channel })
    }

    fn has_ended(&self) -> bool {
        self.channel.has_ended()
    }

    /// What it is like now, with the marks of its stacks or without.
    fn picture(&self, stacks: bool) -> Result<Picture> {
        let answer = self.channel.ask(Command::Picture { stacks })?;
        Picture::of(&answer, &self.entry)
    }
}
