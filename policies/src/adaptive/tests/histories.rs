//! What a server asks for.

use super::*;
use proptest::prelude::*;

fn used(consumed: u64, extra: u64) -> Use {
    Use { jobs: 10, consumed, extra }
}

/// The numbers of a hand calculation.
#[test]
fn mean_deviation_and_what_lacked_add_up() {
    let mut demand = Demand::new(4);
    assert_eq!((demand.wanted(), demand.mean()), (None, None), "nothing was seen");
    demand.push(Use { jobs: 0, consumed: 9, extra: 9 }, 5);
    assert_eq!(demand.wanted(), None, "a control period without a period tells nothing");
    demand.push(used(40, 0), 100);
    assert_eq!(demand.wanted(), Some(4), "one sample does not deviate");
    demand.push(used(80, 0), 100);
    assert_eq!(demand.wanted(), Some(7), "6 + 2/2");
    demand.push(used(0, 20), 100);
    // h: 4, 8, 102; e: 0, 0, 2: 38 + 42.667/2 + 0.667 = 60.
    assert_eq!(demand.wanted(), Some(60));
    assert_eq!(demand.mean(), Some(38));
}

/// What is long past has no part in it.
#[test]
fn a_history_slides() {
    let mut demand = Demand::new(3);
    demand.push(used(u64::MAX, u64::MAX), u64::MAX);
    for _ in 0..3 {
        demand.push(used(70, 0), 1);
    }
    assert_eq!(demand.wanted(), Some(7));
    for (asked, length) in [(0, 1), (99, HISTORY as u64)] {
        let mut demand = Demand::new(asked);
        demand.push(used(10 * length, 0), 1);
        (0..length - 1).for_each(|_| demand.push(used(0, 0), 1));
        assert_ne!(demand.mean(), Some(0), "still seen");
        demand.push(used(0, 0), 1);
        assert_eq!(demand.mean(), Some(0), "past");
    }
}

#[test]
fn extremes_saturate() {
    let mut demand = Demand::new(HISTORY);
    for _ in 0..2 * HISTORY {
        demand.push(Use { jobs: 1, consumed: u64::MAX, extra: u64::MAX }, u64::MAX);
        assert_eq!(demand.wanted(), Some(u64::MAX));
    }
    assert_eq!(demand.mean(), Some(u64::MAX));
    let mut demand = Demand::new(2);
    demand.push(Use { jobs: 1, consumed: u64::MAX, extra: 0 }, 0);
    demand.push(Use { jobs: u32::MAX, consumed: 0, extra: 0 }, 0);
    // Mean and half the deviation: a half and a quarter of the greatest number.
    assert_eq!(demand.wanted(), Some((3 * u128::from(u64::MAX)).div_ceil(4) as u64));
}

proptest! {
    /// Against the model, within what floating point and the last rounding leave.
    #[test]
    fn agrees_with_the_model(
        uses in prop::collection::vec(
            ((0u32..40, 0u64..1 << 40, prop_oneof![Just(0), 0u64..1 << 40]), 0u64..1 << 36),
            0..40,
        ),
        length in 1usize..=HISTORY,
    ) {
        let mut demand = Demand::new(length);
        let mut seen = Vec::new();
        for ((jobs, consumed, extra), budget) in uses {
            let next = Use { jobs, consumed, extra };
            seen.push((next, budget));
            demand.push(next, budget);
            let (ours, model) = (demand.wanted(), model::wanted(&seen, length));
            prop_assert_eq!(ours.is_some(), model.is_some());
            if let (Some(ours), Some(model)) = (ours, model) {
                let off = ours as f64 - model;
                prop_assert!((-0.01..1.01).contains(&off), "{ours} and {model}");
            }
        }
    }
}
