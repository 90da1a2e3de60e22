//! A network interface that is a pair of rings.

use flows::{End, Flow, Key, Unit, Units};
use ring::{Held, Layout, Memory, Receiver, Sender};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;

/// The longest Ethernet frame, without its check sequence.
pub const FRAME: usize = 1514;
/// The buffers of each channel.
pub const LAYOUT: Layout = Layout::new(16, 1536);

/// The two ends that a server has of its link to a driver.
pub struct Link<M> {
    sender: Sender<M>,
    receiver: Receiver<M>,
    units: Units<M>,
    /// The frame that came last.
    last: Option<Last>,
    /// Frames that there was no free buffer for, and times the driver has lied.
    dropped: u64,
    lies: u64,
    /// The frame that has come, and the one that goes. The driver can change the buffers of the
    /// rings, so frames are judged and made here.
    input: [u8; FRAME],
    output: [u8; FRAME],
}

/// What is known of a frame that was taken.
struct Last {
    unit: Unit,
    /// The stack itself is its receiver.
    is_own: bool,
}

impl<M: Memory> Link<M> {
    /// A link, and the words by which the driver gets units back.
    pub fn new(sender: Sender<M>, receiver: Receiver<M>, units: Units<M>) -> Link<M> {
        let (input, output) = ([0; FRAME], [0; FRAME]);
        Link { sender, receiver, units, last: None, dropped: 0, lies: 0, input, output }
    }

    /// The unit of the frame that came last, for the datagram that is made of it.
    pub(crate) fn take_unit(&mut self) -> Option<Unit> {
        self.last.take().map(|last| last.unit)
    }

    /// No datagram was made of the frame that came last.
    pub(crate) fn end_last(&mut self) {
        if let Some(Last { unit, is_own }) = self.last.take() {
            self.units.end(unit, if is_own { End::Read } else { End::Stray });
        }
    }

    /// The receiver of a datagram has read it, or does not want it.
    pub(crate) fn end(&mut self, unit: Unit) {
        self.units.end(unit, End::Read);
    }

    /// How many frames were dropped since the driver had all buffers.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// How often the driver has published what cannot be.
    pub fn lies(&self) -> u64 {
        self.lies
    }

    /// Takes back the buffers that the driver has sent. At most as many as there are, so that a
    /// driver cannot keep the server here.
    pub fn collect(&mut self) {
        for _ in 0..LAYOUT.buffers() {
            match self.sender.returned() {
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(_) => self.lies += 1,
            }
        }
    }

    /// Publishes frames and buffers. True if the driver has to be signalled.
    #[must_use = "the driver may wait for a signal"]
    pub fn publish(&mut self) -> bool {
        self.sender.publish() | self.receiver.publish()
    }

    /// To be asked before the server waits. False if there is something to look at.
    #[must_use = "a signal comes only if this is true"]
    pub fn may_wait(&mut self) -> bool {
        self.sender.may_wait_for_room() & self.receiver.may_wait()
    }
}

impl<M: Memory> Device for Link<M> {
    type RxToken<'a>
        = Received<'a, M>
    where
        Self: 'a;
    type TxToken<'a>
        = Sent<'a, M>
    where
        Self: 'a;

    fn receive(&mut self, _: Instant) -> Option<(Received<'_, M>, Sent<'_, M>)> {
        let held = match self.receiver.receive() {
            Ok(held) => held?,
            Err(_) => {
                self.lies += 1;
                return None;
            }
        };
        let Link { sender, receiver, units, last, dropped, input, output, .. } = self;
        let received = Received { receiver, units, last, held, frame: input };
        Some((received, Sent { sender, dropped, frame: output }))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sent<'_, M>> {
        let Link { sender, dropped, output, .. } = self;
        sender.can_send().then_some(Sent { sender, dropped, frame: output })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = FRAME;
        capabilities
    }
}

/// A frame that came.
pub struct Received<'a, M> {
    receiver: &'a mut Receiver<M>,
    units: &'a mut Units<M>,
    last: &'a mut Option<Last>,
    held: Held,
    frame: &'a mut [u8; FRAME],
}

impl<M: Memory> RxToken for Received<'_, M> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        let frame = self.receiver.read(&self.held, self.frame);
        *self.last = self.receiver.session().map(|session| {
            let unit = self.units.begin(session, self.held.mark());
            Last { unit, is_own: Key::of(frame).flow() == Flow::ARP }
        });
        self.receiver.give_back(self.held, 0);
        f(frame)
    }
}

/// Room for a frame that goes.
pub struct Sent<'a, M> {
    sender: &'a mut Sender<M>,
    dropped: &'a mut u64,
    frame: &'a mut [u8; FRAME],
}

impl<M: Memory> TxToken for Sent<'_, M> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let frame = &mut self.frame[..len];
        let result = f(frame);
        if !self.sender.send(frame, 0) {
            *self.dropped += 1;
        }
        result
    }
}
