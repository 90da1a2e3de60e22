//! What flow a frame belongs to.

const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [8, 0];
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Packets of a transport protocol to a port; of all its ports with port 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The number of the protocol: 17 for UDP, 6 for TCP.
    pub protocol: u8,
    /// The port that the packets go to.
    pub port: u16,
}

/// What is looked up for a packet: its protocol and port, or port 0 if it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub(crate) Flow);

impl Key {
    /// A packet of a protocol to a port.
    pub fn new(protocol: u8, port: u16) -> Key {
        Key(Flow { protocol, port })
    }

    /// The key of an Ethernet frame; none if it carries no IPv4 packet, as ARP does.
    ///
    /// Fragments behind the first have no port, nor have packets that are too short for one.
    pub fn of(frame: &[u8]) -> Option<Key> {
        if frame.get(12..ETHERNET)? != IPV4 {
            return None;
        }
        let packet = &frame[ETHERNET..];
        let protocol = *packet.get(9)?;
        let is_later_fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x1fff != 0;
        let header = 4 * usize::from(packet[0] & 0xf);
        let port = match (protocol, is_later_fragment) {
            (TCP | UDP, false) if header >= 20 => packet.get(header + 2..header + 4),
            _ => None,
        };
        let port = port.map_or(0, |port| u16::from_be_bytes([port[0], port[1]]));
        Some(Key(Flow { protocol, port }))
    }

    /// The flows that it belongs to, the most specific one first.
    pub(crate) fn flows(self) -> [Flow; 2] {
        [self.0, Flow { port: 0, ..self.0 }]
    }
}
