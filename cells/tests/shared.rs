//! What a word that is looked at unheld promises about the memory beside it. A processor of a
//! strong order keeps it in any case; Miri returns all values that the language allows.
#![cfg(feature = "shared")]

use cells::Shared;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

/// Another thread writes data, then changes the word, which is `begin` at first; this one waits
/// until it `has_changed`, and is to see the data.
fn publishes(begin: u32, change: fn(&Shared<u32>), has_changed: fn(u32) -> bool) {
    let (data, word) = (AtomicU64::new(0), Shared::new(begin));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(1, Relaxed);
            change(&word);
        });
        while !has_changed(word.get()) {
            thread::yield_now();
        }
        assert_eq!(data.load(Relaxed), 1, "what happened before the change is seen");
    });
}

#[test]
fn a_value_that_is_set_publishes() {
    publishes(0, |word| word.set(1), |value| value == 1);
}

#[test]
fn a_bit_that_is_set_publishes() {
    publishes(0, |word| word.insert(1), |value| value == 1);
}

#[test]
fn a_bit_that_is_cleared_publishes() {
    publishes(1, |word| word.remove(1), |value| value == 0);
}

/// Bits that another thread changes in between take nothing away from what was published.
#[test]
fn a_bit_that_others_follow_publishes() {
    let change = |word: &Shared<u32>| {
        word.insert(1);
        thread::scope(|scope| {
            scope.spawn(|| word.insert(2));
        });
    };
    publishes(0, change, |value| value & 1 != 0);
}
