//! Quotas.

use abi::Error;
use abi::object::Resource;
use kernel::quota::Quotas;
use proptest::prelude::*;
use std::array;
use std::panic::{AssertUnwindSafe, catch_unwind};

proptest! {
    #[test]
    fn quotas_count(steps in prop::collection::vec((0..3_u8, 0..3_usize, 0..8_u32), 0..100)) {
        let quotas = Quotas::new();
        let resources = [Resource::Threads, Resource::Frames, Resource::Slots];
        let mut model = [(0_u32, 0_u32); 3];
        for (step, which, amount) in steps {
            let (resource, (used, limit)) = (resources[which], &mut model[which]);
            match step {
                0 if amount >= *used => {
                    quotas.set_limit(resource, amount);
                    *limit = amount;
                }
                1 => {
                    let fits = *used + amount <= *limit;
                    let expected = if fits { Ok(()) } else { Err(Error::QuotaExceeded) };
                    prop_assert_eq!(quotas.check(resource, amount), expected);
                    if fits {
                        quotas.charge(resource, amount);
                        *used += amount;
                    }
                }
                2 if amount <= *used => {
                    quotas.refund(resource, amount);
                    *used -= amount;
                }
                _ => {}
            }
            for (resource, (used, limit)) in resources.iter().zip(model) {
                prop_assert_eq!((quotas.used(*resource), quotas.limit(*resource)), (used, limit));
            }
        }
    }
}

#[test]
fn a_domain_is_given_all_its_quotas_at_once_and_they_come_back() {
    let [parent, child] = [Quotas::new(), Quotas::new()];
    let most = array::from_fn(|index| 10 + index as u32);
    parent.set_limits(&most);
    let given = array::from_fn(|index| index as u32);
    assert_eq!(parent.check_all(&most), Ok(()));
    for index in 0..Resource::COUNT {
        let mut more = most;
        more[index] += 1;
        assert_eq!(parent.check_all(&more), Err(Error::QuotaExceeded), "{index}");
    }
    parent.charge_all(&given);
    child.set_limits(&given);
    child.charge(Resource::Threads, 1);
    for (index, resource) in Resource::ALL.into_iter().enumerate() {
        assert_eq!((parent.used(resource), parent.limit(resource)), (given[index], most[index]));
        assert_eq!(child.limit(resource), given[index]);
    }
    parent.reclaim(&child);
    child.clear();
    for resource in Resource::ALL {
        assert_eq!((parent.used(resource), child.used(resource), child.limit(resource)), (0, 0, 0));
    }
}

#[test]
fn what_was_not_checked_is_a_bug() {
    let quotas = Quotas::new();
    quotas.set_limit(Resource::Threads, 2);
    quotas.charge(Resource::Threads, 2);
    let fails = |change: &dyn Fn()| catch_unwind(AssertUnwindSafe(change)).is_err();
    assert!(fails(&|| quotas.charge(Resource::Threads, 1)));
    assert!(fails(&|| quotas.refund(Resource::Threads, 3)));
    assert!(fails(&|| quotas.set_limit(Resource::Threads, 1)));
    assert!(fails(&|| quotas.set_limits(&[1; Resource::COUNT])));
    assert!(fails(&|| quotas.charge_all(&[1; Resource::COUNT])));
    assert!(fails(&|| Quotas::new().reclaim(&quotas)));
    assert_eq!(quotas.check(Resource::Threads, u32::MAX), Err(Error::QuotaExceeded));
}
