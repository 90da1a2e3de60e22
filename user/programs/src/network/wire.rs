//! A wire: the driver of two network servers, which gives each the frames of the other one.

use super::gate::{Bell, gate};
use flows::{Gate, Receive};
use network::{FRAME, LAYOUT};
use ring::{Receiver, Sender, Side};
use rt::prelude::*;
use rt::{Request, Slot, Words, signal};

/// One end of the wire.
struct End {
    sender: Sender<Words>,
    receiver: Receiver<Words>,
    server: Slot,
    /// What passes to the server.
    gate: Gate<Words>,
}

impl End {
    fn new(env: &Env, name: &str) -> End {
        let memory = env.mem(name);
        let (sender, receiver) = ring::link(memory, LAYOUT, Side::Second);
        End { sender, receiver, server: env.cap(name), gate: gate(env, memory, name) }
    }

    /// Takes back buffers. A server that lies is taken for dead until it is started again.
    fn collect(&mut self) {
        for _ in 0..LAYOUT.buffers() {
            if !matches!(self.sender.returned(), Ok(Some(_))) {
                return;
            }
        }
    }

    /// Carries frames to the other end. What finds no free buffer there is lost, as on a wire, and
    /// so is what has no unit there.
    fn carry(&mut self, to: &mut End, frame: &mut [u8; FRAME]) {
        for _ in 0..LAYOUT.buffers() {
            let Ok(Some(held)) = self.receiver.receive() else { return };
            let frame = self.receiver.read(&held, frame);
            if to.sender.can_send()
                && let Some(mark) = to.gate.admit_bytes(&to.sender, frame)
            {
                to.sender.send(frame, mark);
            }
            self.receiver.give_back(held, 0);
        }
    }

    fn publish(&mut self) {
        if self.sender.publish() | self.receiver.publish() {
            signal::signal(self.server).expect("the server's notification is there");
        }
    }

    fn may_wait(&mut self) -> bool {
        self.sender.may_wait_for_room() & self.receiver.may_wait()
    }

    /// Answers a client that may change reservations.
    fn answer(&mut self, request: &Request) -> Message {
        self.gate.look(&self.sender);
        self.gate.dispatch(request)
    }
}

/// The badge of the clients that may change the reservations of the right end.
const RIGHT: u64 = 2;

/// The program: capabilities `frames` (receive), `left`, `right` (signal, one for each server);
/// memories `left`, `right`; arguments `left`, `right`, the reservations of what each server
/// receives.
pub fn wire(env: &Env) {
    let bell = Bell::of(env, "frames");
    let (mut left, mut right) = (End::new(env, "left"), End::new(env, "right"));
    let mut frame = [0; FRAME];
    loop {
        left.collect();
        right.collect();
        left.carry(&mut right, &mut frame);
        right.carry(&mut left, &mut frame);
        left.publish();
        right.publish();
        let may_wait = left.may_wait() & right.may_wait();
        bell.next(may_wait, |request| match request.badge() {
            RIGHT => right.answer(request),
            _ => left.answer(request),
        });
    }
}
