//! Pools and the generations of their slots.

use crate::support::board::{Board, whole};
use crate::support::context::Regs;
use crate::support::effort::cases;
use crate::support::host::Host;
use crate::support::scene::{FREE, boot, system};
use abi::Error;
use abi::call::Call;
use kernel::access::{Life, Ref};
use kernel::object::capability::Capability;
use kernel::object::{Domain, Endpoint, Weak};
use kernel::pool::Pool;
use kernel::system::DirectLazy;
use proptest::prelude::*;

fn pool(size: usize) -> Pool<Endpoint<Host>> {
    let (_, mut arena) = Host::new(4, 0);
    Pool::carve(&mut arena, size, 0, |_, _| Some(Endpoint::new())).expect("fits")
}

fn no_owner() -> Option<Ref<Domain<Host>>> {
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48)))]
    #[test]
    fn a_pool_hands_out_vacant_slots(takes in prop::collection::vec(any::<bool>(), 0..40)) {
        let pool = pool(5);
        let mut taken = Vec::new();
        for take in takes {
            let room = pool.check().is_ok();
            prop_assert_eq!(room, taken.len() < 5);
            prop_assert_eq!(pool.free_slot().is_some(), room);
            if take && room {
                let expected = pool.free_slot().map(|slot| slot.index());
                let at = pool.take(&whole(), no_owner());
                prop_assert_eq!(Some(at.index()), expected);
                prop_assert!(at.life() == Life::Live);
                prop_assert!(!taken.contains(&at.index()), "a slot is taken twice");
                taken.push(at.index());
            }
            prop_assert_eq!(pool.used() as usize, taken.len());
        }
    }

    /// Objects come and go through system calls; each slot's generation counts destructions
    /// and revocations, and every capability from before is stale.
    #[test]
    fn generations_grow(steps in prop::collection::vec((0..3_u8, 0..6_u64), 0..60)) {
        let board: Board<DirectLazy<Host>> = boot(&[(1, 10)]);
        let endpoints = &board.machine.kernel.endpoints;
        let generations =
            || (0..endpoints.size()).map(|at| endpoints.get(at).unwrap().generation());
        let mut old: Vec<Capability<Host>> = Vec::new();
        let mut model: Vec<u64> = generations().collect();
        for (step, which) in steps {
            let slot = FREE + which;
            let cell = &board.domain(1).slots[slot as usize];
            let before = cell.get();
            let index = match before {
                Capability::Endpoint(cap) => Some(cap.at.index() as usize),
                _ => None,
            };
            let expected = match (step, index) {
                (0, None) => Ok(()),
                (0, Some(_)) => Err(Error::SlotOccupied),
                (_, None) => Err(Error::NoCapability),
                (_, Some(index)) => {
                    model[index] += 1;
                    old.push(before);
                    Ok(())
                }
            };
            let call = [Call::EndpointCreate, Call::Destroy, Call::CapRevoke][step as usize];
            let regs: Regs = system(call, &[slot]);
            board.call(regs);
            prop_assert_eq!(board.regs.get().status().result(), expected);
            prop_assert_eq!(&generations().collect::<Vec<_>>(), &model);
            for capability in &old {
                prop_assert_eq!(capability.inspect(), Err(Error::Stale));
            }
        }
        board.check();
    }
}

#[test]
fn ties_outlive_revocation_but_not_their_object() {
    let board: Board<DirectLazy<Host>> = boot(&[(1, 10)]);
    board.succeeds(1, system(Call::EndpointCreate, &[FREE, 0]));
    let Capability::Endpoint(cap) = board.domain(1).slots[FREE as usize].get() else {
        panic!("no endpoint was made");
    };
    let tie = Weak::new(cap.at);
    board.succeeds(1, system(Call::CapRevoke, &[FREE]));
    assert!(tie.get().is_some());
    board.succeeds(1, system(Call::Destroy, &[FREE]));
    assert!(tie.get().is_none());
    board.succeeds(1, system(Call::EndpointCreate, &[FREE, 0]));
    assert!(tie.get().is_none(), "a tie to the object that was there before");
}
