//! What an emulator is given for the devices of a system: files for disks, ports of this host.

use super::SharedFile;
use crate::failure::usage;
use anyhow::Result;
use manifest::{Attached, Function, System};
use std::fmt;
use std::net::{Ipv4Addr, UdpSocket};

/// A device, with what it needs of this host.
pub struct Plugged {
    /// Its place on the board.
    pub place: u32,
    /// What it is.
    pub plug: Plug,
}

/// What a device is.
pub enum Plug {
    /// It has random bytes.
    Entropy,
    /// It keeps the blocks of this file.
    Disk(SharedFile),
    /// It is in a network of the emulator's, behind which is all that this host reaches by TCP or
    /// UDP, its loopback too. What would close it (`restrict=on`) drops each datagram that a system
    /// sends, also an answer to a forwarded one.
    Network(Vec<Forward>),
}

/// A UDP port of this host that leads to one of the system.
#[derive(Clone, Copy)]
pub struct Forward {
    /// The host's port.
    pub host: u16,
    /// The system's port.
    pub guest: u16,
}

impl fmt::Display for Forward {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Forward { host, guest } = self;
        write!(out, "UDP port {guest} of the system is 127.0.0.1:{host} of this host")
    }
}

/// Provides for the devices of a system. A disk is as the manifest says at each boot.
pub fn plug(system: &System) -> Result<Vec<Plugged>> {
    system.attached.iter().map(plug_one).collect()
}

/// All ports that lead to a system.
pub fn forwards(plugged: &[Plugged]) -> impl Iterator<Item = &Forward> {
    plugged.iter().flat_map(|one| match &one.plug {
        Plug::Network(forwards) => &forwards[..],
        Plug::Entropy | Plug::Disk(_) => &[],
    })
}

fn plug_one(device: &Attached) -> Result<Plugged> {
    let plug = match &device.function {
        Function::Entropy => Plug::Entropy,
        Function::Disk { contents, bytes } => {
            let file = SharedFile::new(*bytes)?;
            file.write(0, contents)?;
            Plug::Disk(file)
        }
        Function::Network { forward } => Plug::Network(free_ports(forward).map_err(|error| {
            usage(format!("this host has no free port for `{}`: {error}", device.name))
        })?),
    };
    Ok(Plugged { place: device.place, plug })
}

/// A port of this host for each of these. Between this look and the emulator's start another
/// program may take one; then the emulator says so.
fn free_ports(guests: &[u16]) -> std::io::Result<Vec<Forward>> {
    // All at once, so that no two are the same.
    let bound = guests.iter().map(|guest| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        Ok((Forward { host: socket.local_addr()?.port(), guest: *guest }, socket))
    });
    let bound: std::io::Result<Vec<(Forward, UdpSocket)>> = bound.collect();
    Ok(bound?.into_iter().map(|(forward, _)| forward).collect())
}
