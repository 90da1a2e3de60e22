//! Memory barriers that a processor with weakly ordered memory executes (S1-E01).
//!
//! Accesses are mapped as compilers do for ARMv7, where `dmb` is the only barrier: one behind an
//! access that acquires, one in front of one that releases.

use cells::{Access, Kind};
use std::sync::atomic::Ordering;

/// How many barriers an access takes.
pub fn of(access: &Access) -> u64 {
    let (acquires, releases) = match (access.order, access.kind) {
        (None | Some(Ordering::Relaxed), _) => (false, false),
        (Some(Ordering::Acquire), _) => (true, false),
        (Some(Ordering::Release), _) => (false, true),
        (Some(Ordering::SeqCst), Kind::Read) => (true, false),
        // Sequentially consistent writes and all that both acquires and releases.
        (Some(_), _) => (true, true),
    };
    u64::from(acquires) + u64::from(releases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_that_is_ordered_takes_one() {
        let of = |kind, order| {
            of(&Access { at: std::ptr::null(), bytes: 4, kind, order, shared: false })
        };
        assert_eq!(of(Kind::Write, None), 0);
        assert_eq!(of(Kind::Exchange, Some(Ordering::Relaxed)), 0);
        assert_eq!(of(Kind::Read, Some(Ordering::Acquire)), 1);
        assert_eq!(of(Kind::Write, Some(Ordering::Release)), 1);
        assert_eq!(of(Kind::Exchange, Some(Ordering::AcqRel)), 2);
        assert_eq!(of(Kind::Read, Some(Ordering::SeqCst)), 1);
        assert_eq!(of(Kind::Write, Some(Ordering::SeqCst)), 2);
    }
}
