//! A wire: the driver of two network servers, which gives each the frames of the other one.

use network::{FRAME, LAYOUT};
use ring::{Receiver, Sender, Side};
use rt::prelude::*;
use rt::{Slot, Words, ipc, signal};

/// One end of the wire.
struct End {
    sender: Sender<Words>,
    receiver: Receiver<Words>,
    server: Slot,
}

impl End {
    fn new(env: &Env, name: &str) -> End {
        let (sender, receiver) = ring::link(env.mem(name), LAYOUT, Side::Second);
        End { sender, receiver, server: env.cap(name) }
    }

    /// Takes back buffers. A server that lies is taken for dead until it is started again.
    fn collect(&mut self) {
        for _ in 0..LAYOUT.buffers() {
            if !matches!(self.sender.returned(), Ok(Some(_))) {
                return;
            }
        }
    }

    /// Carries frames to the other end. What finds no free buffer there is lost, as on a wire.
    fn carry(&mut self, to: &mut End, frame: &mut [u8; FRAME]) {
        for _ in 0..LAYOUT.buffers() {
            let Ok(Some(held)) = self.receiver.receive() else { return };
            to.sender.send(self.receiver.read(&held, frame), 0);
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
}

/// The program: capabilities `frames` (receive), `left`, `right` (signal, one for each server);
/// memories `left`, `right`.
pub fn wire(env: &Env) {
    let (mut left, mut right) = (End::new(env, "left"), End::new(env, "right"));
    let (frames, mut frame) = (env.cap("frames"), [0; FRAME]);
    loop {
        left.collect();
        right.collect();
        left.carry(&mut right, &mut frame);
        right.carry(&mut left, &mut frame);
        left.publish();
        right.publish();
        if left.may_wait() & right.may_wait() {
            ipc::receive(frames, Wait::NEVER).expect("the notification is there");
        }
    }
}
