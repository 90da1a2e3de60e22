//! Quantities with units, such as `256M`, `10ms` and `2GHz`: the one place that reads them.
#![forbid(unsafe_code)]

use std::str::FromStr;

/// A unit, and how many of their base it is.
pub type Unit = (&'static str, u64);

const SIZES: [Unit; 3] = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];
/// Nanoseconds in units of time, the shortest first.
pub const NANOSECONDS: [Unit; 4] =
    [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
/// Hertz in units without regard to case; a bare number is in hertz.
pub const HERTZ: [Unit; 5] =
    [("ghz", 1_000_000_000), ("mhz", 1_000_000), ("khz", 1_000), ("hz", 1), ("", 1)];

/// A number, whole or not, with one of these units behind it, as a multiple of their base: zero
/// or more. The unit `""` stands for none.
pub fn scaled(text: &str, units: &[Unit]) -> Option<f64> {
    let (number, factor) = split::<f64>(text.trim(), units)?;
    Some(number * factor as f64).filter(|value| value.is_finite() && *value >= 0.0)
}

/// The same of a whole number: exactly, without signs and spaces.
pub fn whole(text: &str, units: &[Unit]) -> Option<u64> {
    let is_plain = text.chars().all(|char| char.is_ascii_alphanumeric());
    let (number, factor) = split::<u64>(text, units).filter(|_| is_plain)?;
    number.checked_mul(factor)
}

/// The number in front of the first unit that leaves one, and the unit's factor.
fn split<N: FromStr>(text: &str, units: &[Unit]) -> Option<(N, u64)> {
    units.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        Some((number, *factor))
    })
}

/// Bytes in a size.
pub fn size(text: &str) -> Option<u64> {
    whole(text, &SIZES)
}

/// Nanoseconds in a duration of manifests, which are microseconds at least.
pub fn duration(text: &str) -> Option<u64> {
    whole(text, &NANOSECONDS[1..])
}

/// A part of a CPU in millionths, written in percent with four digits behind the point at most.
pub fn percent(text: &str) -> Option<u32> {
    let number = text.strip_suffix('%')?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_plain(whole) || !is_plain(fraction) || fraction.len() > 4 {
        return None;
    }
    let fraction: u32 = format!("{fraction:0<4}").parse().ok()?;
    whole.parse::<u32>().ok()?.checked_mul(10_000)?.checked_add(fraction)
}

/// A part of a CPU as manifests write it.
pub fn spell_percent(millionths: u64) -> String {
    let fraction = format!("{:04}", millionths % 10_000);
    match fraction.trim_end_matches('0') {
        "" => format!("{}%", millionths / 10_000),
        fraction => format!("{}.{fraction}%", millionths / 10_000),
    }
}

/// A part of a CPU, of [`abi::bandwidth::CPU`], as manifests write it, rounded down.
pub fn spell_part(parts: u64) -> String {
    spell_percent(abi::bandwidth::to_millionths(parts))
}

/// The same of what may have been rounded: up.
pub fn spell_part_up(parts: u64) -> String {
    let least = parts.checked_sub(1);
    spell_percent(least.map_or(0, |parts| abi::bandwidth::to_millionths(parts) + 1))
}

/// A size as manifests write it, exact where a unit fits and else rounded up to a `K`.
pub fn spell_size(bytes: u64) -> String {
    match SIZES.iter().find(|(_, factor)| bytes > 0 && bytes.is_multiple_of(*factor)) {
        Some((unit, factor)) => format!("{}{unit}", bytes / factor),
        None => format!("{}K", bytes.div_ceil(1 << 10)),
    }
}

/// A duration as manifests write it, exact to the microsecond.
pub fn spell_duration(nanoseconds: u64) -> String {
    let fits = |(_, factor): &&Unit| nanoseconds.is_multiple_of(*factor);
    match NANOSECONDS[1..].iter().rev().find(fits) {
        Some((unit, factor)) if nanoseconds > 0 => format!("{}{unit}", nanoseconds / factor),
        _ => format!("{}us", nanoseconds / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_need_a_unit_and_no_overflow() {
        assert_eq!(size("16K"), Some(16 << 10));
        assert_eq!(size("3G"), Some(3 << 30));
        for wrong in ["", "16", "K", "-1K", "1.5M", "1 K", "1k", "99999999999999999999G"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
        assert_eq!(size("17179869184G"), None, "overflow");
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("10ms"), Some(10_000_000));
        assert_eq!(duration("2s"), Some(2_000_000_000));
        assert_eq!(duration("7us"), Some(7_000));
        assert_eq!(duration("7ns"), None);
    }

    #[test]
    fn command_lines_may_have_fractions_and_spaces() {
        assert_eq!(scaled("1.5ms", &NANOSECONDS), Some(1_500_000.0));
        assert_eq!(scaled("2 us", &NANOSECONDS), Some(2_000.0));
        assert_eq!(scaled("2.5ghz", &HERTZ), Some(2.5e9));
        assert_eq!(scaled("4e3", &HERTZ), Some(4000.0));
        for wrong in ["", "us", "-3us", "nan", "inf", "1e999s", "3 weeks", "7"] {
            assert_eq!(scaled(wrong, &NANOSECONDS), None, "{wrong}");
        }
    }

    #[test]
    fn percents_are_exact() {
        for text in ["0%", "0.0001%", "12.5%", "100%"] {
            assert_eq!(spell_percent(percent(text).unwrap().into()), text);
        }
        for wrong in ["", "5", "%", ".5%", "1.%", "-1%", "1.00001%", "1 %", "999999999%"] {
            assert_eq!(percent(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn spelling_is_the_inverse() {
        for text in ["4K", "12K", "1M", "3M", "2G"] {
            assert_eq!(spell_size(size(text).unwrap()), text);
        }
        for text in ["1us", "250us", "1ms", "1500us", "3s"] {
            assert_eq!(spell_duration(duration(text).unwrap()), text);
        }
    }
}
