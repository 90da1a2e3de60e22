//! Shows what receive reservations do: one program sends through the left server and receives
//! through the right one.

use super::clients::ECHO;
use core::net::Ipv4Addr;
use flows::{Flow, ReceiveClient, Refusal as Refused, Reservation};
use rt::prelude::*;
use rt::{Rights, ipc, system, time};
use service::{CallError, Capability};
use sockets::{Address, Datagram, Refusal, SocketsClient};

/// The port of a receiver that does not read (RFC 863), and one that has no receiver.
const DISCARD: Flow = Flow { protocol: 17, port: 9 };
const STRAY: Flow = Flow { protocol: 17, port: 99 };
/// The port from which datagrams are sent.
const FROM: u16 = 5000;
/// Datagrams of each kind.
const PINGS: u64 = 20;
const STRAYS: u64 = 20;
const UNITS_OF_STRAYS: u32 = 2;
/// How long an echo is waited for, and a receiver that has nothing yet.
const PATIENCE: Duration = Duration::from_millis(100);
/// Between two looks whether everything has come.
const PAUSE: Duration = Duration::from_millis(2);
/// The most looks.
const LOOKS: usize = 50;

/// What can go wrong: an answer of a server.
#[derive(Debug)]
struct Failed;

impl<E> From<CallError<E>> for Failed {
    fn from(_: CallError<E>) -> Failed {
        Failed
    }
}

struct Check<'e> {
    env: &'e Env,
    sender: SocketsClient,
    /// The socket that sends, and gets echoes.
    out: u8,
    receiver: SocketsClient,
    /// The socket of the receiver that does not read.
    discard: u8,
    reservations: ReceiveClient,
    host: Ipv4Addr,
}

/// The program: capabilities `sender`, `receiver` (send, grant), `ready` (receive, signal, copy),
/// `reservations` (send), `console`, `system`; arguments `host`, `count`.
pub fn check(env: &Env) {
    let done = Check::new(env).and_then(|check| check.all(env.number("count", 100)));
    if done.is_err() {
        println!(env.console(), "a server answers no more");
    }
    let _ = system::shutdown(env.cap("system"), u8::from(done.is_err()).into());
}

impl Check<'_> {
    fn new(env: &Env) -> Result<Check<'_>, Failed> {
        let host = env.arg("host").and_then(|text| text.parse().ok());
        let host = host.expect("the argument `host` is an IPv4 address");
        let of = |name| SocketsClient::new(env.cap(name)).with_buffer(env.buffer(0));
        let ready = || Capability::grant(env.cap("ready"), Rights::SEND);
        let (sender, receiver) = (of("sender"), of("receiver"));
        let out = sender.open(FROM, ready())?;
        let discard = receiver.open(DISCARD.port, ready())?;
        let reservations = ReceiveClient::new(env.cap("reservations")).with_buffer(env.buffer(0));
        Ok(Check { env, sender, out, receiver, discard, reservations, host })
    }

    fn all(&self, count: u64) -> Result<(), Failed> {
        let console = self.env.console();
        // The servers find each other first.
        self.ping()?;
        self.flood(DISCARD, count)?;
        let dropped = self.settled(DISCARD)?.dropped;
        println!(
            console,
            "a flood of {count} to a reader that does not read: {dropped} dropped early"
        );
        self.list()?;
        let mut back = 0;
        for _ in 0..PINGS {
            self.flood(DISCARD, 4)?;
            back += u64::from(self.ping()?);
        }
        println!(console, "meanwhile {back} of {PINGS} datagrams came back from another port");
        let read = self.read()?;
        let Reservation { limit, unread, strays, .. } = self.settled(DISCARD)?;
        let free = limit - unread - strays;
        println!(console, "the reader reads {read}, and has {free} units again");
        self.strays()?;
        self.removal()?;
        self.reservations.set(Flow::ALL, 0)?;
        self.flood(DISCARD, 5)?;
        self.settled(Flow::ALL)?;
        println!(console, "of 5 datagrams that nothing is reserved for, {} pass", self.read()?);
        Ok(())
    }

    fn strays(&self) -> Result<(), Failed> {
        self.reservations.set(STRAY, UNITS_OF_STRAYS)?;
        self.flood(STRAY, STRAYS)?;
        let Reservation { limit, strays, dropped, .. } = self.settled(STRAY)?;
        self.reservations.reset(STRAY)?;
        let back = strays - self.settled(STRAY)?.current();
        println!(
            self.env.console(),
            "stray packets keep {strays} of {limit} units, and {dropped} are dropped early; \
             a reset gives {back} back"
        );
        Ok(())
    }

    fn removal(&self) -> Result<(), Failed> {
        self.flood(DISCARD, 1)?;
        self.settled(DISCARD)?;
        let first = self.reservations.remove(DISCARD);
        self.read()?;
        self.settled(DISCARD)?;
        let second = self.reservations.remove(DISCARD);
        let right = matches!(first, Err(CallError::Server(Refused::InUse))) && second.is_ok();
        let text = if right { "stays, one without goes" } else { "is not kept as it should be" };
        println!(self.env.console(), "a reservation with an unread datagram {text}");
        Ok(())
    }

    /// Sends datagrams, as fast as they go.
    fn flood(&self, to: Flow, count: u64) -> Result<(), Failed> {
        for number in 0..count {
            self.send(to.port, number)?;
        }
        Ok(())
    }

    fn send(&self, port: u16, number: u64) -> Result<(), Failed> {
        for _ in 0..LOOKS {
            let to = Address::new(self.host, port);
            match self.sender.send(self.out, to, &number.to_le_bytes()) {
                Err(CallError::Server(Refusal::Full)) => time::sleep(PAUSE),
                sent => return Ok(sent?),
            }
        }
        Err(Failed)
    }

    /// Whether a datagram comes back from the echo.
    fn ping(&self) -> Result<bool, Failed> {
        self.send(ECHO, 0)?;
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if next(&self.sender, self.out)?.is_some() {
                return Ok(true);
            }
            match ipc::receive(self.env.cap("ready"), Wait::by(until)) {
                Ok(_) | Err(Error::Timeout) => {}
                Err(_) => return Err(Failed),
            }
        }
        Ok(false)
    }

    /// Reads all that the reader has: how many.
    fn read(&self) -> Result<u64, Failed> {
        let mut read = 0;
        while next(&self.receiver, self.discard)?.is_some() {
            read += 1;
        }
        Ok(read)
    }

    /// The reservation of a flow, when nothing changes any more.
    fn settled(&self, flow: Flow) -> Result<Reservation, Failed> {
        let mut last = self.of(flow)?;
        for _ in 0..LOOKS {
            time::sleep(PAUSE);
            let now = self.of(flow)?;
            if now == last {
                break;
            }
            last = now;
        }
        Ok(last)
    }

    fn of(&self, flow: Flow) -> Result<Reservation, Failed> {
        let mut place = 0;
        while let Some(one) = self.reservations.list(place)? {
            if one.flow == flow {
                return Ok(one);
            }
            place += 1;
        }
        Err(Failed)
    }

    /// Prints all reservations.
    fn list(&self) -> Result<(), Failed> {
        let mut place = 0;
        while let Some(one) = self.reservations.list(place)? {
            let Reservation { flow, limit, .. } = one;
            let current = one.current();
            match limit {
                flows::UNLIMITED => println!(
                    self.env.console(),
                    "Binding[{place}] = {flow} limit unlimited current {current}"
                ),
                _ => println!(
                    self.env.console(),
                    "Binding[{place}] = {flow} limit {limit} current {current}"
                ),
            }
            place += 1;
        }
        Ok(())
    }
}

/// The next datagram of a socket, if one has come.
fn next(server: &SocketsClient, socket: u8) -> Result<Option<Datagram>, Failed> {
    match server.receive(socket) {
        Err(CallError::Server(Refusal::Nothing)) => Ok(None),
        received => Ok(Some(received?)),
    }
}
