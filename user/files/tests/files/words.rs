//! Bytes that are copied out of shared words.

use files::Bytes;
use proptest::prelude::*;
use rt::abi::Rights;
use rt::arch::{self, Machine, Outcome};
use std::sync::atomic::AtomicU64;

/// Where the words lie.
const BASE: u64 = 0x1_0000;

/// Words of a message buffer.
struct Memory(Vec<AtomicU64>);

impl Machine for Memory {
    fn call(&self, _: u64, _: [u64; 6], _: [u64; 4]) -> Outcome {
        unreachable!("nothing is called")
    }

    fn reach(&self, address: u64, _: Rights, _: bool) -> Option<&'static AtomicU64> {
        let index = (address - BASE) / 8;
        memory().0.get(index as usize)
    }
}

fn memory() -> &'static Memory {
    static MEMORY: std::sync::OnceLock<Memory> = std::sync::OnceLock::new();
    let word = |index: u64| AtomicU64::new(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    MEMORY.get_or_init(|| Memory((0..512).map(word).collect()))
}

proptest! {
    #[test]
    fn any_bytes_are_copied_as_they_stand(from in 0usize..200, count in 0usize..100) {
        arch::install(Some(memory()));
        let words = arch::buffer(BASE).0.part(0, 40);
        let bytes: Vec<u8> =
            (0..40).flat_map(|index| words.get(index).to_le_bytes()).collect();
        let (from, count) = (from.min(bytes.len()), count.min(bytes.len() - from.min(bytes.len())));
        let mut into = vec![0; count];
        words.copy(from, &mut into);
        arch::install(None);
        prop_assert_eq!(&into, &bytes[from..from + count]);
        prop_assert_eq!(words.count(), bytes.len());
    }
}
