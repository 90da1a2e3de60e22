//! What a network server can be asked. Clients are written against this.
//!
//! A client has an endpoint of the server with the rights `send` and `grant`, under a badge of its
//! own, and the message buffer of its thread. No request waits: a client that has nothing to
//! receive waits for the notification that it gave when it opened the socket.
#![no_std]
#![forbid(unsafe_code)]

use core::net::Ipv4Addr;
use service::{Badge, Capability, Incoming, MAX_BYTES, Outgoing, Wire, service};

/// The most bytes that a request or an answer carries.
pub const MOST: usize = MAX_BYTES;

/// Where a datagram comes from or goes to.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    host: u32,
    /// The port.
    pub port: u16,
}

impl Address {
    /// A port of a host.
    pub fn new(host: Ipv4Addr, port: u16) -> Address {
        Address { host: host.to_bits(), port }
    }

    /// The host.
    pub fn host(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.host)
    }
}

/// A datagram that came.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Who sent it.
    pub from: Address,
    /// How many bytes were sent.
    pub length: u16,
    kept: Bytes,
}

impl Datagram {
    /// A datagram of these bytes, of which the first [`MOST`] are kept.
    pub fn new(from: Address, bytes: &[u8]) -> Datagram {
        let mut kept = Bytes([0; MOST]);
        let most = bytes.len().min(MOST);
        kept.0[..most].copy_from_slice(&bytes[..most]);
        Datagram { from, length: bytes.len().min(u16::MAX.into()) as u16, kept }
    }

    /// Its bytes, the first [`MOST`] at most.
    pub fn bytes(&self) -> &[u8] {
        &self.kept.0[..usize::from(self.length).min(MOST)]
    }
}

/// What travels of a datagram, whatever its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes([u8; MOST]);

impl Wire for Bytes {
    const WORDS: usize = MOST / 8;

    fn put(self, to: &mut Outgoing) {
        to.packed(&self.0);
    }

    fn take(from: &mut Incoming) -> Option<Bytes> {
        let mut bytes = Bytes([0; MOST]);
        from.packed(&mut bytes.0)?;
        Some(bytes)
    }
}

/// Why the server does not do it.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// All sockets are open.
    NoSocket,
    /// Another socket has this port, or it is port 0.
    PortTaken,
    /// The client has no such socket.
    NotOpen,
    /// Nothing has come; the notification is signalled when something does.
    Nothing,
    /// Too much waits to be sent. Some of it goes by itself, so the client asks again later.
    Full,
    /// The address is none that a datagram can go to.
    BadAddress,
    /// No capability was granted.
    NoCapability,
}

/// UDP sockets of one network interface.
#[service]
pub trait Sockets {
    /// Opens a socket on a port, and keeps a notification (right `signal`) that it signals when
    /// something comes after a [`Refusal::Nothing`]; also for the first datagram.
    fn open(&mut self, who: Badge, port: u16, ready: Capability) -> Result<u8, Refusal>;
    /// Sends a datagram.
    fn send(&mut self, who: Badge, socket: u8, to: Address, payload: &[u8]) -> Result<(), Refusal>;
    /// Receives a datagram, the oldest one.
    fn receive(&mut self, who: Badge, socket: u8) -> Result<Datagram, Refusal>;
    /// Closes a socket.
    fn close(&mut self, who: Badge, socket: u8) -> Result<(), Refusal>;
}
