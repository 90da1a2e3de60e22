//! Free addresses for mappings that the program makes.

use crate::Env;
use crate::bitmap::Bitmap;
use crate::shared::Words;
use abi::PAGE;

/// First word, in the first thread's message buffer, of those that say which pages are taken.
const STATE: usize = 496;
/// How many words these are.
const STATE_WORDS: usize = 16;

/// The first address of a program's window: above all that a manifest maps.
pub const WINDOW: u64 = 0x40_0000_0000;

/// A range of addresses of which [`Mapping`](crate::Mapping) takes runs of pages, first fit.
///
/// The program's window has 1,024 pages (4 MiB) from [`WINDOW`] on. As for a
/// [`SlotPool`](crate::SlotPool), its state lies in the message buffer of the program's first
/// thread, so that all windows of a program are one.
#[derive(Clone, Copy)]
pub struct Window {
    address: u64,
    map: Bitmap,
}

impl Window {
    /// The window of the program.
    pub fn new(env: &Env) -> Window {
        Window::over(WINDOW, env.buffer(0).0.part(STATE, STATE_WORDS))
    }

    /// A window of the program's own, from a page's address on. Its state is in some words: a bit
    /// for each page, all zero at first and changed by nothing else.
    pub fn over(address: u64, state: Words) -> Window {
        Window { address, map: Bitmap::new(state, 64 * state.len()) }
    }

    /// How many pages are taken just now.
    pub fn taken(&self) -> usize {
        self.map.taken()
    }

    /// Takes the first run of so many pages whose address is not below `from`.
    pub(crate) fn take(&self, from: u64, pages: u64) -> Option<u64> {
        let from = (from.saturating_sub(self.address) / PAGE) as usize;
        let first = self.map.take(from, usize::try_from(pages).ok()?)?;
        Some(self.address + first as u64 * PAGE)
    }

    /// Gives pages back that were taken.
    pub(crate) fn give(&self, address: u64, pages: u64) {
        self.map.give(((address - self.address) / PAGE) as usize, pages as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{self, BASE};

    #[test]
    fn runs_of_pages_are_first_fit() {
        let _machine = machine::install(1);
        let window = Window::over(WINDOW, Words::at(BASE, 8 * 16));
        assert_eq!(window.take(0, 3), Some(WINDOW));
        assert_eq!(window.take(0, 512), Some(WINDOW + 3 * PAGE));
        assert_eq!(
            (window.take(0, 510), window.take(0, u64::MAX), window.take(0, 0)),
            Default::default()
        );
        window.give(WINDOW, 3);
        assert_eq!(window.take(WINDOW + PAGE, 2), Some(WINDOW + PAGE));
        assert_eq!(window.take(0, 2), Some(WINDOW + 515 * PAGE));
        assert_eq!(window.taken(), 516);
    }
}
