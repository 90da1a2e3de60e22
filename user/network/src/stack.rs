//! The sockets of a network interface.

use crate::link::{FRAME, Link};
use crate::waiting::Waiting;
use ring::Memory;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::Socket;
use smoltcp::socket::udp::{self, PacketBuffer, PacketMetadata};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, IpEndpoint, Ipv4Address};
use sockets::{Address, Datagram, Refusal};

/// How many sockets there are.
pub const SOCKETS: usize = 8;
/// Frames that are taken in one go, so that a flood leaves time for requests.
pub const WORK: usize = 16;

/// Datagrams that a socket keeps each way, and bytes of those that go.
pub(crate) const DATAGRAMS: usize = 4;
const BYTES: usize = 2048;

/// The memory of the sockets.
pub struct Buffers([Memories; SOCKETS]);
/// Where smoltcp keeps the sockets.
pub struct Slots<'a>([SocketStorage<'a>; SOCKETS]);

/// The memory of a socket.
struct Memories {
    /// The datagram of one frame: what comes is put into `waiting` at once, since smoltcp does not
    /// tell what became of a frame.
    input: Queue<1, FRAME>,
    waiting: Waiting,
    output: Queue<DATAGRAMS, BYTES>,
}

struct Queue<const N: usize, const B: usize> {
    datagrams: [PacketMetadata; N],
    bytes: [u8; B],
}

impl<const N: usize, const B: usize> Queue<N, B> {
    const EMPTY: Queue<N, B> = Queue { datagrams: [PacketMetadata::EMPTY; N], bytes: [0; B] };

    fn packets(&mut self) -> PacketBuffer<'_> {
        PacketBuffer::new(&mut self.datagrams[..], &mut self.bytes[..])
    }
}

impl Memories {
    const EMPTY: Memories =
        Memories { input: Queue::EMPTY, waiting: Waiting::EMPTY, output: Queue::EMPTY };
}

impl Buffers {
    /// Empty buffers.
    pub const EMPTY: Buffers = Buffers([const { Memories::EMPTY }; SOCKETS]);
}

impl Slots<'_> {
    /// No sockets.
    pub const EMPTY: Slots<'static> = Slots([SocketStorage::EMPTY; SOCKETS]);
}

/// A socket of a client.
struct Open<R> {
    handle: SocketHandle,
    who: u64,
    ready: R,
    /// The client waits to be told.
    armed: bool,
}

/// One place for a socket. An open one is in smoltcp's set, which looks at all that it has each
/// time.
struct Place<'a, R> {
    closed: Option<udp::Socket<'a>>,
    /// What has come and was not read.
    waiting: &'a mut Waiting,
    open: Option<Open<R>>,
}

/// A network stack; `R` is what tells a client that something has come.
pub struct Stack<'a, M, R> {
    link: Link<M>,
    interface: Interface,
    sockets: SocketSet<'a>,
    places: [Place<'a, R>; SOCKETS],
}

impl<'a, M: Memory, R> Stack<'a, M, R> {
    /// A stack with an address in a network of 24 bits, and an Ethernet address.
    pub fn new(
        mut link: Link<M>,
        address: Ipv4Address,
        ethernet: [u8; 6],
        buffers: &'a mut Buffers,
        slots: &'a mut Slots<'a>,
    ) -> Stack<'a, M, R> {
        let config = Config::new(EthernetAddress(ethernet).into());
        let mut interface = Interface::new(config, &mut link, Instant::ZERO);
        // The list of addresses has room for two.
        interface.update_ip_addrs(|all| {
            let _ = all.push(IpCidr::new(IpAddress::Ipv4(address), 24));
        });
        let sockets = SocketSet::new(&mut slots.0[..]);
        let places = buffers.0.each_mut().map(|Memories { input, waiting, output }| {
            let socket = udp::Socket::new(input.packets(), output.packets());
            Place { closed: Some(socket), waiting, open: None }
        });
        Stack { link, interface, sockets, places }
    }

    /// The link, to publish and to wait.
    pub fn link(&mut self) -> &mut Link<M> {
        &mut self.link
    }

    /// Takes up to [`WORK`] frames that have come, and sends what can go. Tells each client that
    /// waits and for which something has come.
    pub fn work(&mut self, micros: u64, mut tell: impl FnMut(&R)) {
        let now = instant(micros);
        self.link.collect();
        for _ in 0..WORK {
            let before = self.interface.poll_ingress_single(now, &mut self.link, &mut self.sockets);
            if before == smoltcp::iface::PollIngressSingleResult::None {
                break;
            }
            self.file();
        }
        self.interface.poll_maintenance(now);
        self.interface.poll_egress(now, &mut self.link, &mut self.sockets);
        for place in &mut self.places {
            let Some(open) = &mut place.open else { continue };
            if open.armed && !place.waiting.is_empty() {
                open.armed = false;
                tell(&open.ready);
            }
        }
    }

    /// Lets the datagram of the frame that came last, if there is one, wait for its receiver. One
    /// for which there is no room is dropped.
    fn file(&mut self) {
        for place in &mut self.places {
            let Some(open) = &place.open else { continue };
            let socket = self.sockets.get_mut::<udp::Socket>(open.handle);
            let Ok((bytes, udp::UdpMetadata { endpoint, .. })) = socket.recv() else { continue };
            let IpAddress::Ipv4(host) = endpoint.addr;
            let from = Address::new(host, endpoint.port);
            let unit = self.link.take_unit();
            if let Err(unit) = place.waiting.push(from, bytes, unit) {
                unit.into_iter().for_each(|unit| self.link.end(unit));
            }
        }
        self.link.end_last();
    }

    /// When [`Stack::work`] has to be called at the latest.
    pub fn due(&mut self, micros: u64) -> Option<u64> {
        let due = self.interface.poll_at(instant(micros), &self.sockets)?;
        Some(u64::try_from(due.total_micros()).unwrap_or(0))
    }

    /// Opens a socket of a client. One that it has on this port is closed before: the client was
    /// started again.
    pub fn open(&mut self, who: u64, port: u16, ready: R) -> Result<u8, Refusal> {
        let has = |place: &Place<R>| {
            let port_of = |open: &Open<R>| {
                let socket: &udp::Socket = self.sockets.get(open.handle);
                socket.endpoint().port
            };
            place.open.as_ref().map(port_of) == Some(port)
        };
        if let Some(at) = self.places.iter().position(has) {
            self.close(who, at as u8).map_err(|_| Refusal::PortTaken)?;
        }
        let free = |place: &Place<R>| place.closed.is_some();
        let at = self.places.iter().position(free).ok_or(Refusal::NoSocket)?;
        let place = &mut self.places[at];
        let socket = place.closed.as_mut().ok_or(Refusal::NoSocket)?;
        socket.bind(port).map_err(|_| Refusal::PortTaken)?;
        let handle = place.closed.take().map(|socket| self.sockets.add(socket));
        place.open = handle.map(|handle| Open { handle, who, ready, armed: true });
        Ok(at as u8)
    }

    /// Sends a datagram.
    pub fn send(&mut self, who: u64, at: u8, to: Address, bytes: &[u8]) -> Result<(), Refusal> {
        let handle = self.of(who, at)?;
        let socket = self.sockets.get_mut::<udp::Socket>(handle);
        let to = IpEndpoint::new(IpAddress::Ipv4(to.host()), to.port);
        socket.send_slice(bytes, to).map_err(|error| match error {
            udp::SendError::BufferFull => Refusal::Full,
            udp::SendError::Unaddressable => Refusal::BadAddress,
        })
    }

    /// The oldest datagram that has come.
    pub fn receive(&mut self, who: u64, at: u8) -> Result<Datagram, Refusal> {
        self.of(who, at)?;
        let place = &mut self.places[usize::from(at)];
        if let Some(datagram) = place.waiting.oldest().copied() {
            place.waiting.remove().into_iter().for_each(|unit| self.link.end(unit));
            return Ok(datagram);
        }
        place.open.iter_mut().for_each(|open| open.armed = true);
        Err(Refusal::Nothing)
    }

    /// Closes a socket. What has come and was not read is dropped.
    pub fn close(&mut self, who: u64, at: u8) -> Result<(), Refusal> {
        let handle = self.of(who, at)?;
        let place = &mut self.places[usize::from(at)];
        // There are no others.
        if let Socket::Udp(mut socket) = self.sockets.remove(handle) {
            socket.close();
            (place.closed, place.open) = (Some(socket), None);
        }
        while !place.waiting.is_empty() {
            place.waiting.remove().into_iter().for_each(|unit| self.link.end(unit));
        }
        Ok(())
    }

    /// Where a socket is that is a client's.
    fn of(&self, who: u64, at: u8) -> Result<SocketHandle, Refusal> {
        let place = self.places.get(usize::from(at)).ok_or(Refusal::NotOpen)?;
        match &place.open {
            Some(open) if open.who == who => Ok(open.handle),
            _ => Err(Refusal::NotOpen),
        }
    }
}

fn instant(micros: u64) -> Instant {
    Instant::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}
