//! Numbers that a counter has measured, told by how they look: a change of a few instructions in
//! the kernel changes them, and nothing that a page says of them.
//!
//! A number of five digits or more is taken for measured; zeros in front, a point and commas do
//! not count. It may differ by 2 %, and by how many blanks stand in front. All else is exact:
//! counts and settings have fewer digits or end in three zeros, and what letters stand in front of,
//! as in `0x202917`, or what has two points, as in `1.95.10000`, is a name.

/// Digits that a measured number has at least.
const DIGITS: usize = 5;
/// By how much it may differ.
const PERCENT: f64 = 2.0;
/// The end of a number that has been chosen.
const CHOSEN: &str = "000";

/// Whether a line of output is the one shown, but for what is measured.
pub fn same(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (pieces(shown), pieces(printed));
    shown.len() == printed.len()
        && shown.iter().zip(&printed).all(|((text, number), (its_text, its_number))| {
            let (text_end, its_end) = (text.trim_end(), its_text.trim_end());
            text == its_text && number == its_number
                || text_end == its_end && near(number, its_number)
        })
}

/// Texts with the number behind each, which is empty at the end of the line.
fn pieces(line: &str) -> Vec<(&str, &str)> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(begin) = line[at..].find(|c: char| c.is_ascii_digit()).map(|found| at + found) {
        at = begin + length(&line[begin..]);
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if line[..begin].ends_with(is_name) || line[begin..at].matches('.').count() > 1 {
            continue;
        }
        pieces.push((&line[from..begin], &line[begin..at]));
        from = at;
    }
    pieces.push((&line[from..], ""));
    pieces
}

/// How many bytes at the beginning are a number: a point or comma is in it before a digit only.
pub(super) fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_part = |at: &usize| {
        is_digit(*at) || matches!(bytes.get(*at), Some(b'.' | b',')) && is_digit(at + 1)
    };
    (0..).take_while(is_part).count()
}

/// Whether the number shown looks measured, and the other is about as large.
fn near(shown: &str, printed: &str) -> bool {
    let plain = |number: &str| number.replace(',', "");
    let (shown, printed) = (plain(shown), plain(printed));
    let digits = shown.replace('.', "").trim_start_matches('0').len();
    let is_measured = digits >= DIGITS && (shown.contains('.') || !shown.ends_with(CHOSEN));
    let values = shown.parse::<f64>().ok().zip(printed.parse::<f64>().ok());
    is_measured && values.is_some_and(|(a, b)| (a - b).abs() <= a * PERCENT / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_may_differ_a_little() {
        assert!(same("boot: 2117304 steps", "boot: 2117309 steps"));
        assert!(same("boot: 2117304 steps", "boot: 2159000 steps"), "2 %");
        assert!(!same("boot: 2117304 steps", "boot: 2160000 steps"));
        assert!(!same("boot: 2117304 steps", "boot: 2074000 steps"));
        assert!(!same("boot: 2117304 steps", "boot: 2117304 ticks"));
        assert!(same("     0.000110441 info", "     0.000110446 info"));
        assert!(same("(10.001 us)", "(9.996 us)"), "with another number of digits");
        assert!(same(" idle        997,500", " idle      1,002,012"), "so blanks differ");
        assert!(same("12712us, 3 jobs", "12713us, 3 jobs"), "a unit is text");
    }

    #[test]
    fn all_else_is_exact() {
        assert!(!same("9999 jobs", "9998 jobs") && !same("0.09999", "0.09998"), "four digits");
        assert!(!same("12712 us, 3 jobs", "12712 us, 4 jobs"));
        assert!(!same("at most 29000: held", "at most 29001: held"), "a setting");
        assert!(same("takes 29000.5", "takes 29001.5"));
        assert!(!same("in 0x202917", "in 0x202918") && !same("p12345", "p12346"), "names");
        assert!(!same("1.95.10000", "1.95.10001"));
        assert!(!same("12345", "123456") && !same("12345", "") && !same("12345", "12345 6"));
        assert!(!same("1 12345", "1  12345 "), "at the end");
        assert!(!same("a 7", "a  7") && !same("12345 b", "12345  b"), "blanks elsewhere");
        assert!(same("", "") && same("1.", "1.") && !same("1.", "1"));
        assert!(same("\u{b5}s 12345", "\u{b5}s 12346"));
    }
}
