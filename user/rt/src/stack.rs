//! How much of its stack a thread has used: stacks are zeroed when they are made, so they were
//! written down to the first word that is not zero.

use crate::{PAGE, Slot, system};
use abi::call::BLOCK_WORDS;

/// Words that one look tells of.
const BLOCK: u64 = BLOCK_WORDS as u64;

/// Pages of the longest stack.
const MOST: u64 = (16 << 20) / PAGE;

/// A stack in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    /// The most that was in use at once.
    pub used: u64,
    /// All that is mapped.
    pub size: u64,
}

impl Stack {
    /// The mapped pages around a stack pointer of a domain, by its index; `None`: there are none.
    pub fn around(system: Slot, domain: u64, pointer: u64) -> Option<Stack> {
        let zeros = |address| system::zeros(system, domain, address).ok().flatten();
        let is_mapped = |page: u64| zeros(page * PAGE).is_some();
        let own = Some(pointer.checked_sub(1)? / PAGE).filter(|page| is_mapped(*page))?;
        let below = (1..MOST).take_while(|n| *n <= own && is_mapped(own - n)).count() as u64;
        let above = (1..MOST).take_while(|n| is_mapped(own + n)).count() as u64;
        let (bottom, top) = ((own - below) * PAGE, (own + above + 1) * PAGE);
        let first = (bottom..top).step_by(8 * BLOCK_WORDS).find_map(|block| {
            let zeros = zeros(block).filter(|zeros| *zeros < BLOCK)?;
            Some(block + 8 * zeros)
        });
        Some(Stack { used: first.map_or(0, |first| top - first), size: top - bottom })
    }
}
