//! What a frame is looked up by.

use crate::Flow;

/// How many bytes of a frame say what flow it belongs to: headers of Ethernet and IPv4, the latter
/// with all options, and the ports. A multiple of 8.
pub const HEAD: usize = 80;

const ETHERNET: usize = 14;
const IPV4: u16 = 0x800;
const ARP: u16 = 0x806;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// The most specific flow of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(Flow);

impl Key {
    /// The key of an Ethernet frame, by its first [`HEAD`] bytes.
    ///
    /// A later fragment, or a packet that is too short for a port, belongs to its protocol; what is
    /// neither an IPv4 packet nor ARP, to [`Flow::ALL`].
    #[inline]
    pub fn of(frame: &[u8]) -> Key {
        match half(frame, 12) {
            Some(IPV4) => Key::of_packet(&frame[ETHERNET..]).unwrap_or(Key(Flow::ALL)),
            Some(ARP) => Key(Flow::ARP),
            _ => Key(Flow::ALL),
        }
    }

    #[inline]
    fn of_packet(packet: &[u8]) -> Option<Key> {
        let header = 4 * usize::from(packet.first()? & 0xf);
        let protocol = *packet.get(9)?;
        let is_first = half(packet, 6)? & 0x1fff == 0;
        let port = match protocol {
            TCP | UDP if is_first && header >= 20 => half(packet, header + 2).unwrap_or(0),
            _ => 0,
        };
        Some(Key(Flow { protocol, port }))
    }

    /// The key of a flow's packets.
    pub fn to(flow: Flow) -> Key {
        Key(flow)
    }

    /// The most specific flow.
    pub fn flow(self) -> Flow {
        self.0
    }

    /// The flows that it belongs to, the most specific one first. ARP belongs to no other one: a
    /// station that drops it can no longer be reached.
    pub(crate) fn flows(self) -> &'static [fn(Flow) -> Flow] {
        const LEVELS: [fn(Flow) -> Flow; 3] = [|it| it, |it| Flow { port: 0, ..it }, |_| Flow::ALL];
        if self.0 == Flow::ARP { &LEVELS[..1] } else { &LEVELS }
    }
}

/// Two bytes as a number.
#[inline]
fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}
