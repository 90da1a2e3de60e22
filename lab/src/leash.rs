//! Children that end when this process does, also if it is killed, so that no emulator goes on
//! without anybody. The kernel ends a child that has asked for it, and only the child can ask: this
//! program is started once more, asks, and becomes the child's program.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::Path;
use std::process::{Child, Command, ExitCode};
use std::sync::{LazyLock, Mutex, PoisonError, mpsc};
use std::thread;

use rustix::process::{Signal, set_parent_process_death_signal};

/// The first argument of a process that is to become a child: its parent, the program and the
/// program's arguments follow.
const WORD: &str = "--leashed";

/// The file of this program, also if another one has its name by now.
const THIS: &str = "/proc/self/exe";

/// The exit status where the program cannot be run, as a shell has it.
const CANNOT_RUN: u8 = 127;

/// Becomes a child's program, if this process was started for that. Returns if it was not, and if
/// that fails.
pub fn become_child() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().filter(|word| word == WORD)?;
    let (parent, program) = (arguments.next()?, arguments.next()?);
    // Where the system has no such signal, the child is one as others are.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if parent.to_str() != Some(&parent_id().to_string()) {
        // It has ended before the signal was set.
        return Some(ExitCode::FAILURE);
    }
    let error = Command::new(&program).args(arguments).exec();
    eprintln!("cannot run {}: {error}", program.display());
    Some(ExitCode::from(CANNOT_RUN))
}

/// A command that runs a program as such a child, to be started by [`spawn`].
///
/// # Errors
///
/// There is no such program.
pub fn command(program: impl AsRef<Path>) -> io::Result<Command> {
    of(&Command::new(program.as_ref()))
}

/// The same with the arguments, the environment and the folder of another command; what that says
/// of inputs and outputs is not known.
///
/// # Errors
///
/// There is no such program.
pub fn of(wanted: &Command) -> io::Result<Command> {
    let program = Path::new(wanted.get_program());
    if !exists(program, wanted.get_current_dir().unwrap_or(Path::new(""))) {
        return Err(ErrorKind::NotFound.into());
    }
    let mut command = leashed(program);
    command.args(wanted.get_args());
    for (name, value) in wanted.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = wanted.get_current_dir() {
        command.current_dir(folder);
    }
    Ok(command)
}

/// Whether there is such a program, for a process that runs in a folder.
fn exists(program: &Path, folder: &Path) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&paths).map(|place| place.join(program));
    match program.parent() {
        Some(parent) if parent == Path::new("") => places.any(|place| place.is_file()),
        _ => folder.join(program).is_file(),
    }
}

fn leashed(program: &Path) -> Command {
    if cfg!(test) {
        // The tests' program has another `main`.
        return Command::new(program);
    }
    let mut command = Command::new(THIS);
    let parent = OsString::from(std::process::id().to_string());
    command.args([OsString::from(WORD), parent, program.into()]);
    command
}

/// What is to be started, and whom to tell.
type Order = (Command, mpsc::Sender<io::Result<Child>>);

/// Starts a [`command`]. A child ends with the thread that has started it: all are started by one
/// that stays.
///
/// # Errors
///
/// It could not be started.
pub fn spawn(command: Command) -> io::Result<Child> {
    static KEEPER: LazyLock<Mutex<mpsc::Sender<Order>>> = LazyLock::new(|| {
        let (orders, next) = mpsc::channel::<Order>();
        thread::spawn(move || {
            for (mut command, answer) in next {
                // Who asked waits for it.
                let _ = answer.send(command.spawn());
            }
        });
        Mutex::new(orders)
    });
    let (answer, started) = mpsc::channel();
    let keeper = KEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    keeper.send((command, answer)).map_err(io::Error::other)?;
    drop(keeper);
    started.recv().map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_told_before_anything_starts() {
        for missing in ["/nonexistent/sh", "no-such-program", "./no-such-program"] {
            assert_eq!(command(missing).unwrap_err().kind(), ErrorKind::NotFound, "{missing}");
        }
        let status = spawn(command("true").unwrap()).unwrap().wait().unwrap();
        assert!(status.success());
    }
}
