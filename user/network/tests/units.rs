//! When a stack gives the units of a reservation back.
#![forbid(unsafe_code)]

#[path = "../../ring/tests/support/mod.rs"]
mod support;

use flows::{Badge, Flow, Gate, Key, Receive, Reservation, Units, WORDS};
use network::{Buffers, LAYOUT, Link, Slots, Stack};
use ring::{Layout, Receiver, Sender};
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Packet, UdpPacket,
};
use std::net::Ipv4Addr;
use support::Plain;

const CLIENT: u64 = 3;
const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const STATION: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// A datagram to a port of the stack, without a check sum of its bytes.
fn datagram(port: u16) -> Vec<u8> {
    let mut frame = EthernetFrame::new_unchecked(vec![0; 14 + 20 + 8 + 5]);
    frame.set_dst_addr(EthernetAddress(STATION));
    frame.set_src_addr(EthernetAddress([2, 0, 0, 0, 0, 2]));
    frame.set_ethertype(EthernetProtocol::Ipv4);
    let mut packet = Ipv4Packet::new_unchecked(frame.payload_mut());
    packet.set_version(4);
    packet.set_header_len(20);
    packet.set_total_len(33);
    packet.set_hop_limit(64);
    packet.set_next_header(IpProtocol::Udp);
    packet.set_src_addr(Ipv4Addr::new(10, 0, 0, 2));
    packet.set_dst_addr(OWN);
    packet.fill_checksum();
    let mut udp = UdpPacket::new_unchecked(packet.payload_mut());
    udp.set_src_port(5000);
    udp.set_dst_port(port);
    udp.set_len(13);
    frame.into_inner()
}

/// What the stack asks with, when it has something to send.
fn arp() -> Vec<u8> {
    let mut frame = vec![0; 42];
    (frame[12], frame[13]) = (8, 6);
    frame
}

/// A stack, and its driver with reservations.
struct Net<'a> {
    stack: Stack<'a, Plain, ()>,
    sender: Sender<Plain>,
    receiver: Receiver<Plain>,
    gate: Gate<Plain>,
}

impl Net<'_> {
    /// Plays with one that has these reservations.
    fn with(text: &str, play: impl FnOnce(&mut Net)) {
        let (out, back) = (Plain::new(LAYOUT), Plain::new(LAYOUT));
        let words = Plain::new(Layout::new(1, 8 * WORDS));
        let (sender, receiver) =
            (Sender::new(out.clone(), LAYOUT), Receiver::new(back.clone(), LAYOUT));
        let link = Link::new(sender, receiver, Units::new(words.clone()));
        let (mut buffers, mut slots) = (Buffers::EMPTY, Slots::EMPTY);
        let mut net = Net {
            stack: Stack::new(link, OWN, STATION, &mut buffers, &mut slots),
            sender: Sender::new(back, LAYOUT),
            receiver: Receiver::new(out, LAYOUT),
            gate: Gate::new(words, text).unwrap(),
        };
        net.work();
        play(&mut net);
    }

    /// Both sides until nothing moves any more.
    fn work(&mut self) {
        for _ in 0..4 {
            self.stack.work(0, |()| ());
            let _ = self.stack.link().publish();
            while let Ok(Some(_)) = self.sender.returned() {}
            while let Ok(Some(held)) = self.receiver.receive() {
                self.receiver.give_back(held, 0);
            }
            let _ = (self.sender.publish(), self.receiver.publish());
        }
    }

    /// Whether a frame passes the driver.
    fn send(&mut self, frame: &[u8]) -> bool {
        let mark = self.gate.admit_bytes(&self.sender, frame);
        let sent = mark.is_some_and(|mark| self.sender.send(frame, mark));
        self.work();
        sent
    }

    /// How many of so many datagrams to a port pass.
    fn flood(&mut self, port: u16, count: usize) -> usize {
        (0..count).filter(|_| self.send(&datagram(port))).count()
    }

    fn of(&mut self, port: u16) -> Reservation {
        let flow = Key::of(&datagram(port)).flow();
        let all = (0..).map(|place| self.gate.list(Badge(0), place).unwrap());
        all.into_iter().map(|one| one.expect("it is there")).find(|one| one.flow == flow).unwrap()
    }
}

#[test]
fn a_unit_comes_back_when_its_datagram_is_read() {
    Net::with("17/9:3", |net| {
        let socket = net.stack.open(CLIENT, 9, ()).unwrap();
        assert_eq!(net.flood(9, 10), 3);
        let Reservation { unread, strays, dropped, .. } = net.of(9);
        assert_eq!((unread, strays, dropped), (3, 0, 7));
        assert!(net.stack.receive(CLIENT, socket).is_ok());
        assert_eq!(net.of(9).unread, 2);
        assert_eq!(net.flood(9, 10), 1);
        while net.stack.receive(CLIENT, socket).is_ok() {}
        assert_eq!(net.of(9).current(), 0);
    });
}

#[test]
fn a_datagram_without_a_receiver_keeps_its_unit() {
    Net::with("17/9:3 17/7:1", |net| {
        net.stack.open(CLIENT, 7, ()).unwrap();
        assert_eq!(net.flood(9, 10), 3);
        let Reservation { unread, strays, .. } = net.of(9);
        assert_eq!((unread, strays), (0, 3));
        assert_eq!(net.flood(7, 1), 1, "another flow has its own units");
        // So has one that cannot be read: its header is wrong.
        let mut broken = datagram(7);
        broken[24] ^= 1;
        net.stack.close(CLIENT, 0).unwrap();
        assert!(net.send(&broken));
        assert_eq!(net.of(7).strays, 1);
        net.gate.reset(Badge(0), Flow { protocol: 17, port: 9 }).unwrap();
        assert_eq!(net.flood(9, 10), 3);
    });
}

#[test]
fn what_a_socket_has_no_room_for_or_leaves_unread_gives_its_unit_back() {
    Net::with("17/9:10", |net| {
        let socket = net.stack.open(CLIENT, 9, ()).unwrap();
        assert_eq!(net.flood(9, 20), 20);
        assert_eq!(net.of(9).unread, 4, "a socket keeps 4");
        net.stack.close(CLIENT, socket).unwrap();
        assert_eq!(net.of(9).current(), 0);
    });
}

#[test]
fn what_the_stack_itself_takes_gives_its_unit_back() {
    Net::with("0/2054:1 *:0", |net| {
        for _ in 0..10 {
            assert!(net.send(&arp()));
        }
    });
}
