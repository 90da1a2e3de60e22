//! Memory that a driver shares with its device and its client, and a device behind registers, which
//! does only what a test has it do.

use ring::Memory;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use virtio::Shared;
use virtio::mmio::{Registers, VERSION_1};

/// Where the memory begins for the device.
pub const BASE: u64 = 0x10_0000;

/// What a peer does whenever a ring's word, this one, is read.
type Hook = Rc<RefCell<Option<Box<dyn FnMut(usize)>>>>;

/// A part of the memory, of one thread. What is not there panics.
#[derive(Clone)]
pub struct Ram {
    words: Rc<Vec<Cell<u64>>>,
    from: usize,
    hook: Hook,
}

impl Ram {
    pub fn new(words: usize) -> Ram {
        let words = Rc::new((0..words).map(|_| Cell::new(0)).collect());
        Ram { words, from: 0, hook: Hook::default() }
    }

    /// The part from a word on.
    pub fn part(&self, from: usize) -> Ram {
        Ram { words: self.words.clone(), from: self.from + from, hook: Hook::default() }
    }

    /// Has a peer act on each load of a ring's word through this part.
    #[allow(dead_code, reason = "not each test has a peer that is faster than the driver")]
    pub fn at_each_load(&self, hook: impl FnMut(usize) + 'static) {
        *self.hook.borrow_mut() = Some(Box::new(hook));
    }

    /// Where the device finds it.
    pub fn address(&self) -> u64 {
        BASE + 8 * self.from as u64
    }

    pub fn byte(&self, at: usize) -> u8 {
        self.words[self.from + at / 8].get().to_le_bytes()[at % 8]
    }

    pub fn set_byte(&self, at: usize, value: u8) {
        let cell = &self.words[self.from + at / 8];
        let mut bytes = cell.get().to_le_bytes();
        bytes[at % 8] = value;
        cell.set(u64::from_le_bytes(bytes));
    }

    fn number(&self, at: usize, bytes: usize) -> u64 {
        (0..bytes).rev().fold(0, |number, byte| number << 8 | u64::from(self.byte(at + byte)))
    }

    fn set_number(&self, at: usize, bytes: usize, value: u64) {
        (0..bytes).for_each(|byte| self.set_byte(at + byte, value.to_le_bytes()[byte]));
    }
}

impl Shared for Ram {
    fn load(&self, word: usize) -> u64 {
        self.words[self.from + word].get()
    }

    fn store(&self, word: usize, value: u64) {
        self.words[self.from + word].set(value);
    }
}

impl Memory for Ram {
    fn words(&self) -> usize {
        self.words.len() - self.from
    }

    fn load(&self, word: usize) -> u64 {
        if let Some(hook) = &mut *self.hook.borrow_mut() {
            hook(word);
        }
        Shared::load(self, word)
    }

    fn store(&self, word: usize, value: u64) {
        Shared::store(self, word, value);
    }

    fn fence(&self) {}

    fn read(&self, from: usize, into: &mut [u8]) {
        (from..).zip(into).for_each(|(at, byte)| *byte = self.byte(at));
    }

    fn write(&self, from: usize, bytes: &[u8]) {
        (from..).zip(bytes).for_each(|(at, byte)| self.set_byte(at, *byte));
    }
}

/// A queue, as the device knows it.
#[derive(Clone, Copy, Default)]
struct Ring {
    size: u32,
    /// Descriptors, available ring, used ring.
    places: [u64; 3],
    ready: u32,
    seen: u16,
    used: u16,
}

/// A request as the device sees it: its first descriptor, and address, bytes and direction of each
/// buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub first: u32,
    pub buffers: Vec<(u64, usize, bool)>,
}

/// A device.
pub struct Board {
    memory: Ram,
    kind: u32,
    configuration: u64,
    rings: RefCell<[Ring; 2]>,
    selected: Cell<usize>,
    half: Cell<u32>,
    pub status: Cell<u32>,
    /// What it interrupts for.
    pub reasons: Cell<u32>,
    /// How often it was reset.
    pub resets: Cell<u32>,
}

/// Its registers.
#[derive(Clone)]
pub struct Bus(pub Rc<Board>);

impl Bus {
    pub fn new(memory: &Ram, kind: u32, configuration: u64) -> Bus {
        Bus(Rc::new(Board {
            memory: memory.clone(),
            kind,
            configuration,
            rings: RefCell::default(),
            selected: Cell::new(0),
            half: Cell::new(0),
            status: Cell::new(0),
            reasons: Cell::new(0),
            resets: Cell::new(0),
        }))
    }
}

impl Board {
    fn at(address: u64) -> usize {
        (address - BASE) as usize
    }

    /// The next request of a queue.
    pub fn next(&self, queue: usize) -> Option<Request> {
        let ring = &mut self.rings.borrow_mut()[queue];
        let [descriptors, available, _] = ring.places.map(|address| Board::at(address.max(BASE)));
        if ring.ready == 0 || self.memory.number(available + 2, 2) == u64::from(ring.seen) {
            return None;
        }
        let slot = usize::from(ring.seen) % ring.size as usize;
        let first = self.memory.number(available + 4 + 2 * slot, 2) as u32;
        ring.seen = ring.seen.wrapping_add(1);
        let (mut buffers, mut index) = (Vec::new(), first as usize);
        loop {
            let [address, bytes, flags, next] = [(0, 8), (8, 4), (12, 2), (14, 2)]
                .map(|(at, bytes)| self.memory.number(descriptors + 16 * index + at, bytes));
            buffers.push((address, bytes as usize, flags & 2 != 0));
            if flags & 1 == 0 {
                return Some(Request { first, buffers });
            }
            index = next as usize;
        }
    }

    /// Gives a request of a queue back.
    pub fn give(&self, queue: usize, request: &Request, bytes: usize) {
        let ring = &mut self.rings.borrow_mut()[queue];
        let used = Board::at(ring.places[2]);
        let entry = used + 4 + 8 * (usize::from(ring.used) % ring.size as usize);
        self.memory.set_number(entry, 4, request.first.into());
        self.memory.set_number(entry + 4, 4, bytes as u64);
        ring.used = ring.used.wrapping_add(1);
        self.memory.set_number(used + 2, 2, ring.used.into());
        self.reasons.set(self.reasons.get() | 1);
    }

    /// Bytes of the memory, as the device reads them.
    #[allow(dead_code, reason = "not each device reads")]
    pub fn read(&self, address: u64, bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| self.memory.byte(Board::at(address) + at)).collect()
    }

    /// Writes a byte of the memory.
    #[allow(dead_code, reason = "not each device writes")]
    pub fn write(&self, address: u64, byte: u8) {
        self.memory.set_byte(Board::at(address), byte);
    }
}

impl Registers for Bus {
    fn read(&self, offset: usize) -> u32 {
        let Bus(board) = self;
        let half = |value: u64, upper: bool| (value >> (32 * u32::from(upper))) as u32;
        match offset {
            0x0 => 0x7472_6976,
            0x4 => 2,
            0x8 => board.kind,
            0x10 => half(VERSION_1, board.half.get() == 1),
            0x34 => 64,
            0x44 => board.rings.borrow()[board.selected.get()].ready,
            0x60 => board.reasons.get(),
            0x70 => board.status.get(),
            0xfc => 0,
            0x100 | 0x104 => half(board.configuration, offset == 0x104),
            _ => panic!("a driver does not read {offset:#x}"),
        }
    }

    fn write(&self, offset: usize, value: u32) {
        let Bus(board) = self;
        let rings = &mut *board.rings.borrow_mut();
        let ring = &mut rings[board.selected.get()];
        match offset {
            0x14 | 0x24 => board.half.set(value),
            0x30 => board.selected.set(value as usize),
            0x38 => ring.size = value,
            0x44 => ring.ready = value,
            0x64 => board.reasons.set(board.reasons.get() & !value),
            0x70 => {
                board.status.set(value);
                if value == 0 {
                    board.resets.set(board.resets.get() + 1);
                    board.reasons.set(0);
                    *rings = Default::default();
                }
            }
            0x80 | 0x90 | 0xa0 => ring.places[(offset - 0x80) / 16] = u64::from(value),
            0x84 | 0x94 | 0xa4 => {
                ring.places[(offset - 0x84) / 16] |= u64::from(value) << 32;
            }
            _ => {}
        }
    }
}
