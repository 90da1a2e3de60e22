//! The note of the call that failed last on this host thread, of the program that runs there.

use super::std;
use crate::Env;
use crate::noted::WORDS;
use std::cell::Cell;
use std::thread_local;

thread_local! {
    static NOTE: Cell<[u64; WORDS]> = const { Cell::new([0; WORDS]) };
}

/// Writes it.
pub(crate) fn write(words: [u64; WORDS]) {
    NOTE.set(words);
}

/// What it says; zeros if no call has failed.
pub(crate) fn read() -> [u64; WORDS] {
    NOTE.get()
}

/// Whether the thread that calls has written it: each has its own.
pub(crate) fn is_own(_: &Env, _: u64) -> bool {
    true
}

/// Exchanges the note of the program that runs on this host thread for that of another one, which
/// goes on.
pub(crate) fn exchange(other: &mut [u64; WORDS]) {
    *other = NOTE.replace(*other);
}
