//! Flows, and how they are written.

use core::fmt;
use service::Wire;

/// A limit that no number of packets reaches.
pub const UNLIMITED: u32 = u32::MAX;

/// The packets of a protocol to a port: `17/8001`. With port 0 those to all of its ports: `17/*`.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The number of the protocol: 17 for UDP, 6 for TCP.
    pub protocol: u8,
    /// The port that the packets go to.
    pub port: u16,
}

/// A text is no flow, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFlow;

impl Flow {
    /// All packets: `*`.
    pub const ALL: Flow = Flow { protocol: 0, port: 0 };
    /// Requests and answers of ARP, which are no IPv4 packets and have protocol 0: `0/2054`.
    pub const ARP: Flow = Flow { protocol: 0, port: 0x806 };

    /// Reads a flow.
    pub fn read(text: &str) -> Result<Flow, NoFlow> {
        if text == "*" {
            return Ok(Flow::ALL);
        }
        let (protocol, port) = text.split_once('/').ok_or(NoFlow)?;
        let protocol = protocol.parse().map_err(|_| NoFlow)?;
        let port = match port {
            "*" => 0,
            port => port.parse().ok().filter(|port| *port != 0).ok_or(NoFlow)?,
        };
        let flow = Flow { protocol, port };
        // Of what is no IPv4 packet, ARP alone is a flow.
        if protocol == 0 && flow != Flow::ARP { Err(NoFlow) } else { Ok(flow) }
    }
}

impl fmt::Display for Flow {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Flow::ALL => to.write_str("*"),
            Flow { protocol, port: 0 } => write!(to, "{protocol}/*"),
            Flow { protocol, port } => write!(to, "{protocol}/{port}"),
        }
    }
}

/// The reservations of a text such as `17/7:4 17/8000:unlimited *:0`.
pub fn parse(text: &str) -> impl Iterator<Item = Result<(Flow, u32), NoFlow>> {
    text.split_ascii_whitespace().map(|one| {
        let (flow, limit) = one.split_once(':').ok_or(NoFlow)?;
        let limit = match limit {
            "unlimited" => UNLIMITED,
            limit => limit.parse().map_err(|_| NoFlow)?,
        };
        Ok((Flow::read(flow)?, limit))
    })
}
