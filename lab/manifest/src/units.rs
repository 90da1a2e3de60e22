//! Sizes such as `256M` and durations such as `10ms`.

const SIZES: [(&str, u64); 3] = [("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];
const DURATIONS: [(&str, u64); 3] = [("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Bytes in a size.
pub(crate) fn size(text: &str) -> Option<u64> {
    quantity(text, &SIZES)
}

/// Nanoseconds in a duration.
pub(crate) fn duration(text: &str) -> Option<u64> {
    quantity(text, &DURATIONS)
}

fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|char: char| !char.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
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
    let fits = |(_, factor): &&(&str, u64)| nanoseconds.is_multiple_of(*factor);
    match DURATIONS.iter().rev().find(fits) {
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
    fn spelling_is_the_inverse() {
        for text in ["4K", "12K", "1M", "3M", "2G"] {
            assert_eq!(spell_size(size(text).unwrap()), text);
        }
        for text in ["1us", "250us", "1ms", "1500us", "3s"] {
            assert_eq!(spell_duration(duration(text).unwrap()), text);
        }
    }
}
