//! No signal is missed, and no byte is read before it was written: `loom` runs sender and receiver
//! through their interleavings and what the memory model lets a load return.
#![cfg(feature = "loom")]
#![forbid(unsafe_code)]

use loom::model::Builder;
use loom::sync::atomic::{AtomicU64, Ordering, fence};
use loom::sync::{Arc, Notify};
use loom::thread;
use ring::{Layout, Memory, Receiver, Sender};

const LAYOUT: Layout = Layout::new(1, 8);

/// The memory of a channel, and what signals each end.
struct Shared {
    words: Vec<AtomicU64>,
    sender: Notify,
    receiver: Notify,
}

#[derive(Clone)]
struct Loomed(Arc<Shared>);

impl Memory for Loomed {
    fn words(&self) -> usize {
        self.0.words.len()
    }

    fn load(&self, word: usize) -> u64 {
        self.0.words[word].load(Ordering::Acquire)
    }

    fn store(&self, word: usize, value: u64) {
        self.0.words[word].store(value, Ordering::Release);
    }

    fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    fn read(&self, from: usize, into: &mut [u8]) {
        let word = self.0.words[from / 8].load(Ordering::Relaxed).to_le_bytes();
        into.copy_from_slice(&word[..into.len()]);
    }

    fn write(&self, from: usize, bytes: &[u8]) {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        self.0.words[from / 8].store(u64::from_le_bytes(word), Ordering::Relaxed);
    }
}

fn sends(memory: Loomed, values: &[u64]) {
    let mut sender = Sender::new(memory.clone(), LAYOUT);
    for value in values {
        while !sender.send(&value.to_le_bytes(), 0) {
            while sender.returned().expect("the receiver is honest").is_some() {}
            if sender.publish() {
                memory.0.receiver.notify();
            }
            if !sender.is_connected() || sender.away() > 0 {
                if sender.may_wait() {
                    memory.0.sender.wait();
                }
            }
        }
        if sender.publish() {
            memory.0.receiver.notify();
        }
    }
}

fn receives(memory: Loomed, values: &[u64]) {
    let mut receiver = Receiver::new(memory.clone(), LAYOUT);
    let mut values = values.iter();
    while values.len() > 0 {
        while let Some(held) = receiver.receive().expect("the sender is honest") {
            let mut bytes = [0; 8];
            receiver.read(&held, &mut bytes);
            assert_eq!(Some(&u64::from_le_bytes(bytes)), values.next());
            receiver.give_back(held, 0);
        }
        if receiver.publish() {
            memory.0.sender.notify();
        }
        if values.len() > 0 && receiver.may_wait() {
            memory.0.receiver.wait();
        }
    }
}

/// Both ends begin, and this many values go over through one buffer.
fn explore<const N: usize>(values: [u64; N], preemptions: usize) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let words = (0..LAYOUT.words()).map(|_| AtomicU64::new(0)).collect();
        let shared = Shared { words, sender: Notify::new(), receiver: Notify::new() };
        let memory = Loomed(Arc::new(shared));
        let other = memory.clone();
        let thread = thread::spawn(move || receives(other, &values));
        sends(memory, &values);
        thread.join().expect("it receives all");
    });
}

#[test]
fn the_ends_find_each_other() {
    explore([7], 2);
}

#[test]
fn no_signal_is_missed() {
    explore([7, 8], 1);
}
