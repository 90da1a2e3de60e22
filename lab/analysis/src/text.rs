//! Times in messages.

/// A time in the greatest unit that it reaches, with all its digits, as manifests write it.
pub fn time(nanoseconds: impl Into<u128>) -> String {
    let nanoseconds = nanoseconds.into();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    let Some((unit, name)) = units.into_iter().find(|(unit, _)| nanoseconds >= *unit) else {
        return format!("{nanoseconds}ns");
    };
    let (whole, rest) = (nanoseconds / unit, nanoseconds % unit);
    let digits = unit.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    match fraction.trim_end_matches('0') {
        "" => format!("{whole}{name}"),
        fraction => format!("{whole}.{fraction}{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_keep_their_digits() {
        let times = [0u64, 999, 1_000, 1_050, 31_000_000, 31_000_001, 2_500_000_000];
        let texts = ["0ns", "999ns", "1us", "1.05us", "31ms", "31.000001ms", "2.5s"];
        assert_eq!(times.map(time), texts);
    }
}
