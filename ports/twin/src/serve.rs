//! The program of a twin.

use crate::attached;
use crate::machine_code;
use crate::programs::{self, Program};
use crate::typist::Ask;
use devices::Make;
use std::io::{self, BufWriter};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use twin_protocol::{Reply, Request, Run, Typed, receive, send};

/// What the last panic said, and where.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// Answers requests from the socket that is the standard input, until it is closed: the whole
/// program of a twin, which runs Giusto's programs and further ones, with further plants.
pub fn serve(programs: &[Program], plants: &[(&'static str, Make)]) -> ExitCode {
    machine_code::keep_panics_free();
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
    // Both live as long as the process.
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let socket: &'static UnixStream = Box::leak(Box::new(socket));
    let ask: Ask = Box::leak(Box::new(move |line| typed(socket, line)));
    while let Some(request) = receive(&mut &*socket)? {
        let reply = match request {
            Request::About => Reply::About(crate::about()),
            Request::Run(run) => ran(&run, ask),
            Request::Typed(_) => Reply::Failed("no line was told".to_string()),
        };
        send(&mut BufWriter::new(socket), &reply)?;
    }
    Ok(())
}

/// What is typed because of a line.
fn typed(socket: &UnixStream, line: String) -> Typed {
    let asked = send(&mut BufWriter::new(socket), &Reply::Printed(line));
    match asked.and_then(|()| receive(&mut &*socket)) {
        Ok(Some(Request::Typed(typed))) => typed,
        other => panic!("a line was told, and the answer was {other:?}"),
    }
}

fn ran(run: &Run, ask: Ask) -> Reply {
    let can_be = attached::check(&run.options).and_then(|()| machine_code::check(&run.options));
    if let Err(why) = can_be {
        return Reply::Refused(why);
    }
    match panic::catch_unwind(AssertUnwindSafe(|| crate::run(run, ask))) {
        Ok(outcome) => Reply::Ran(Box::new(outcome)),
        Err(_) => Reply::Failed(PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()),
    }
}
