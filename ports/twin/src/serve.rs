//! The program of a twin.

use crate::attached;
use crate::programs::{self, Program};
use devices::Make;
use std::io::{self, BufWriter};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use twin_protocol::{Reply, Request, Run, receive, send};

/// What the last panic said, and where.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Answers requests from the socket that is the standard input, until it is closed: the whole
/// program of a twin, which runs Giusto's programs and further ones, with further plants.
pub fn serve(programs: &[Program], plants: &[(&'static str, Make)]) -> ExitCode {
    programs::add(programs);
    attached::add(plants);
    panic::set_hook(Box::new(|info| {
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string();
    }));
    match answer_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: no request comes from the standard input: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Answers until the laboratory closes the socket.
fn answer_all() -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (mut requests, mut replies) = (&socket, BufWriter::new(&socket));
    while let Some(request) = receive(&mut requests)? {
        send(&mut replies, &answer(request))?;
    }
    Ok(())
}

fn answer(request: Request) -> Reply {
    match request {
        Request::About => Reply::About(crate::about()),
        Request::Run(run) => ran(&run),
    }
}

fn ran(run: &Run) -> Reply {
    if let Err(why) = attached::check(&run.options) {
        return Reply::Refused(why);
    }
    match panic::catch_unwind(|| crate::run(run)) {
        Ok(outcome) => Reply::Ran(Box::new(outcome)),
        Err(_) => Reply::Failed(PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()),
    }
}
