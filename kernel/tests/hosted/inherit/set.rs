//! Sets in the order of keys, against a vector.

use super::reference;
use crate::support::board::Board;
use crate::support::effort::{seeds, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::boot;
use cells::Cell;
use kernel::object::Thread;
use kernel::object::inherit::ByWaiter;
use kernel::order::Order;
use kernel::system::DirectLazy;

/// Threads that are members: some of them have one key.
const MEMBERS: u32 = 40;

#[test]
fn sets_as_vectors() {
    let threads: Vec<(u32, u8)> = (1..=MEMBERS).map(|_| (1, 10)).collect();
    let board: Board<DirectLazy<Host>> = boot(&threads);
    for seed in seeds(0..40) {
        let rng = Rng::new(seed);
        // Few keys, keys that differ in few bits, and any.
        let mask = rng.pick(&[0x03, 0x81, 0xe0, 0xff]);
        let (root, mut model) = (Cell::new(None), Vec::<(u8, u32)>::new());
        board.open(|all| {
            let order = Order::<Thread<Host>, ByWaiter>::of(all, ByWaiter);
            for _ in 0..steps(400) {
                let member = 1 + rng.below(MEMBERS.into()) as u32;
                let at = reference(&board, member);
                let key = rng.next() as u8 & mask;
                match model.iter().position(|(_, other)| *other == member) {
                    // Behind its new equals, also if these are the old ones.
                    Some(found) if rng.below(3) == 0 => {
                        let is_alone = model.len() == 1;
                        model.remove(found);
                        model.push((key, member));
                        order.rekey(&root, at, key);
                        assert!(!is_alone || root.get() == Some(at));
                    }
                    Some(found) => {
                        assert_eq!(order.key(at), model.remove(found).0);
                        order.remove(&root, at);
                    }
                    None => {
                        model.push((key, member));
                        order.insert(&root, at, key);
                    }
                }
                // The last of the greatest, from behind: the first that came.
                let first = model.iter().rev().max_by_key(|(key, _)| *key);
                let expected = first.map(|(_, member)| *member);
                assert_eq!(order.first(&root).map(|at| at.index()), expected, "seed {seed}");
                let mut members = Vec::new();
                order.each(&root, &mut |at| members.push((order.key(at), at.index())));
                members.sort_unstable();
                let mut all = model.clone();
                all.sort_unstable();
                assert_eq!(members, all, "seed {seed}");
                let first = order.first(&root).into_iter();
                let equals: Vec<u32> =
                    first.flat_map(|at| order.equals(at)).map(|at| at.index()).collect();
                let highest = model.iter().map(|(key, _)| *key).max();
                let behind = model.iter().filter(|(key, _)| Some(*key) == highest);
                assert_eq!(equals, behind.map(|(_, member)| *member).collect::<Vec<_>>());
            }
            for (_, member) in model {
                order.remove(&root, reference(&board, member));
            }
            assert!(root.get().is_none());
        });
    }
}
