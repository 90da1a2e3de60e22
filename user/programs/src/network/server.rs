//! A network server: clients' sockets above, a driver's rings below.

use super::gate::units;
use core::cell::RefCell;
use core::net::Ipv4Addr;
use flows::Units;
use network::{Buffers, LAYOUT, Link, Slots, Stack};
use ring::Side;
use rt::prelude::*;
use rt::{OwnedSlot, Slot, SlotPool, Words, signal};
use service::{Badge, Capability};
use sockets::{Address, Datagram, Refusal, Sockets};

/// How often the server looks at its link before requests have their turn.
const ROUNDS: usize = 4;

/// The program: capabilities `sockets` (receive; the notification attached to it is signalled by
/// driver and timer), `driver` (signal), `timer`; arguments `link`, the name of its memory,
/// `address`, and `station`, the last byte of its Ethernet address.
pub fn server(env: &Env) {
    let address = env.arg("address").and_then(|text| text.parse().ok());
    let address: Ipv4Addr = address.expect("the argument `address` is an IPv4 address");
    let (mut buffers, mut slots) = (Buffers::EMPTY, Slots::EMPTY);
    let memory = env.mem(env.arg("link").unwrap_or("link"));
    let (sender, receiver) = ring::link(memory, LAYOUT, Side::First);
    let ethernet = [2, 0, 0, 0, 0, env.number("station", 1) as u8];
    let link = Link::new(sender, receiver, Units::new(units(memory)));
    let net = RefCell::new(Net {
        stack: Stack::new(link, address, ethernet, &mut buffers, &mut slots),
        driver: env.cap("driver"),
        timer: env.cap("timer"),
        due: 0,
        sends: false,
    });
    net.borrow_mut().work();
    let server = Server::new(env.cap("sockets")).accepting(SlotPool::new(env), env.buffer(0));
    server.on_signal(|_| net.borrow_mut().work()).run(|request| {
        let mut net = net.borrow_mut();
        let answer = net.dispatch(request);
        // Other requests change nothing that the link or the timer has to know.
        if core::mem::take(&mut net.sends) {
            net.work();
        }
        answer
    });
}

struct Net<'a> {
    stack: Stack<'a, Words, OwnedSlot>,
    driver: Slot,
    timer: Slot,
    /// The instant, in microseconds, for which the timer is armed.
    due: u64,
    /// A client has sent something.
    sends: bool,
}

impl Net<'_> {
    /// Does what there is to do, until the server may wait.
    fn work(&mut self) {
        for _ in 0..ROUNDS {
            let now = Instant::now().as_nanos() / 1000;
            // A client may have taken its notification away.
            self.stack.work(now, |ready| {
                let _ = signal::signal(ready.slot());
            });
            if self.stack.link().publish() {
                signal::signal(self.driver).expect("the driver's notification is there");
            }
            if self.stack.link().may_wait() {
                // What is due already waits for the driver.
                let due = self.stack.due(now).filter(|due| *due > now);
                return due.into_iter().for_each(|due| self.arm(due));
            }
        }
        // Also if the timer was armed for this instant before.
        self.due = 0;
        self.arm(Instant::now().as_nanos() / 1000);
    }

    fn arm(&mut self, due: u64) {
        if self.due != due {
            self.due = due;
            let instant = due.max(1).saturating_mul(1000);
            signal::set_timer(self.timer, instant).expect("the timer is there");
        }
    }
}

impl Sockets for Net<'_> {
    fn open(&mut self, who: Badge, port: u16, ready: Capability) -> Result<u8, Refusal> {
        let ready = ready.into_slot().ok_or(Refusal::NoCapability)?;
        self.stack.open(who.0, port, ready)
    }

    fn send(&mut self, who: Badge, socket: u8, to: Address, payload: &[u8]) -> Result<(), Refusal> {
        self.sends = true;
        self.stack.send(who.0, socket, to, payload)
    }

    fn receive(&mut self, who: Badge, socket: u8) -> Result<Datagram, Refusal> {
        self.stack.receive(who.0, socket)
    }

    fn close(&mut self, who: Badge, socket: u8) -> Result<(), Refusal> {
        self.stack.close(who.0, socket)
    }
}
