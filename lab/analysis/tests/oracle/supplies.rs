//! Supply bound functions.

use analysis::{AnalysisError, Supply};
use proptest::prelude::*;
use response_time_analysis::supply::{Periodic, SupplyBound};
use response_time_analysis::time::{Duration, Service};

/// sbf as ledger S2B-04 prints it.
fn printed(period: i64, budget: i64, t: i64) -> i64 {
    let gap = period - budget;
    let k = ((t - gap).div_euclid(period) + i64::from((t - gap).rem_euclid(period) != 0)).max(1);
    let slope = (k + 1) * period - 2 * budget..=(k + 1) * period - budget;
    if slope.contains(&t) { t - (k + 1) * gap } else { (k - 1) * budget }
}

proptest! {
    #[test]
    fn periodic_supply_is_the_printed_one((period, budget) in servers(), t in 0..400u64) {
        let supply = Supply::periodic(period, budget).unwrap();
        let printed = printed(period as i64, budget as i64, t as i64);
        prop_assert_eq!(supply.provided(t) as i64, printed);
        let other = Periodic { period: Duration::from(period), budget: Service::from(budget) };
        prop_assert_eq!(Service::from(supply.provided(t)), other.provided_service(t.into()));
        let demand = t + 1;
        let time = supply.time_for(demand.into()).unwrap();
        prop_assert_eq!(Duration::from(time), other.service_time(demand.into()));
    }

    #[test]
    fn the_line_is_below_the_supply((period, budget) in servers(), t in 0..400u64) {
        let supplies = [Supply::periodic, Supply::linear];
        let [exact, line] = supplies.map(|of| of(period, budget).unwrap());
        prop_assert!(line.provided(t) <= exact.provided(t));
        let rest = t as f64 - 2.0 * (period - budget) as f64;
        let real = (rest * budget as f64 / period as f64).max(0.0);
        prop_assert_eq!(line.provided(t), (real + 1e-9) as u64);
    }

    #[test]
    fn times_are_inverse_to_supply((period, budget) in servers(), demand in 1..300u64) {
        let kinds = [
            Supply::periodic, Supply::linear, Supply::hard_cbs, Supply::soft_cbs, Supply::sporadic,
        ];
        for supply in kinds.map(|of| of(period, budget).unwrap()) {
            let time = supply.time_for(demand.into()).unwrap();
            prop_assert!(supply.provided(time) >= demand, "{supply:?}");
            prop_assert!(supply.provided(time - 1) < demand, "{supply:?}");
            let (cycle, work) = supply.cycle();
            prop_assert_eq!(supply.provided(time + cycle), supply.provided(time) + work);
        }
    }

    #[test]
    fn the_greatest_numbers_give_answers_or_errors(
        numbers in prop::array::uniform4(prop::sample::select(vec![
            0, 1, 2, 1 << 32, u64::MAX / 2, u64::MAX - 1, u64::MAX,
        ])),
    ) {
        let [period, budget, response, t] = numbers;
        let window = analysis::Window { offset: response, duration: budget };
        let supplies = [
            Supply::periodic(period, budget), Supply::linear(period, budget),
            Supply::soft_cbs(period, budget), Supply::sporadic(period, budget),
            Supply::periodic_within(period, budget, response),
            Supply::bounded_delay(budget, response), Supply::windows(period, &[window]),
        ];
        for supply in supplies {
            match supply {
                Ok(supply) => {
                    prop_assert!(supply.provided(t) <= t);
                    prop_assert!(supply.time_for(t.into()).is_none_or(|time| time >= t));
                    prop_assert_eq!(supply.time_for(u128::MAX), None);
                }
                Err(AnalysisError::Parameter { .. }) => {}
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}

fn servers() -> impl Strategy<Value = (u64, u64)> {
    (1..60u64).prop_flat_map(|period| (Just(period), 1..=period))
}
