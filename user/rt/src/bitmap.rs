//! A set of numbered places in shared words, which threads take and give back without a lock.
//!
//! A set bit is a place that is taken, so zeroed words are a set in which all are free. No
//! operation waits for another thread: each place is tried once.

use crate::Words;
use core::sync::atomic::Ordering;

/// Places, as many as the words have bits or fewer.
#[derive(Clone, Copy)]
pub(crate) struct Bitmap {
    words: Words,
    places: usize,
}

impl Bitmap {
    /// The places in some words, `places` at most.
    pub fn new(words: Words, places: usize) -> Bitmap {
        Bitmap { words, places: places.min(64 * words.len()) }
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.places
    }

    /// How many are taken just now.
    pub fn taken(&self) -> usize {
        (0..self.words.len()).map(|at| self.words.get(at).count_ones() as usize).sum()
    }

    /// Takes the first run of so many free places from `from` on. A run of several places may be
    /// left out that another thread is about to take or gives back meanwhile; a single one is not.
    pub fn take(&self, from: usize, count: usize) -> Option<usize> {
        let mut first = from;
        while count > 0 && count <= self.places.checked_sub(first)? {
            match self.claim(first, count) {
                Ok(()) => return Some(first),
                Err(taken) => first = taken + 1,
            }
        }
        None
    }

    /// Takes this run, or says which of its places is taken, the last one of its word.
    fn claim(&self, first: usize, count: usize) -> Result<(), usize> {
        for (at, mask) in parts(first, count) {
            // Looking first keeps this thread from disturbing others where it will fail anyway.
            let mut taken = self.words.get(at) & mask;
            if taken == 0 {
                taken = self.words.word(at).fetch_or(mask, Ordering::Acquire) & mask;
                if taken != 0 {
                    self.words.word(at).fetch_and(!(mask & !taken), Ordering::Release);
                }
            }
            if taken != 0 {
                if 64 * at > first {
                    self.give(first, 64 * at - first);
                }
                return Err(64 * at + taken.ilog2() as usize);
            }
        }
        Ok(())
    }

    /// Gives back places that were taken.
    pub fn give(&self, first: usize, count: usize) {
        for (at, mask) in parts(first, count) {
            let before = self.words.word(at).fetch_and(!mask, Ordering::Release);
            debug_assert!(before & mask == mask, "places are given back that were not taken");
        }
    }
}

/// The words that a run of at least one place lies in, with its bits there.
fn parts(first: usize, count: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = first + count;
    (first / 64..end.div_ceil(64)).map(move |at| {
        let (low, high) = (first.max(64 * at) - 64 * at, end.min(64 * at + 64) - 64 * at);
        (at, u64::MAX >> (64 - (high - low)) << low)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{self, BASE};
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    /// The first run of free places, the plain way.
    fn first_fit(taken: &[bool], count: usize) -> Option<usize> {
        let runs = 0..=taken.len().checked_sub(count)?;
        runs.into_iter().find(|first| !taken[*first..first + count].contains(&true))
    }

    proptest! {
        #[test]
        fn first_fit_that_gives_nothing_twice(
            places in 1usize..200,
            steps in prop::collection::vec((any::<bool>(), 1usize..80, any::<usize>()), 1..80),
        ) {
            let _machine = machine::install(1);
            let map = Bitmap::new(Words::at(BASE, 8 * 4), places);
            let (mut model, mut held) = (vec![false; places], Vec::<(usize, usize)>::new());
            for (takes, count, which) in steps {
                if takes || held.is_empty() {
                    let got = map.take(0, count);
                    prop_assert_eq!(got, first_fit(&model, count));
                    if let Some(first) = got {
                        model[first..first + count].fill(true);
                        held.push((first, count));
                    }
                } else {
                    let (first, count) = held.swap_remove(which % held.len());
                    map.give(first, count);
                    model[first..first + count].fill(false);
                }
                prop_assert_eq!(map.taken(), model.iter().filter(|taken| **taken).count());
            }
        }
    }

    #[test]
    fn extreme_counts_are_refused() {
        let _machine = machine::install(1);
        let map = Bitmap::new(Words::at(BASE, 8 * 2), 1000);
        assert_eq!(map.places(), 128);
        assert_eq!((map.take(0, 0), map.take(0, 129), map.take(0, usize::MAX)), (None, None, None));
        assert_eq!((map.take(128, 1), map.take(usize::MAX, 1)), (None, None));
        assert_eq!((map.take(1, 127), map.take(0, 1), map.take(0, 1)), (Some(1), Some(0), None));
        map.give(0, 128);
        assert_eq!(map.taken(), 0);
    }

    #[test]
    fn threads_take_different_places() {
        // The memory outlives the machine.
        let machine = machine::install(1);
        let share = machine.share();
        let threads: Vec<_> = (0..4)
            .map(|_| {
                std::thread::spawn(move || {
                    let _machine = share.install();
                    let map = Bitmap::new(Words::at(BASE, 8 * 16), 1024);
                    let mut mine = Vec::new();
                    for round in 0..2_000 {
                        match map.take(0, 1 + round % 3) {
                            Some(first) => mine.push((first, 1 + round % 3)),
                            None => {
                                mine.drain(..).for_each(|(first, count)| map.give(first, count))
                            }
                        }
                    }
                    mine
                })
            })
            .collect();
        let mut all: Vec<usize> = Vec::new();
        for thread in threads {
            let mine = thread.join().unwrap();
            all.extend(mine.into_iter().flat_map(|(first, count)| first..first + count));
        }
        let map = Bitmap::new(Words::at(BASE, 8 * 16), 1024);
        assert_eq!(all.len(), map.taken(), "what is held is taken, and nothing else");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), map.taken(), "no place is held twice");
    }
}
