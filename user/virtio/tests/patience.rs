//! Who waits for a peer waits no longer than it said, whatever signals come meanwhile.

mod support;

use ring::{Memory, Receiver, Sender};
use rt::abi::call::Call;
use rt::arch::{self, Machine, Outcome};
use rt::prelude::*;
use rt::{Info, Rights, Slot, Status};
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicU64;
use support::{Bus, Ram};
use virtio::Part;
use virtio::block::{BLOCK, DONE, Disk, Failure, LAYOUT};
use virtio::driver::EntropyDriver;
use virtio::entropy::{Entropy, NoEntropy};
use virtio::mmio::kind;

/// What each system call takes.
const STEP: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_millis(50);
/// What goes beyond that at most: the calls of a round.
const ROUND: Duration = Duration::from_millis(5);
const SLOT: Slot = Slot(1);

/// A clock, and a kernel that has a signal for each thread that waits.
struct Kernel {
    now: Cell<Instant>,
    /// What the peer does at each system call.
    peer: RefCell<Box<dyn FnMut()>>,
}

impl Kernel {
    fn install() -> &'static Kernel {
        let (now, peer) = (Cell::new(Instant::BOOT), RefCell::new(Box::new(|| ()) as _));
        let kernel: &'static Kernel = Box::leak(Box::new(Kernel { now, peer }));
        arch::install(Some(kernel));
        kernel
    }

    fn has(&self, peer: impl FnMut() + 'static) {
        *self.peer.borrow_mut() = Box::new(peer);
    }

    /// How long something takes.
    fn time<T>(&self, run: impl FnOnce() -> T) -> (T, Duration) {
        let begun = self.now.get();
        let result = run();
        (result, self.now.get() - begun)
    }
}

impl Machine for Kernel {
    fn call(&self, number: u64, _: [u64; 6], _: [u64; 4]) -> Outcome {
        self.now.set(self.now.get() + STEP);
        assert!(self.now.get() < Instant::BOOT + Duration::from_secs(100), "a wait has no end");
        (self.peer.borrow_mut())();
        let is_clock = number & 0xff == Call::Clock as u64;
        let badge = if is_clock { self.now.get().as_nanos() } else { 1 };
        Outcome { status: Status::OK, badge, info: Info(0), words: [0; 4] }
    }

    fn reach(&self, address: u64, _: Rights, _: bool) -> Option<&'static AtomicU64> {
        panic!("no memory at {address:#x}")
    }
}

/// A client, and the memory of its link.
fn disk() -> (Disk<Ram>, Ram) {
    let link = Ram::new(2 * LAYOUT.words());
    let ends =
        (Sender::new(link.part(0), LAYOUT), Receiver::new(link.part(LAYOUT.words()), LAYOUT));
    (Disk::over(ends, SLOT, SLOT, PATIENCE), link)
}

/// The driver's ends.
fn driver(link: &Ram) -> (Sender<Ram>, Receiver<Ram>) {
    let sender = Sender::new(link.part(LAYOUT.words()), LAYOUT);
    (sender, Receiver::new(link.part(0), LAYOUT))
}

#[test]
fn a_driver_that_signals_without_end_is_waited_for_until_the_end() {
    let kernel = Kernel::install();
    let (mut disk, link) = disk();
    let late = |(result, time): (Result<(), Failure>, Duration)| {
        assert_eq!(result, Err(Failure::Silent));
        assert!(time >= PATIENCE && time <= PATIENCE + ROUND, "it took {time:?}");
    };
    late(kernel.time(|| disk.read(0, &mut [0; BLOCK])));
    // Also if there is always something to look at: the driver's word changes all the time.
    let (word, mut generation) = (LAYOUT.words(), 0);
    kernel.has(move || {
        generation += 1;
        Memory::store(&link, word, generation << 48);
    });
    late(kernel.time(|| disk.write(0, &[0; BLOCK])));
}

#[test]
fn a_device_that_signals_without_end_is_waited_for_until_the_end() {
    let kernel = Kernel::install();
    type Driver = EntropyDriver<Bus, Ram>;
    let queue = Driver::BUFFER as usize / 8;
    let ram = Ram::new(queue + Driver::QUEUE as usize / 8);
    let part = |from: usize| Part { address: ram.part(from).address(), words: ram.part(from) };
    let bus = Bus::new(&ram, kind::ENTROPY, 0);
    let board = bus.0.clone();
    let mut driver = Driver::new(bus, part(0), part(queue), SLOT, SLOT);
    let (result, time) = kernel.time(|| driver.take());
    assert_eq!((result, board.resets.get()), (Err(NoEntropy::Silent), 2));
    assert!(time <= Duration::from_millis(500) + ROUND, "it took {time:?}");
    // It still has what a device gives that answers.
    kernel.has(move || {
        if let Some(request) = board.next(0) {
            let (address, bytes, _) = request.buffers[0];
            (0..bytes as u64).for_each(|at| board.write(address + at, at as u8));
            board.give(0, &request, bytes);
        }
    });
    let last = [31, 30, 29, 28].map(|word: u64| {
        u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|at| (8 * word + at) as u8))
    });
    assert_eq!(driver.take(), Ok(last));
}

/// A device may carry out requests for one block in any order.
#[test]
fn a_request_that_was_given_up_comes_before_the_next_one_for_its_block() {
    let kernel = Kernel::install();
    let (mut disk, link) = disk();
    let (mut sender, mut receiver) = driver(&link);
    let (writes, answers) = <(std::rc::Rc<RefCell<Vec<_>>>, std::rc::Rc<Cell<bool>>)>::default();
    let (seen, answer) = (writes.clone(), answers.clone());
    let mut held = Vec::new();
    kernel.has(move || {
        let _ = sender.returned();
        if let Ok(Some(one)) = receiver.receive() {
            let mut bytes = [0; BLOCK];
            seen.borrow_mut().push((one.mark(), receiver.read(&one, &mut bytes)[0]));
            held.push(one);
        }
        if answer.get() {
            held.drain(..).for_each(|one| receiver.give_back(one, DONE));
        }
        let _ = (sender.publish(), receiver.publish());
    });
    assert_eq!(disk.write(5, &[1; BLOCK]), Err(Failure::Silent));
    assert_eq!(disk.write(5, &[2; BLOCK]), Err(Failure::Silent));
    assert_eq!(disk.write(6, &[3; BLOCK]), Err(Failure::Silent));
    assert_eq!(writes.take(), [(5, 1), (6, 3)], "the device has no two for one block");
    answers.set(true);
    assert_eq!(disk.write(5, &[4; BLOCK]), Ok(()));
    assert_eq!(disk.write(6, &[5; BLOCK]), Ok(()));
    assert_eq!(writes.take(), [(5, 4), (6, 5)]);
}
