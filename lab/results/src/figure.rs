//! A count, or the midpoint of two counts: exact where a float would round.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Integers up to here, and halves up to half of it, are exact as floats.
const EXACT: u64 = 1 << 53;

/// A non-negative integer or half-integer, such as a median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Figure {
    whole: u64,
    half: bool,
}

impl Figure {
    /// The midpoint of two counts.
    pub fn between(a: u64, b: u64) -> Figure {
        let (low, gap) = (a.min(b), a.abs_diff(b));
        Figure { whole: low + gap / 2, half: gap % 2 == 1 }
    }

    /// The sum; saturates.
    pub fn plus(self, other: Figure) -> Figure {
        let carry = u64::from(self.half && other.half);
        Figure {
            whole: self.whole.saturating_add(other.whole).saturating_add(carry),
            half: self.half != other.half,
        }
    }

    /// The nearest float.
    pub fn as_f64(self) -> f64 {
        self.whole as f64 + if self.half { 0.5 } else { 0.0 }
    }

    /// The figure as people read it: `12,345.5`.
    pub fn grouped(self) -> String {
        grouped(self.whole) + if self.half { ".5" } else { "" }
    }
}

impl From<u64> for Figure {
    fn from(whole: u64) -> Figure {
        Figure { whole, half: false }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.whole, if self.half { ".5" } else { "" })
    }
}

impl Serialize for Figure {
    /// As an integer where it is one. A half too large for a float is dropped.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.half && self.whole < EXACT / 2 {
            serializer.serialize_f64(self.as_f64())
        } else {
            serializer.serialize_u64(self.whole)
        }
    }
}

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Figure, D::Error> {
        deserializer.deserialize_any(FigureVisitor)
    }
}

struct FigureVisitor;

impl Visitor<'_> for FigureVisitor {
    type Value = Figure;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a count of 0 or more, whole or ending in .5")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Figure, E> {
        Ok(Figure::from(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Figure, E> {
        match u64::try_from(value) {
            Ok(whole) => Ok(Figure::from(whole)),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Figure, E> {
        let doubled = value * 2.0;
        // In this range the conversion below is exact.
        if doubled.fract() == 0.0 && (0.0..EXACT as f64).contains(&doubled) {
            let doubled = doubled as u64;
            Ok(Figure { whole: doubled / 2, half: doubled % 2 == 1 })
        } else {
            Err(E::invalid_value(Unexpected::Float(value), &self))
        }
    }
}

/// An integer with its thousands apart.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with so many significant digits, and at least those before its point.
pub fn rounded(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let leading = value.abs().log10().floor() as i32;
    let decimals = digits - 1 - leading;
    if !(-6..=15).contains(&leading) {
        return format!("{value:.*e}", digits as usize - 1);
    }
    if decimals > 0 {
        return format!("{value:.*}", decimals as usize);
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", Figure::from(value.abs().round() as u64).grouped())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn midpoints_are_exact_at_the_edges() {
        assert_eq!(Figure::between(3, 4).to_string(), "3.5");
        assert_eq!(Figure::between(u64::MAX, u64::MAX).to_string(), u64::MAX.to_string());
        assert_eq!(
            Figure::between(u64::MAX, u64::MAX - 1).to_string(),
            format!("{}.5", u64::MAX - 1)
        );
        assert_eq!(Figure::between(0, u64::MAX).to_string(), format!("{}.5", u64::MAX / 2));
    }

    #[test]
    fn sums_carry_and_saturate() {
        let half = Figure::between(0, 1);
        assert_eq!(half.plus(half), Figure::from(1));
        assert_eq!(half.plus(Figure::from(2)).to_string(), "2.5");
        assert_eq!(Figure::from(u64::MAX).plus(Figure::from(1)), Figure::from(u64::MAX));
    }

    #[test]
    fn reads_what_it_writes_and_refuses_the_rest() {
        for figure in [Figure::from(0), Figure::from(u64::MAX), Figure::between(184, 185)] {
            let json = serde_json::to_string(&figure).unwrap();
            assert_eq!(json, figure.to_string());
            assert_eq!(serde_json::from_str::<Figure>(&json).unwrap(), figure);
        }
        assert_eq!(serde_json::from_str::<Figure>("7.0").unwrap(), Figure::from(7));
        for bad in ["-1", "-0.5", "0.25", "1e300", "\"7\""] {
            assert!(serde_json::from_str::<Figure>(bad).is_err(), "{bad} was accepted");
        }
    }

    #[test]
    fn groups_thousands() {
        let texts = [0, 999, 1000, 1_234_567].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn figures_have_no_spurious_digits() {
        for (value, digits, shown) in [
            (358.0, 4, "358.0"),
            (4000.0, 4, "4,000"),
            (123_456.7, 4, "123,457"),
            (0.012345, 3, "0.0123"),
            (-2.5, 3, "-2.50"),
            (-1234.0, 3, "-1,234"),
            (1e-9, 3, "1.00e-9"),
            (0.0, 3, "0"),
        ] {
            assert_eq!(rounded(value, digits), shown);
        }
    }
}
