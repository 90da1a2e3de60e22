//! Whether a workload exceeds its supply in the long run, and if it takes exactly all of it, after
//! which time everything repeats.

use crate::Time;
use crate::supply::Supply;
use crate::task::{Reservation, Stream, Work};

/// Demand against supply in the long run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongRun {
    /// Demand exceeds supply: it falls behind without end.
    Exceeds,
    /// Demand is exactly the supply, and repeats after this time in ns.
    Repeats(Time),
    /// Demand is below the supply, or too near to tell.
    Below,
}

/// Compares the long-run demand of streams and reservations with a supply.
pub fn long_run(streams: &[Stream], reserved: &[Reservation], supply: &Supply) -> LongRun {
    let (period, budget) = supply.cycle();
    let reserved = reserved.iter().map(|reservation| (reservation.budget, reservation.period));
    let parts = streams.iter().map(|stream| (stream.cost, stream.period)).chain(reserved);
    let parts: Vec<(Time, Time)> = parts.filter(|(cost, _)| *cost > 0).collect();
    if let Some(order) = exactly(&parts, period, budget) {
        return match order {
            (std::cmp::Ordering::Greater, _) => LongRun::Exceeds,
            (std::cmp::Ordering::Equal, common) => LongRun::Repeats(common),
            (std::cmp::Ordering::Less, _) => LongRun::Below,
        };
    }
    // 63 binary digits after the point: at least the demand's share, at most the supply's.
    let floor = |(part, whole): (Time, Time)| (Work::from(part) << 63) / Work::from(whole);
    let demand = parts.into_iter().map(floor).fold(0, Work::saturating_add);
    if demand > floor((budget, period)) { LongRun::Exceeds } else { LongRun::Below }
}

/// Compares by the common multiple of all periods, if that is a time.
fn exactly(
    parts: &[(Time, Time)],
    period: Time,
    budget: Time,
) -> Option<(std::cmp::Ordering, Time)> {
    let common = parts.iter().try_fold(period, |common, (_, period)| lcm(common, *period))?;
    let in_common = |(part, whole): (Time, Time)| Work::from(part) * Work::from(common / whole);
    let demand = parts.iter().copied().map(in_common).fold(0, Work::saturating_add);
    Some((demand.cmp(&in_common((budget, period))), common))
}

fn lcm(a: Time, b: Time) -> Option<Time> {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parts: &[(Time, Time)], supply: &Supply) -> LongRun {
        let stream =
            |(cost, period): &(Time, Time)| Stream { cost: *cost, period: *period, jitter: 0 };
        long_run(&parts.iter().map(stream).collect::<Vec<_>>(), &[], supply)
    }

    #[test]
    fn shares_are_compared_exactly() {
        let whole = Supply::whole();
        assert_eq!(of(&[(1, 2), (1, 3), (1, 6)], &whole), LongRun::Repeats(6));
        assert_eq!(of(&[(1, 2), (1, 3), (1, 7)], &whole), LongRun::Below);
        assert_eq!(of(&[(1, 2), (1, 3), (1, 5)], &whole), LongRun::Exceeds);
        let third = Supply::periodic(9, 3).unwrap();
        assert_eq!(of(&[(2, 6)], &third), LongRun::Repeats(18));
        let reservation = Reservation { budget: 1, period: 3 };
        assert_eq!(long_run(&[], &[reservation; 3], &whole), LongRun::Repeats(3));
    }

    #[test]
    fn shares_without_a_common_multiple_are_compared_too() {
        let primes = [18_446_744_073_709_551_557, 18_446_744_073_709_551_533];
        let whole = Supply::whole();
        let with = |part: Time| of(&[(part, primes[0]), (primes[1] / 2, primes[1])], &whole);
        assert_eq!(with(primes[0] / 2), LongRun::Below);
        assert_eq!(with(primes[0] / 2 + 10), LongRun::Exceeds);
        assert_eq!(of(&[(u64::MAX, 1); 3], &whole), LongRun::Exceeds);
    }
}
