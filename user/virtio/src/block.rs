//! A disk as its driver's client sees it: blocks, over a link of rings.
//!
//! The client sends a request in a buffer whose mark is the number of the block: an empty one
//! reads, a full one writes what is in it. The buffer of a request that is over comes back with
//! [`DONE`] or another mark; that of a read after the block was sent the other way, under the same
//! mark, or nothing in its place.

use ring::{Layout, Memory, Receiver, Returned, Sender, Side};
use rt::prelude::*;
use rt::{Slot, Words, ipc, signal};

/// Bytes of a block.
pub const BLOCK: usize = 4096;
/// The link between driver and client.
pub const LAYOUT: Layout = Layout::new(8, BLOCK);
/// The mark of a request that was served.
pub const DONE: u32 = 0;
/// The mark of one that was not.
pub const REFUSED: u32 = 1;

/// Why a block was not read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The disk has no such block, or cannot read or write it.
    Refused,
    /// The driver did not answer in time.
    Silent,
    /// The driver cannot be signalled, or not be waited for.
    Ipc(Error),
}

/// The client's end of a link.
pub struct Disk<M = Words> {
    sender: Sender<M>,
    receiver: Receiver<M>,
    driver: Slot,
    ready: Slot,
    patience: Duration,
    /// The block that each buffer with the driver is about.
    away: [Option<u32>; LAYOUT.buffers()],
}

impl Disk {
    /// A disk that is reached by this memory. The driver is signalled by one notification and
    /// signals the other one; it is waited for so long.
    pub fn new(link: Words, driver: Slot, ready: Slot, patience: Duration) -> Disk {
        Disk::over(ring::link(link, LAYOUT, Side::First), driver, ready, patience)
    }
}

impl<M: Memory> Disk<M> {
    /// The same with the first side of a link, in any memory.
    pub fn over(
        (sender, receiver): (Sender<M>, Receiver<M>),
        driver: Slot,
        ready: Slot,
        patience: Duration,
    ) -> Disk<M> {
        Disk { sender, receiver, driver, ready, patience, away: [None; LAYOUT.buffers()] }
    }

    /// Reads a block.
    pub fn read(&mut self, block: u32, into: &mut [u8; BLOCK]) -> Result<(), Failure> {
        self.request(block, None, Some(into))
    }

    /// Writes a block.
    pub fn write(&mut self, block: u32, from: &[u8; BLOCK]) -> Result<(), Failure> {
        self.request(block, Some(from), None)
    }

    /// Asks until a driver that lives on has answered.
    fn request(
        &mut self,
        block: u32,
        from: Option<&[u8; BLOCK]>,
        mut into: Option<&mut [u8; BLOCK]>,
    ) -> Result<(), Failure> {
        let (mut asked, mut end) = (None, None);
        loop {
            let mut over = None;
            // A driver that lies is taken for dead until it is started again.
            while let Ok(Some(Returned { buffer, mark })) = self.sender.returned() {
                self.away[buffer] = None;
                if asked == Some(buffer) {
                    (asked, over) = (None, mark);
                }
            }
            self.receive(block, &mut into);
            if over.is_none() && asked.is_none() {
                asked = self.ask(block, from);
            }
            if self.sender.publish() | self.receiver.publish() {
                signal::signal(self.driver).map_err(Failure::Ipc)?;
            }
            match over {
                Some(DONE) if into.is_none() => return Ok(()),
                Some(_) => return Err(Failure::Refused),
                None => self.wait(&mut end)?,
            }
        }
    }

    /// Sends a request if that is possible now; the index of its buffer. One for the same block
    /// that was given up comes first: a device need not keep their order.
    fn ask(&mut self, block: u32, from: Option<&[u8; BLOCK]>) -> Option<usize> {
        if self.away.contains(&Some(block)) {
            return None;
        }
        let owned = self.sender.acquire()?;
        let buffer = owned.index();
        let bytes = from.map_or(&[][..], |from| &from[..]);
        self.sender.write(&owned, 0, bytes);
        self.sender.fill(owned, bytes.len(), block);
        self.away[buffer] = Some(block);
        Some(buffer)
    }

    /// Takes what was read, and puts the block that is waited for where it belongs. Others are of
    /// requests that were given up.
    fn receive(&mut self, block: u32, into: &mut Option<&mut [u8; BLOCK]>) {
        for _ in 0..LAYOUT.buffers() {
            let Ok(Some(held)) = self.receiver.receive() else { return };
            let is_wanted = held.mark() == block && held.len() == BLOCK;
            if let Some(into) = into.take_if(|_| is_wanted) {
                self.receiver.read(&held, into);
            }
            self.receiver.give_back(held, DONE);
        }
    }

    /// Waits until there is something to look at, or until the end, which the first wait sets; also
    /// if there is something all the time: the kernel takes a signal that is there, whatever the
    /// time.
    fn wait(&mut self, end: &mut Option<Instant>) -> Result<(), Failure> {
        let now = Instant::now();
        let end = *end.get_or_insert(now + self.patience);
        if now >= end {
            return Err(Failure::Silent);
        }
        if !(self.sender.may_wait() & self.receiver.may_wait()) {
            return Ok(());
        }
        match ipc::receive(self.ready, Wait::by(end)) {
            Ok(_) => Ok(()),
            Err(Error::Timeout) => Err(Failure::Silent),
            Err(error) => Err(Failure::Ipc(error)),
        }
    }
}
