//! A system that this host reaches through the network of the emulator, as a user does it.

use super::builds::Builds;
use super::giusto;
use super::job::Job;
use crate::cli::Group;
use crate::image::Build;
use crate::machine::EMULATOR;
use crate::scratch::Scratch;
use crate::systems;
use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Datagrams, each so many bytes longer than the last one.
const DATAGRAMS: usize = 16;
const STEP: usize = 31;
/// How long one may be away before it is sent again, as any may be lost.
const AWAY: Duration = Duration::from_millis(200);
/// How long all of it may take, with what has to be built.
const LIMIT: Duration = Duration::from_secs(120);

/// How often the driver is restarted, at least.
const RESTARTS: usize = 2;

/// Has the driver restarted. What is on its way then is lost.
const RESTARTER: &str = r#"
[[domain]]
name = "restarter"
program = "restarter"
priority = 60
args = { child = "card", every = 500 }
caps = [{ name = "supervisor", supervisor = true }]
"#;

/// The job.
pub fn jobs() -> Vec<Job> {
    let name = "datagrams of this host come back from a system whose driver is restarted";
    let job = Job::new(Group::Target, name, |_| {
        let folder = Scratch::new()?;
        let manifest = folder.path().join("online.toml");
        let system = fs_err::read_to_string(systems::path("online")?)?;
        fs_err::write(&manifest, system + RESTARTER)?;
        let mut running = Running::start(&manifest)?;
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect((Ipv4Addr::LOCALHOST, running.port()?))?;
        socket.set_read_timeout(Some(AWAY))?;
        let end = Instant::now() + LIMIT;
        echoes(&socket, end)?;
        let restarts = running.restarts(RESTARTS)?;
        ensure!(restarts == RESTARTS, "the driver was restarted {restarts} times");
        echoes(&socket, end)
    });
    vec![job.builds(Builds::of(EMULATOR, Build::default())).seconds(4.0)]
}

/// A `run` in the background, which ends with this.
struct Running(Child);

impl Running {
    fn start(manifest: &Path) -> Result<Running> {
        let mut run = giusto()?;
        run.arg("run").arg(manifest).args(["--timeout", "120"]);
        run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(Running(run.spawn().context("cannot run this program")?))
    }

    /// The port of this host that it prints.
    fn port(&mut self) -> Result<u16> {
        let errors = self.0.stderr.take().context("it has a standard error")?;
        let mut said = String::new();
        for line in BufReader::new(errors).lines() {
            let line = line?;
            let port = line
                .strip_prefix("UDP port 7 of the system is 127.0.0.1:")
                .and_then(|rest| rest.strip_suffix(" of this host")?.parse().ok());
            if let Some(port) = port {
                return Ok(port);
            }
            said = said + &line + "\n";
        }
        bail!("it tells no port: {said}")
    }

    /// Waits until the driver was restarted so often; how often it was when the run ends earlier.
    fn restarts(&mut self, wanted: usize) -> Result<usize> {
        let output = self.0.stdout.take().context("it has a standard output")?;
        let is_restart = |line: &String| line.contains("card restarted");
        let lines = BufReader::new(output).lines().map_while(std::io::Result::ok);
        Ok(lines.filter(is_restart).take(wanted).count())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

/// Sends datagrams, and waits until each comes back as it went.
fn echoes(socket: &UdpSocket, end: Instant) -> Result<()> {
    for number in 0..DATAGRAMS {
        let datagram = vec![number as u8 + 1; 1 + STEP * number];
        while !echo(socket, &datagram)? {
            ensure!(Instant::now() < end, "datagram {number} of {DATAGRAMS} does not come back");
        }
    }
    Ok(())
}

/// Whether a datagram comes back. An earlier one that was sent twice may come in front of it.
fn echo(socket: &UdpSocket, datagram: &[u8]) -> Result<bool> {
    let mut bytes = [0; 1500];
    // Until the emulator has opened the port the host refuses it.
    let refused = |kind| kind == ErrorKind::ConnectionRefused;
    match socket.send(datagram) {
        Err(error) if refused(error.kind()) => std::thread::sleep(AWAY),
        sent => drop(sent?),
    }
    loop {
        match socket.recv(&mut bytes) {
            Ok(count) if bytes[..count] == *datagram => return Ok(true),
            Ok(count) => {
                ensure!(count < datagram.len(), "{count} bytes came for {}", datagram.len());
            }
            Err(error) if refused(error.kind()) => {
                std::thread::sleep(AWAY);
                return Ok(false);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
    }
}
