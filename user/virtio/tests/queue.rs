//! Queues against a model of a device, which keeps the rules or does not.

use std::cell::Cell;
use std::collections::BTreeMap;
use virtio::queue::Layout;
use virtio::{Broken, Buffer, Queue, Shared, Used};

const N: usize = 8;

struct Memory(Vec<Cell<u64>>);

impl Memory {
    fn new() -> Memory {
        Memory((0..Layout::of(N).bytes / 8).map(|_| Cell::new(!0)).collect())
    }

    fn half(&self, at: u64) -> u16 {
        (self.0[at as usize / 8].get() >> (8 * (at % 8))) as u16
    }

    fn put(&self, at: u64, bytes: u32, value: u64) {
        let cell = &self.0[at as usize / 8];
        let mask = (u64::MAX >> (64 - 8 * bytes)) << (8 * (at % 8));
        cell.set(cell.get() & !mask | value << (8 * (at % 8)) & mask);
    }
}

impl Shared for Memory {
    fn load(&self, word: usize) -> u64 {
        self.0[word].get()
    }
    fn store(&self, word: usize, value: u64) {
        self.0[word].set(value);
    }
}

/// Random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A request as a device sees it: its first descriptor, and address, bytes and direction of each
/// buffer.
type Request = (u16, Vec<(u64, u32, bool)>);

/// A device that reads what it is given, by the specification.
struct Model<'a> {
    memory: &'a Memory,
    seen: u16,
    used: u16,
}

impl Model<'_> {
    /// The next request.
    fn next(&mut self) -> Option<Request> {
        let at = Layout::of(N).available;
        if self.memory.half(at + 2) == self.seen {
            return None;
        }
        let first = self.memory.half(at + 4 + 2 * u64::from(self.seen % N as u16));
        self.seen = self.seen.wrapping_add(1);
        let (mut buffers, mut index) = (Vec::new(), first);
        loop {
            let address = self.memory.load(2 * usize::from(index));
            let rest = self.memory.load(2 * usize::from(index) + 1);
            let flags = (rest >> 32) as u16;
            buffers.push((address, rest as u32, flags & 2 != 0));
            assert!(buffers.len() <= N, "a chain has no end");
            if flags & 1 == 0 {
                return Some((first, buffers));
            }
            index = (rest >> 48) as u16;
        }
    }

    /// Gives a request back.
    fn give(&mut self, id: u32, bytes: u32) {
        let at = Layout::of(N).used;
        let entry = at + 4 + 8 * u64::from(self.used % N as u16);
        self.memory.put(entry, 4, id.into());
        self.memory.put(entry + 4, 4, bytes.into());
        self.used = self.used.wrapping_add(1);
        self.memory.put(at + 2, 2, self.used.into());
    }
}

fn request(random: &mut Random, number: u64) -> Vec<Buffer> {
    let count = 1 + random.below(3);
    let buffer = |index| Buffer {
        address: number << 16 | index,
        bytes: 1 + (number as u32 + index as u32) % 64,
        writes: index + 1 == count,
    };
    (0..count).map(buffer).collect()
}

#[test]
fn the_parts_lie_as_the_specification_wants_them() {
    for size in [1, 2, 8, 256] {
        let Layout { available, used, bytes } = Layout::of(size);
        let size = size as u64;
        assert_eq!(available, 16 * size);
        assert!(used >= available + 6 + 2 * size && used.is_multiple_of(8));
        assert!(bytes >= used + 6 + 8 * size && bytes.is_multiple_of(16));
    }
}

#[test]
fn what_is_handed_over_comes_back_once_from_a_device_that_keeps_the_rules() {
    let memory = Memory::new();
    let mut queue: Queue<&Memory, u64, N> = Queue::new(&memory);
    let mut model = Model { memory: &memory, seen: 0, used: 0 };
    let mut random = Random(0x5eed);
    let (mut has, mut given) = (Vec::new(), BTreeMap::new());
    let (mut number, mut back) = (0, 0);
    while back < 200_000 {
        match random.below(3) {
            0 => {
                let buffers = request(&mut random, number);
                let fits = buffers.len() <= queue.room();
                assert_eq!(queue.submit(&buffers, number), if fits { Ok(()) } else { Err(number) });
                if fits {
                    let (first, seen) = model.next().expect("there is a request");
                    let wanted = buffers.iter().map(|one| (one.address, one.bytes, one.writes));
                    assert_eq!(seen, wanted.collect::<Vec<_>>());
                    has.push((first, number, seen.last().expect("a buffer").1));
                    number += 1;
                }
            }
            1 if !has.is_empty() => {
                // In any order.
                let at = random.below(has.len() as u64) as usize;
                let (first, number, room) = has.swap_remove(at);
                let bytes = random.below(u64::from(room) + 1) as u32;
                model.give(first.into(), bytes);
                given.insert(number, bytes);
            }
            _ => match queue.take().expect("it keeps the rules") {
                Some(Used { request, bytes }) => {
                    assert_eq!(given.remove(&request), Some(bytes));
                    back += 1;
                }
                None => assert!(given.is_empty()),
            },
        }
        assert_eq!(queue.requests(), has.len() + given.len());
    }
    assert_eq!(queue.lies(), 0);
}

/// Whatever a device writes wherever it may: the driver gets back what the device has, once, no
/// longer than it was, or learns that the queue is broken. Behind a reset the queue works.
#[test]
fn a_device_that_lies_is_found_out() {
    let mut broken = [0; 3];
    for seed in 1..20_000 {
        let mut random = Random(seed * 0x9e37_79b9);
        let memory = Memory::new();
        let mut queue: Queue<&Memory, u64, N> = Queue::new(&memory);
        let mut model = Model { memory: &memory, seen: 0, used: 0 };
        let mut has: Vec<(u64, u32)> = Vec::new();
        let mut lies = 0;
        for number in 0..60 {
            let buffers = request(&mut random, number);
            if queue.submit(&buffers, number).is_ok() {
                has.push((number, buffers.last().expect("a buffer").bytes));
            }
            match random.below(8) {
                0 => memory.put(8 * random.below(memory.0.len() as u64), 8, random.0),
                1 => model.give(random.below(2 * N as u64) as u32, random.below(80) as u32),
                2 => memory.put(Layout::of(N).used + 2, 2, random.below(1 << 16)),
                _ => model.give(random.below(N as u64) as u32, random.below(4) as u32),
            }
            match queue.take() {
                Ok(None) => {}
                Ok(Some(Used { request, bytes })) => {
                    let at = has.iter().position(|(own, _)| *own == request).expect("it had that");
                    assert!(bytes <= has.swap_remove(at).1);
                }
                Err(error) => {
                    broken[error as usize] += 1;
                    lies += 1;
                    let refused = queue.submit(&buffers, number);
                    assert_eq!((queue.take(), refused), (Err(error), Err(number)));
                    let mut lost = Vec::new();
                    queue.reset(|request| lost.push(request));
                    lost.sort_unstable();
                    let mut had: Vec<u64> = has.drain(..).map(|(number, _)| number).collect();
                    had.sort_unstable();
                    assert_eq!(lost, had);
                    model = Model { memory: &memory, seen: 0, used: 0 };
                    works(&mut queue, &mut model);
                }
            }
            assert_eq!((queue.requests(), queue.lies()), (has.len(), lies));
        }
    }
    let kinds = [Broken::Count, Broken::Request, Broken::Length];
    assert!(kinds.iter().all(|kind| broken[*kind as usize] > 100), "{broken:?}");
}

/// An empty queue takes as many buffers as it has descriptors, and gives them back.
fn works(queue: &mut Queue<&Memory, u64, N>, model: &mut Model) {
    let buffer = Buffer::written(0x1000, 64);
    for number in 0..N as u64 {
        assert_eq!(queue.submit(&[buffer], number), Ok(()));
        let (first, _) = model.next().expect("there is a request");
        model.give(first.into(), 64);
    }
    for number in 0..N as u64 {
        assert_eq!(queue.take(), Ok(Some(Used { request: number, bytes: 64 })));
    }
    assert_eq!((queue.take(), queue.room()), (Ok(None), N));
}

#[test]
fn a_request_without_buffers_or_bytes_or_with_too_many_is_refused() {
    let memory = Memory::new();
    let mut queue: Queue<&Memory, u64, N> = Queue::new(&memory);
    let buffer = Buffer::written(1, 2);
    assert_eq!(queue.submit(&[], 1), Err(1));
    assert_eq!(queue.submit(&[buffer, Buffer::read(1, 0)], 1), Err(1));
    assert_eq!(queue.submit(&[buffer; N + 1], 2), Err(2));
    assert_eq!(queue.submit(&[buffer; N], 3), Ok(()));
    assert_eq!((queue.room(), queue.submit(&[buffer], 4)), (0, Err(4)));
}

#[test]
fn a_device_that_looks_by_itself_is_not_notified() {
    let memory = Memory::new();
    let queue: Queue<&Memory, u64, N> = Queue::new(&memory);
    assert!(queue.wants_notification());
    memory.put(Layout::of(N).used, 2, 1);
    assert!(!queue.wants_notification());
}
