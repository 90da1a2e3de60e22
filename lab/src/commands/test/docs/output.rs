//! Compares what a command prints with what a page shows.

use super::measured;

/// A line in the place of any lines.
const ANY: &str = "...";

/// Which numbers of an output may be others than the page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// None.
    Exact,
    /// Those that look measured, by some percent: see [`measured`].
    Measured,
    /// All, by anything.
    Any,
}

/// Why an output is not the one shown.
pub fn compare(shown: &[String], printed: &str, numbers: Numbers) -> Result<(), String> {
    let line = |line: &str| match numbers {
        Numbers::Any => shape(line.trim_end()),
        _ => line.trim_end().to_string(),
    };
    let shown: Vec<String> = shown.iter().map(|shown| line(shown)).collect();
    let printed: Vec<String> = printed.trim_end().lines().map(line).collect();
    let same =
        if numbers == Numbers::Measured { measured::same } else { |a: &str, b: &str| a == b };
    match differs(&shown, &printed, same) {
        None => Ok(()),
        Some((line, wanted, found)) => Err(format!(
            "line {line} of the output differs:\n  page:    {}\n  program: {}",
            wanted.unwrap_or("(its end)"),
            found.unwrap_or("(its end)")
        )),
    }
}

/// Whether some lines of a page stand for others, so that these cannot be filled in.
pub fn is_partial(shown: &[String]) -> bool {
    shown.iter().any(|line| line.trim() == ANY)
}

/// The first line that differs.
fn differs<'a>(
    shown: &'a [String],
    printed: &'a [String],
    same: fn(&str, &str) -> bool,
) -> Option<(usize, Option<&'a str>, Option<&'a str>)> {
    for at in 0..shown.len().max(printed.len()) {
        let (wanted, found) =
            (shown.get(at).map(String::as_str), printed.get(at).map(String::as_str));
        if wanted == Some(ANY) {
            let rest = &shown[at + 1..];
            let fits =
                (at..=printed.len()).any(|from| differs(rest, &printed[from..], same).is_none());
            return if fits {
                None
            } else {
                Some((at + 1, rest.first().map(String::as_str), found))
            };
        }
        if !wanted.zip(found).is_some_and(|(wanted, found)| same(wanted, found)) {
            return Some((at + 1, wanted, found));
        }
    }
    None
}

/// A line with each number as `#`, however many blanks stand in front of it.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        if !c.is_ascii_digit() {
            shape.push(c);
            continue;
        }
        let part = |c: &char| c.is_ascii_hexdigit() || matches!(c, '.' | ',' | 'x');
        while rest.next_if(part).is_some() {}
        shape.truncate(shape.trim_end_matches(' ').len());
        shape.push('#');
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::Numbers::{Any, Exact, Measured};
    use super::*;

    fn same(shown: &str, printed: &str, numbers: Numbers) -> bool {
        let shown: Vec<String> = shown.lines().map(str::to_string).collect();
        compare(&shown, printed, numbers).is_ok()
    }

    #[test]
    fn lines_are_compared_and_some_may_be_left_out() {
        assert!(same("a\nb", "a\nb\n", Exact));
        assert!(
            !same("a\nb", "a\nc\n", Exact)
                && !same("a", "a\nb", Exact)
                && !same("a\nb", "a", Exact)
        );
        assert!(same("a\n...\nd", "a\nb\nc\nd", Exact) && same("a\n...", "a", Exact));
        assert!(!same("a\n...\nd", "a\nb\nc", Exact));
        let error = compare(&["a".to_string()], "b", Exact).unwrap_err();
        assert_eq!(error, "line 1 of the output differs:\n  page:    a\n  program: b");
        assert!(is_partial(&["a".into(), "...".into()]) && !is_partial(&["a ...".into()]));
    }

    #[test]
    fn numbers_may_be_any() {
        assert!(same("boot: 1117076 steps", "boot: 12 steps", Any));
        assert!(!same("boot: 1117076 steps", "boot: 12 steps", Exact));
        assert!(same("at   8.470 us 0x1f", "at 18.1 us 0x2", Any));
        assert!(!same("at 8 us", "at 8 ms", Any));
    }

    #[test]
    fn measured_numbers_may_be_near() {
        let page = "boot: 1117076 steps\n...\nit is 3";
        assert!(same(page, "boot: 1117082 steps\nsaid\nit is 3", Measured));
        assert!(!same(page, "boot: 1117082 steps\nsaid\nit is 3", Exact));
        assert!(!same(page, "boot: 1217076 steps\nsaid\nit is 3", Measured));
        assert!(!same(page, "boot: 1117082 steps\nsaid\nit is 4", Measured));
        assert!(!same("a\nb", "a", Measured) && !same("a", "a\nb", Measured));
    }
}
