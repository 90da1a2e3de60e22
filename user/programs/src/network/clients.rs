//! Programs that send datagrams to each other.

use core::net::Ipv4Addr;
use rt::prelude::*;
use rt::{Rights, Slot, ipc, system};
use service::{CallError, Capability};
use sockets::{Address, Datagram, MOST, Refusal, SocketsClient};

/// The port on which datagrams come back (RFC 862).
pub(super) const ECHO: u16 = 7;
/// The port from which datagrams are sent.
const FROM: u16 = 5000;
/// Each datagram is so much longer than the last one, up to the most.
const STEP: usize = 37;
/// How long a datagram is waited for.
const PATIENCE: Duration = Duration::from_millis(100);

/// An open socket: capabilities `sockets` (send, grant), `ready` (receive, signal, copy).
struct Socket {
    server: SocketsClient,
    ready: Slot,
    number: u8,
}

impl Socket {
    fn open(env: &Env, port: u16) -> Result<Socket, CallError<Refusal>> {
        let server = SocketsClient::new(env.cap("sockets")).with_buffer(env.buffer(0));
        let ready = env.cap("ready");
        let number = server.open(port, Capability::grant(ready, Rights::SEND))?;
        Ok(Socket { server, ready, number })
    }

    fn send(&self, to: Address, bytes: &[u8]) -> Result<(), CallError<Refusal>> {
        self.server.send(self.number, to, bytes)
    }

    /// The next datagram; none if none comes while it waits for so long. What has come is taken,
    /// however late that is.
    fn receive(&self, patience: Option<Duration>) -> Result<Option<Datagram>, CallError<Refusal>> {
        loop {
            match self.server.receive(self.number) {
                Err(CallError::Server(Refusal::Nothing)) => {}
                received => return received.map(Some),
            }
            let wait = patience.map_or(Wait::NEVER, |time| Wait::by(Instant::now() + time));
            match ipc::receive(self.ready, wait) {
                Err(Error::Timeout) => return Ok(None),
                signalled => signalled.map_err(CallError::Ipc)?,
            };
        }
    }
}

/// Sends back what comes to the echo port: capabilities `sockets`, `ready`.
pub fn echo(env: &Env) {
    let ended = (|| -> Result<(), CallError<Refusal>> {
        let socket = Socket::open(env, ECHO)?;
        loop {
            let Some(datagram) = socket.receive(None)? else { continue };
            // One that cannot go back now is lost, as any datagram may be.
            let _ = socket.send(datagram.from, datagram.bytes());
        }
    })();
    panic!("the server answers no more: {ended:?}");
}

/// Sends datagrams to an echo and counts those that come back as they went: capabilities `sockets`,
/// `ready`, `console`, `system`; arguments `host`, `count`.
pub fn ping(env: &Env) {
    let host = env.arg("host").and_then(|text| text.parse().ok());
    let host: Ipv4Addr = host.expect("the argument `host` is an IPv4 address");
    let sent = env.number("count", 20);
    match ping_all(env, Address::new(host, ECHO), sent) {
        Ok((back, nanos)) => {
            let each = nanos / back.max(1);
            println!(env.console(), "{back} of {sent} datagrams came back, {each} ns each");
        }
        Err(error) => println!(env.console(), "the server answers no more: {error:?}"),
    }
    let _ = system::shutdown(env.cap("system"), 0);
}

/// How many datagrams came back, and how long these were away together.
fn ping_all(env: &Env, to: Address, sent: u64) -> Result<(u64, u64), CallError<Refusal>> {
    let socket = Socket::open(env, FROM)?;
    let (mut back, mut nanos) = (0, 0);
    for number in 0..sent {
        let mut payload = [number as u8; MOST];
        let payload = &mut payload[..(1 + STEP * number as usize) % MOST];
        let start = Instant::now();
        socket.send(to, payload)?;
        // What comes later than that counts as lost, and is not taken for a later one.
        while let Some(datagram) = socket.receive(Some(PATIENCE))? {
            if datagram.bytes() == payload {
                back += 1;
                nanos += start.elapsed().as_nanos() as u64;
                break;
            }
        }
    }
    Ok((back, nanos))
}
