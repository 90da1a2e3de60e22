//! Service curves (S4-01) in integers: nanoseconds of service against nanoseconds of time, slopes
//! in millionths of the CPU.
//!
//! A curve's value is rounded down, so it is less than one nanosecond below the exact one; the
//! inverse is the first whole nanosecond at which the exact curve reaches a value.

use abi::reservation::{Curve, WHOLE};

/// In place of an instant: never.
pub const NEVER: u64 = u64::MAX;

/// Service that a curve guarantees within a time.
pub fn service(curve: &Curve, time: u64) -> u64 {
    let first = time.min(curve.bend);
    rise(first, curve.slope).saturating_add(rise(time - first, curve.rest))
}

/// What a slope amounts to in a time, rounded down.
#[inline(always)]
fn rise(time: u64, slope: u32) -> u64 {
    match time.checked_mul(u64::from(slope)) {
        Some(product) => product / u64::from(WHOLE),
        None => rise_long(time.into(), slope),
    }
}

/// The same for virtual times, which go beyond 64 bits where a slope is small.
fn rise_long(time: u128, slope: u32) -> u64 {
    clamped(time.saturating_mul(slope.into()) / u128::from(WHOLE))
}

/// The time in which a slope amounts to this much, rounded up.
#[inline(always)]
fn run(service: u64, slope: u32) -> u128 {
    if service == 0 {
        return 0;
    }
    if slope == 0 {
        return u128::MAX;
    }
    match service.checked_mul(u64::from(WHOLE)) {
        Some(product) => product.div_ceil(u64::from(slope)).into(),
        None => (u128::from(service) * u128::from(WHOLE)).div_ceil(u128::from(slope)),
    }
}

/// An instant, or [`NEVER`].
#[inline(always)]
pub fn clamped(wide: u128) -> u64 {
    u64::try_from(wide).unwrap_or(NEVER)
}

/// A curve that begins at an instant and a service (S4-03). Instants are 128 bits wide: virtual
/// time goes by up to [`WHOLE`] times as fast as time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runtime {
    x: u128,
    y: u64,
    dx: u64,
    dy: u64,
    slope: u32,
    rest: u32,
}

impl Runtime {
    /// The curve from instant `x` and service `y` on.
    pub fn new(curve: &Curve, x: u128, y: u64) -> Runtime {
        let (slope, rest) = (curve.slope, curve.rest);
        Runtime { x, y, dx: curve.bend, dy: rise(curve.bend, slope), slope, rest }
    }

    /// The service at an instant.
    pub fn service(&self, at: u128) -> u64 {
        let time = at.saturating_sub(self.x);
        if time <= self.dx.into() {
            return self.y.saturating_add(rise(time as u64, self.slope));
        }
        let bend = self.y.saturating_add(self.dy);
        bend.saturating_add(match u64::try_from(time - u128::from(self.dx)) {
            Ok(time) => rise(time, self.rest),
            Err(_) => rise_long(time - u128::from(self.dx), self.rest),
        })
    }

    /// The instant at which the service is reached. Where the curve is flat, the instant at which
    /// it begins to rise.
    #[inline(always)]
    pub fn instant(&self, service: u64) -> u128 {
        if service < self.y {
            return self.x;
        }
        let more = service - self.y;
        if self.dy > 0 && more <= self.dy {
            return self.x.saturating_add(run(more, self.slope));
        }
        let bend = self.x.saturating_add(self.dx.into());
        bend.saturating_add(run(more.saturating_sub(self.dy), self.rest))
    }

    /// Becomes the lower envelope of itself and of `curve` begun at `x` and `y` (S4-03), for the
    /// instants from `x` on.
    pub fn lower_to(&mut self, curve: &Curve, x: u128, y: u64) {
        let here = self.service(x);
        if !curve.is_concave() {
            if here >= y {
                (self.x, self.y) = (x, y);
            }
            return;
        }
        if here <= y {
            return;
        }
        let new = Runtime::new(curve, x, y);
        if self.service(x.saturating_add(curve.bend.into())) >= y.saturating_add(new.dy) {
            *self = new;
            return;
        }
        // They meet where the distance has been made up for by the difference of the slopes.
        let dx = run(here - y, curve.slope - curve.rest);
        let old = self.x.saturating_add(self.dx.into()).saturating_sub(x);
        let dx = clamped(dx.saturating_add(old));
        *self = Runtime { dx, dy: rise(dx, curve.slope), ..new };
    }

    /// Another curve in its place, from an instant on, at which a service has been reached: what
    /// this one has brought by then and was not served, or was served too early, stays so. The new
    /// one rises above its second slope by no more than both have left to.
    pub fn continued_as(&self, curve: &Curve, x: u128, served: u64) -> Runtime {
        let brought = self.eligible().service(x);
        let y = served.min(brought);
        let new = Runtime::new(curve, x, y);
        if !curve.is_concave() {
            return new;
        }
        let time = clamped(self.x.saturating_add(self.dx.into()).saturating_sub(x));
        let ahead = rise(time, self.slope.saturating_sub(self.rest));
        let left = self.service(x).saturating_sub(y).saturating_add(ahead);
        let steeper = u128::from(curve.slope - curve.rest);
        let dx = clamped(u128::from(left) * u128::from(WHOLE) / steeper).min(curve.bend);
        Runtime { dx, dy: rise(dx, curve.slope), ..new }
    }

    /// The same curve from another instant on.
    pub fn moved_to(self, x: u128) -> Runtime {
        Runtime { x, ..self }
    }

    /// The curve of eligible instants for a deadline curve (S4-03): itself if it is concave, else
    /// the line of its second slope from its origin.
    pub fn eligible(&self) -> Runtime {
        if self.slope > self.rest { *self } else { Runtime { dx: 0, dy: 0, ..*self } }
    }
}

/// Whether curves together stay below another one: at each bend and in the last slope (S4-02).
/// The number of steps is the square of the number of curves.
pub fn fits<'a>(curves: impl Iterator<Item = &'a Curve> + Clone, within: &Curve) -> bool {
    let sum_at = |time: u64| curves.clone().map(|c| u128::from(service(c, time))).sum::<u128>();
    let below = |time: u64| sum_at(time) <= u128::from(service(within, time));
    let last = curves.clone().map(|curve| u64::from(curve.rest)).sum::<u64>();
    let bends = curves.clone().map(|curve| curve.bend).chain([within.bend]);
    last <= u64::from(within.rest) && bends.into_iter().all(below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn curve() -> impl Strategy<Value = Curve> {
        (0u32..=WHOLE, 0u64..10_000_000, 1u32..=WHOLE).prop_map(|(slope, bend, rest)| Curve {
            slope,
            bend,
            rest,
        })
    }

    proptest! {
        /// Against exact fractions.
        #[test]
        fn rounding_is_below_one_nanosecond(curve in curve(), time in 0u64..1 << 45) {
            let first = u128::from(time.min(curve.bend));
            let rest = u128::from(time) - first;
            let exact = first * u128::from(curve.slope) + rest * u128::from(curve.rest);
            let exact = exact as f64 / f64::from(WHOLE);
            prop_assert!((exact - service(&curve, time) as f64).abs() < 2.01);
        }

        #[test]
        fn the_inverse_is_the_first_instant(
            curve in curve(), x in 0u64..1 << 40, y in 0u64..1 << 40, more in 1u64..1 << 40,
        ) {
            let runtime = Runtime::new(&curve, x.into(), y);
            let at = runtime.instant(y + more);
            prop_assert!(runtime.service(at) + 1 >= y + more);
            prop_assert!(at == u128::from(x) || runtime.service(at - 1) < y + more);
        }

        /// The lower envelope is nowhere above either curve, but for rounding, and where both are
        /// convex or concave alike it is one of them at each instant.
        #[test]
        fn the_envelope_is_below_both(
            curve in curve(), gap in 0u64..20_000_000, lag in 0u64..20_000_000,
            later in 0u64..40_000_000,
        ) {
            let (x, y) = (u128::from(gap), lag.min(service(&curve, gap)));
            let old = Runtime::new(&curve, 0, 0);
            let new = Runtime::new(&curve, x, y);
            let mut both = old;
            both.lower_to(&curve, x, y);
            let at = x + u128::from(later);
            let (low, envelope) = (old.service(at).min(new.service(at)), both.service(at));
            if curve.is_concave() {
                prop_assert!(envelope.abs_diff(low) <= 3, "{envelope} {low}");
            } else {
                prop_assert!(envelope <= old.service(at).max(new.service(at)) + 3);
            }
        }
    }

    proptest! {
        /// Set again, a concave curve goes on, but for rounding. Another one rises by no more above
        /// its rest than the first one would have.
        #[test]
        fn a_curve_goes_on(
            curve in curve(), other in curve(), x in 0u64..20_000_000, later in 0u64..40_000_000,
        ) {
            let old = Runtime::new(&curve, 0, 0);
            let (x, at) = (u128::from(x), u128::from(x + later));
            let served = old.service(x);
            if curve.is_concave() {
                let same = old.continued_as(&curve, x, served);
                prop_assert!(same.service(at).abs_diff(old.service(at)) <= 3);
            }
            let next = old.continued_as(&other, x, served);
            // Of the old one there is no more than this above its rest, whenever.
            let end = x.max(curve.bend.into());
            let had = old.service(end).saturating_sub(rise((end - x) as u64, curve.rest));
            if other.is_concave() {
                let above = next.service(at).saturating_sub(rise(later, other.rest));
                prop_assert!(above <= had.max(served) + 3, "{next:?} {old:?}");
            }
        }
    }

    #[test]
    fn sums_are_compared_at_every_bend() {
        let whole = Curve::linear(WHOLE);
        let early = Curve { slope: 900_000, bend: 10_000_000, rest: 100_000 };
        let late = Curve { slope: 100_000, bend: 10_000_000, rest: 900_000 };
        assert!(fits([early, late].iter(), &whole));
        assert!(!fits([early, early].iter(), &whole));
        assert!(!fits([late, late].iter(), &whole));
        assert!(fits([].iter(), &Curve::linear(1)));
    }

    #[test]
    fn extremes_saturate() {
        let end = u128::MAX;
        let steep = Runtime::new(&Curve { slope: WHOLE, bend: NEVER, rest: 1 }, end, NEVER);
        assert_eq!((steep.service(end), steep.instant(NEVER)), (NEVER, end));
        let flat = Runtime::new(&Curve { slope: 0, bend: 5, rest: 0 }, 7, 3);
        assert_eq!((flat.instant(3), flat.instant(4)), (12, end));
    }
}
