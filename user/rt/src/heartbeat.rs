//! Telling the supervisor that the program still works.

use crate::{Slot, signal};

/// A program's heartbeat ([`Env::heartbeat`](crate::Env::heartbeat)).
#[derive(Clone, Copy, Debug)]
pub struct Heartbeat {
    slot: Slot,
}

impl Heartbeat {
    /// The heartbeat that a notification hears; none with [`Slot::NONE`].
    pub(crate) fn new(slot: Slot) -> Heartbeat {
        Heartbeat { slot }
    }

    /// Beats once. A program that the manifest gives `heartbeat = "50ms"` beats at least once in
    /// each 50 ms; it costs one signal, which wakes no thread.
    pub fn beat(&self) {
        if self.slot != Slot::NONE {
            // Without a supervisor that hears it there is nothing else to do.
            let _ = signal::signal(self.slot);
        }
    }
}
