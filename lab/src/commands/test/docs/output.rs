//! Compares what a command prints with what a page shows.

/// A line in the place of any lines.
const ANY: &str = "...";

/// Why an output is not the one shown; with `numbers`, any number is as good as another.
pub fn compare(shown: &[String], printed: &str, numbers: bool) -> Result<(), String> {
    let shape = |line: &str| {
        let line = line.trim_end();
        if numbers { shape(line) } else { line.to_string() }
    };
    let shown: Vec<String> = shown.iter().map(|line| shape(line)).collect();
    let printed: Vec<String> = printed.trim_end().lines().map(shape).collect();
    match differs(&shown, &printed) {
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
) -> Option<(usize, Option<&'a str>, Option<&'a str>)> {
    for at in 0..shown.len().max(printed.len()) {
        let (wanted, found) =
            (shown.get(at).map(String::as_str), printed.get(at).map(String::as_str));
        if wanted == Some(ANY) {
            let rest = &shown[at + 1..];
            let fits = (at..=printed.len()).any(|from| differs(rest, &printed[from..]).is_none());
            return if fits {
                None
            } else {
                Some((at + 1, rest.first().map(String::as_str), found))
            };
        }
        if wanted != found {
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
    use super::*;

    fn same(shown: &str, printed: &str, numbers: bool) -> bool {
        let shown: Vec<String> = shown.lines().map(str::to_string).collect();
        compare(&shown, printed, numbers).is_ok()
    }

    #[test]
    fn lines_are_compared_and_some_may_be_left_out() {
        assert!(same("a\nb", "a\nb\n", false));
        assert!(
            !same("a\nb", "a\nc\n", false)
                && !same("a", "a\nb", false)
                && !same("a\nb", "a", false)
        );
        assert!(same("a\n...\nd", "a\nb\nc\nd", false) && same("a\n...", "a", false));
        assert!(!same("a\n...\nd", "a\nb\nc", false));
        let error = compare(&["a".to_string()], "b", false).unwrap_err();
        assert_eq!(error, "line 1 of the output differs:\n  page:    a\n  program: b");
        assert!(is_partial(&["a".into(), "...".into()]) && !is_partial(&["a ...".into()]));
    }

    #[test]
    fn numbers_may_be_any() {
        assert!(same("boot: 1117076 steps", "boot: 12 steps", true));
        assert!(!same("boot: 1117076 steps", "boot: 12 steps", false));
        assert!(same("at   8.470 us 0x1f", "at 18.1 us 0x2", true));
        assert!(!same("at 8 us", "at 8 ms", true));
    }
}
