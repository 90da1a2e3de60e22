//! Heartbeats. A beat sets the child's bit of a notification and wakes no thread; when a child's
//! time is up, the watching thread (`watch.rs`) looks at the bits.
//!
//! What both threads know is in the journal's memory. While the supervisor works it belongs to the
//! supervisor, and the watching thread looks at nothing; else it belongs to that one, which is the
//! more urgent.

use abi::supervision::{JOURNAL_SILENT, JOURNAL_WATCH, MOST_CHILDREN, Silence, WATCH};
use rt::{Env, Slot, Wait, Words, ipc, signal, system};

use crate::journal::JOURNAL;
use crate::policy::{Set, each};
use crate::table;

/// The supervisor's end of the notification.
const BEATS: &str = "supervisor-beats";
/// No look is due.
pub const NEVER: u64 = u64::MAX;

/// Words of [`JOURNAL_WATCH`]: since when the supervisor works, 0: it waits; those that have
/// signalled since the last look at them; the instants of the next looks.
const WORKS: usize = 0;
const BEATEN: usize = 1;
const DUE: usize = 2;

/// When children have to have signalled, and which ones have not.
#[derive(Clone, Copy)]
pub struct Beats {
    notification: Slot,
    watch: Slot,
    /// What both threads know.
    state: Words,
    silent: Words,
    /// Nanoseconds within which a child has to signal; 0: it need not.
    lengths: [u64; MOST_CHILDREN],
}

impl Beats {
    /// None if no child has a heartbeat.
    pub fn open(env: &Env) -> Option<Beats> {
        let mut lengths = [0; MOST_CHILDREN];
        for (place, (_, child)) in lengths.iter_mut().zip(table::open(env).children()) {
            *place = child.heartbeat.unwrap_or(0);
        }
        let words = env.mem(JOURNAL);
        let of_silent = Silence::WORDS * MOST_CHILDREN;
        Some(Beats {
            notification: env.cap(BEATS),
            watch: env.find_cap(WATCH)?,
            state: words.part(JOURNAL_WATCH, DUE + MOST_CHILDREN),
            silent: words.part(JOURNAL_SILENT, of_silent),
            lengths,
        })
    }

    /// No child is there yet, and the supervisor works.
    pub fn reset(&self) {
        self.enter();
        self.state.set(BEATEN, 0);
        (0..MOST_CHILDREN).for_each(|child| self.stop(child));
    }

    /// The supervisor works from now on.
    pub fn enter(&self) {
        self.state.set(WORKS, system::clock().max(1));
    }

    /// The supervisor has worked, and kept the children from running: they have so much longer.
    pub fn leave(&self) {
        let worked = system::clock().saturating_sub(self.state.get(WORKS));
        for child in 0..MOST_CHILDREN {
            self.set_due(child, self.due(child).saturating_add(worked));
        }
        self.state.set(WORKS, 0);
        // It is the supervisor's own notification.
        let _ = signal::signal(self.watch);
    }

    /// Whether the supervisor works.
    pub fn is_entered(&self) -> bool {
        self.state.get(WORKS) != 0
    }

    /// A child begins: it has its whole time.
    pub fn begin(&self, child: usize) {
        if self.lengths[child] > 0 {
            self.gather();
            self.state.set(BEATEN, self.state.get(BEATEN) & !(1 << child));
            self.silent.set(Silence::WORDS * child, 0);
            self.set_due(child, system::clock().saturating_add(self.lengths[child]));
        }
    }

    /// A child is gone, or need not signal any more.
    pub fn stop(&self, child: usize) {
        self.set_due(child, NEVER);
        self.silent.set(Silence::WORDS * child, 0);
    }

    /// The instant of the next look, if there is one.
    pub fn next(&self) -> u64 {
        (0..MOST_CHILDREN).map(|child| self.due(child)).min().unwrap_or(NEVER)
    }

    /// The children whose time is up and that have not signalled: nothing is due of them until they
    /// begin anew. Those that have signalled have their time again.
    pub fn look(&self) -> Set {
        let now = system::clock();
        if now < self.next() {
            return 0;
        }
        self.gather();
        let beaten = self.state.get(BEATEN) as Set;
        let due = (0..MOST_CHILDREN).filter(|child| self.due(*child) <= now);
        let due: Set = due.fold(0, |set, child| set | 1 << child);
        for child in each(due) {
            let is_beaten = beaten >> child & 1 != 0;
            let next = now.saturating_add(self.lengths[child]);
            self.set_due(child, if is_beaten { next } else { NEVER });
        }
        self.state.set(BEATEN, u64::from(beaten & !due));
        due & !beaten
    }

    /// Notes that a child was silent, for the supervisor and the laboratory.
    pub fn note(&self, child: usize, silence: Silence) {
        let at = Silence::WORDS * child;
        let [seen, rest @ ..] = silence.to_words();
        (at + 1..).zip(rest).for_each(|(place, word)| self.silent.set(place, word));
        self.silent.set(at, seen);
    }

    /// A child that was silent, if the supervisor has not done what is to be done about it.
    pub fn silent(&self) -> Option<(usize, Silence)> {
        let noted = |child: usize| {
            let word = |nth| self.silent.get(Silence::WORDS * child + nth);
            Some((child, Silence::from_words(core::array::from_fn(word))?))
        };
        (0..MOST_CHILDREN).find_map(noted)
    }

    fn due(&self, child: usize) -> u64 {
        self.state.get(DUE + child)
    }

    fn set_due(&self, child: usize, instant: u64) {
        self.state.set(DUE + child, instant);
    }

    /// Takes the bits that were signalled.
    fn gather(&self) {
        // With no time to wait it fails if there are none.
        if let Ok(bits) = ipc::receive(self.notification, Wait::ZERO) {
            self.state.set(BEATEN, self.state.get(BEATEN) | bits.badge);
        }
    }
}
