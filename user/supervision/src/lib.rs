//! What the supervisor can be asked. Clients are written against this.
//!
//! A client holds a capability `{ name = "supervisor", supervisor = true }`. What it asks for is
//! done when the answer comes; a client that is a child itself, and asks for its own end, gets
//! none.
#![no_std]
#![forbid(unsafe_code)]

use abi::boot::{name_bytes, name_text, name_words};
use core::fmt;
use service::{Badge, Wire, service};

/// The name of a child: that of its domain in the manifest.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    low: u64,
    high: u64,
}

impl Name {
    /// A name; of a longer one the first 16 bytes.
    pub fn new(name: &str) -> Name {
        Name::from_words(name_words(name))
    }

    /// A name as [`name_words`] packs it.
    pub fn from_words([low, high]: [u64; 2]) -> Name {
        Name { low, high }
    }

    /// The name's bytes, with zeros behind it.
    pub fn bytes(self) -> [u8; 16] {
        name_bytes([self.low, self.high])
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(name_text(&self.bytes()))
    }
}

/// How a child is.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was made, and has not failed since.
    Up,
    /// Its program has ended by itself; it is not restarted for that.
    Ended,
    /// It is down until one that it depends on is up again.
    Waiting,
    /// A client has stopped it.
    Stopped,
    /// It has failed too often, or could not be made.
    GivenUp,
}

/// What is known of a child.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its name.
    pub name: Name,
    /// How it is.
    pub state: State,
    /// How often it was restarted, also because another one failed or a client asked.
    pub restarts: u32,
}

/// Why the supervisor does not do it.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is no such child.
    Unknown,
    /// The capability is that by which the supervisor learns of a child's faults.
    NotAllowed,
    /// A child that it depends on is down.
    DependencyDown,
    /// It could not be made: the journal tells why.
    NotMade,
}

/// The supervisor.
#[service]
pub trait Supervision {
    /// The child with this number, from 0: each behind those that it depends on.
    fn child(&mut self, who: Badge, number: u32) -> Result<Child, Refused>;
    /// Makes a child again, with those that depend on it: whatever state it is in, and counted as
    /// no failure. One that was given up has its restarts forgiven.
    fn restart(&mut self, who: Badge, name: Name) -> Result<(), Refused>;
    /// Ends a child as a failure would.
    fn kill(&mut self, who: Badge, name: Name) -> Result<(), Refused>;
    /// Ends a child, and with it those that depend on it, until it is restarted.
    fn stop(&mut self, who: Badge, name: Name) -> Result<(), Refused>;
}
