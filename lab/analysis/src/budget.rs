//! The smallest budget of a server.

use crate::error::require;
use crate::{AnalysisError, Time};

/// The closed form of ledger S2B-04: the smallest budget, in whole ns, with which a periodic
/// server's line lsbf supplies `demand` by `instant`; `None` if a whole CPU does not.
///
/// ```text
/// B >= (sqrt((t - 2P)^2 + 8 P I) - (t - 2P)) / 4
/// ```
///
/// Fails beyond 2^61 ns, where the square does not fit into 128 bits.
pub fn minimal_budget(
    period: Time,
    instant: Time,
    demand: Time,
) -> Result<Option<Time>, AnalysisError> {
    const MOST: Time = 1 << 61;
    for (field, value) in [("period", period), ("instant", instant), ("demand", demand)] {
        require((1..=MOST).contains(&value), "closed form", field, "from 1 to 2^61 ns", value)?;
    }
    // B = (sqrt(d^2 + 8 P I) - d)/4 is the positive root of B (2 B + d) - P I.
    let distance = i128::from(instant) - 2 * i128::from(period);
    let wanted = i128::from(period) * i128::from(demand);
    let square = (distance * distance + 8 * wanted).unsigned_abs();
    let root = i128::try_from(square.isqrt()).unwrap_or(i128::MAX);
    // The root is rounded down, so what it gives is at most 1 too small.
    let guess = ((root - distance).div_euclid(4)).max(1);
    let enough = |budget: &i128| budget * (2 * budget + distance) >= wanted;
    let budget = (guess..guess + 3).find(enough).and_then(|budget| Time::try_from(budget).ok());
    Ok(budget.filter(|budget| *budget <= period))
}

/// The least value from `least` to `most` that is good, if all above a good one are good too.
pub(crate) fn least(least: Time, most: Time, good: impl FnMut(Time) -> bool) -> Option<Time> {
    let mut good = good;
    if least > most || !good(most) {
        return None;
    }
    let (mut low, mut high) = (least, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if good(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

/// The greatest value from `least` to `most` that is good, if all below a good one are good too.
pub(crate) fn greatest(low: Time, most: Time, good: impl FnMut(Time) -> bool) -> Option<Time> {
    let mut good = good;
    let mirrored = least(0, most.checked_sub(low)?, |below| good(most - below))?;
    Some(most - mirrored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Supply;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_closed_form_is_the_least_of_the_line(
            period in 1..200u64, instant in 1..1000u64, demand in 1..300u64,
        ) {
            let enough = |budget: &Time| {
                Supply::linear(period, *budget).unwrap().provided(instant) >= demand
            };
            let found = minimal_budget(period, instant, demand).unwrap();
            prop_assert_eq!(found, (1..=period).find(enough));
        }
    }

    #[test]
    fn the_case_study_rounds_up_to_40() {
        // Ledger S2B-04: 39.37 and 34.56, in units of 1 ms.
        assert_eq!(minimal_budget(100, 200, 31), Ok(Some(40)));
        let micro = 1_000;
        let found = minimal_budget(100 * micro, 200 * micro, 31 * micro);
        assert_eq!(found, Ok(Some(39_371)));
        assert_eq!(minimal_budget(100 * micro, 400 * micro, 93 * micro).unwrap(), Some(34_558));
        assert_eq!(minimal_budget(100, 10, 11), Ok(None));
        assert!(minimal_budget(0, 1, 1).is_err() && minimal_budget(1, u64::MAX, 1).is_err());
        let most = 1 << 61;
        assert_eq!(minimal_budget(most, most, most), Ok(Some(most)));
    }

    #[test]
    fn searches_find_the_edge() {
        for edge in 0..12 {
            let found = least(1, 10, |value| value >= edge);
            assert_eq!(found, (edge <= 10).then_some(edge.max(1)));
            let found = greatest(1, 10, |value| value <= edge);
            assert_eq!(found, (edge >= 1).then_some(edge.min(10)));
        }
        assert_eq!(least(1, u64::MAX, |value| value == u64::MAX), Some(u64::MAX));
        assert_eq!(greatest(5, 4, |_| true), None);
    }
}
