//! Figures in sentences: one that looks measured is the recorded one that the comment right behind
//! it names, `101<!-- ping-pong: fastpath call across words=0 -->`, or says why none is recorded,
//! `101<!-- by hand: of one host -->`. Keys are those of `figures.rs`.
//!
//! A number looks measured if it counts instructions, or has a comma and is not round: no two zeros
//! at its end, and no power of two or one less. So does one with a fraction, but versions and
//! numbers of figures, and a whole one of ten or more in front of another unit, but multiples of
//! five, powers of two and one less. For these a comment in a line of its own right above their
//! paragraph may say why none is recorded. A table with a note of its own is judged by that.

use super::figures::Records;
use super::measured::length;
use super::page::{Piece, Table};
use std::collections::BTreeSet;
use std::ops::Range;

/// What figures count that no page chooses.
const UNIT: &str = "instructions";
/// Units of figures of which pages choose some.
const UNITS: [&str; 16] = [
    "%", "percent", "points", "times", "ns", "us", "ms", "s", "seconds", "minutes", "ticks",
    "cycles", "units", "bytes", "KiB", "lines",
];
/// What a comment begins with that names no figure.
const BY_HAND: &str = "by hand: ";

/// A number in a sentence.
#[derive(Debug, PartialEq, Eq)]
struct Number<'a> {
    /// Where its line has it.
    at: Range<usize>,
    text: &'a str,
    /// What the comment behind it says.
    mark: Option<&'a str>,
    looks: Looks,
}

/// Whether a number looks measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looks {
    Chosen,
    /// In a unit of which pages choose figures, too.
    Likely,
    Measured,
}

/// A line of sentences.
struct Line<'a> {
    /// Counted from 1.
    number: usize,
    text: &'a str,
    /// The comment above its paragraph says why figures that are likely measured are not recorded.
    is_explained: bool,
}

/// What is wrong with the figures in sentences of a page, with their lines.
pub fn complaints(text: &str, pieces: &[Piece], records: &Records) -> Vec<(usize, String)> {
    let lines = sentences(text, pieces);
    let each = lines.iter().enumerate().flat_map(|(at, line)| {
        let next = lines.get(at + 1).map_or("", |next| next.text);
        let wrong = numbers(line.text, next)
            .into_iter()
            .filter_map(|it| complaint(&it, line.is_explained, records));
        wrong.map(|why| (line.number, why)).collect::<Vec<_>>()
    });
    each.collect()
}

/// A line with its figures as they are recorded.
pub fn updated(line: &str, records: &Records) -> String {
    let mut line = line.to_string();
    let all = numbers(&line, "");
    let new = all
        .iter()
        .rev()
        .filter_map(|number| Some((number.at.clone(), recorded(number.mark?, records)?)));
    for (at, text) in new.collect::<Vec<_>>() {
        line.replace_range(at, &text);
    }
    line
}

/// The lines of sentences: no blocks, no comments in lines of their own, and no tables that have a
/// note.
fn sentences<'a>(text: &'a str, pieces: &[Piece]) -> Vec<Line<'a>> {
    let mut judged = BTreeSet::new();
    for piece in pieces {
        match piece {
            Piece::Block(block) => judged.extend(block.line..=block.line + block.body.len() + 1),
            Piece::Table(table) if is_judged(table) => {
                judged.extend(table.line..table.line + 2 + table.rows.len());
            }
            Piece::Table(_) => {}
        }
    }
    let (mut is_comment, mut is_explained) = (false, false);
    let mut all = Vec::new();
    for (number, text) in (1..).zip(text.lines()).filter(|(number, _)| !judged.contains(number)) {
        is_comment |= text.starts_with("<!--");
        if is_comment {
            is_explained |= text.strip_prefix("<!-- ").is_some_and(is_by_hand);
            is_comment = !text.ends_with("-->");
            continue;
        }
        is_explained &= !text.trim().is_empty();
        all.push(Line { number, text, is_explained });
    }
    all
}

/// Whether a comment says why no figure is recorded.
fn is_by_hand(comment: &str) -> bool {
    let reason = comment.strip_prefix(BY_HAND).map(|reason| reason.trim_end_matches("-->"));
    reason.is_some_and(|reason| !reason.trim().is_empty())
}

fn is_judged(table: &Table) -> bool {
    table.note.get("figures").or(table.note.get("by hand")).is_some()
}

/// The numbers of a line outside of backticks, with what stands behind them, on the next line too.
fn numbers<'a>(line: &'a str, next: &str) -> Vec<Number<'a>> {
    let (mut all, mut from, mut is_code) = (Vec::new(), 0, false);
    while let Some(found) = line[from..].find(|c: char| c.is_ascii_digit() || c == '`' || c == '<')
    {
        let begin = from + found;
        let rest = &line[begin..];
        let comment = rest.strip_prefix("<!--").and_then(|inner| inner.find("-->"));
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            is_code ^= rest.starts_with('`');
            from = begin + comment.map_or(1, |end| end + "<!---->".len());
            continue;
        }
        let end = begin + length(rest);
        from = end;
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '^');
        if is_code || line[..begin].ends_with(is_name) {
            continue;
        }
        let behind = line[end..].strip_prefix("<!--").and_then(|it| it.split_once("-->"));
        let (mark, behind) =
            behind.map_or((None, &line[end..]), |(mark, it)| (Some(mark.trim()), it));
        let behind = if behind.trim().is_empty() { next } else { behind };
        let looks = looks(&line[..begin], &line[begin..end], behind);
        all.push(Number { at: begin..end, text: &line[begin..end], mark, looks });
    }
    all
}

/// How a number looks between what stands in front of it and behind it.
fn looks(before: &str, text: &str, behind: &str) -> Looks {
    let unit = behind.trim_start();
    let is_unit = |name: &&str| {
        let rest = unit.strip_prefix(*name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    };
    // As in `Figure 5.2` and `16.0-dev`.
    let word = before.split_whitespace().next_back().unwrap_or_default();
    let is_name = word.contains(|c: char| c.is_ascii_uppercase()) || behind.starts_with('-');
    match UNITS.iter().any(is_unit) {
        _ if unit.starts_with(UNIT) || is_measured(text) => Looks::Measured,
        true if !is_round(text) => Looks::Likely,
        false if text.matches('.').count() == 1 && !is_name => Looks::Likely,
        _ => Looks::Chosen,
    }
}

fn complaint(number: &Number, is_explained: bool, records: &Records) -> Option<String> {
    let text = number.text;
    match number.mark {
        None if number.looks == Looks::Measured
            || number.looks == Looks::Likely && !is_explained =>
        {
            Some(format!(
                "{text} looks measured: name the recorded figure in a comment right behind it, or \
                 why there is none, `<!-- by hand: REASON -->`"
            ))
        }
        None => None,
        Some(mark) if is_by_hand(mark) => None,
        Some(mark) => match recorded(mark, records) {
            None => Some(format!("there is no figure `{mark}`")),
            Some(recorded) if recorded == text => None,
            Some(recorded) => Some(format!("{mark}: it says {text}, recorded is {recorded}")),
        },
    }
}

/// The figure that a comment names.
fn recorded(mark: &str, records: &Records) -> Option<String> {
    let (experiment, key) = mark.split_once(": ")?;
    let shown = records.shown(experiment, key)?;
    Some(shown.trim_end_matches(" %").to_string())
}

/// Whether a page is likely to have chosen a number: a whole one below ten, a multiple of five, a
/// power of two or one less.
fn is_round(text: &str) -> bool {
    let is_chosen = |value: u64| {
        let power = value.is_power_of_two() || (value + 1).is_power_of_two();
        value < 10 || value.is_multiple_of(5) || power
    };
    text.replace(',', "").parse::<u64>().is_ok_and(is_chosen)
}

/// Whether a whole number with commas is not round.
fn is_measured(text: &str) -> bool {
    let value = text.contains(',').then(|| text.replace(',', "").parse::<u64>().ok()).flatten();
    let is_chosen = |value: u64| {
        value.is_multiple_of(100) || value.is_power_of_two() || (value + 1).is_power_of_two()
    };
    value.is_some_and(|value| !is_chosen(value))
}

#[cfg(test)]
mod tests {
    use super::super::page;
    use super::*;

    fn records() -> Records {
        Records::new("[e]\n\"a call\" = 1107\nrate = 130400\n[limits.e]\n\"a call\" = 1200\n")
            .unwrap()
    }

    fn complained(text: &str) -> Vec<(usize, String)> {
        complaints(text, &page::read(text).unwrap(), &records())
    }

    #[test]
    fn what_looks_measured_is_named() {
        for text in [
            "It takes 5 instructions.",
            "a\nIt takes 700\ninstructions.",
            "up to 1,107 ns",
            "| a | 1,107 |\n|-|-|",
        ] {
            let said = complained(text);
            assert!(said.len() == 1 && said[0].1.contains("looks measured"), "{text}: {said:?}");
        }
        let lines: Vec<usize> =
            complained("a\n\n1,107 and 9 instructions\n").iter().map(|it| it.0).collect();
        assert_eq!(lines, [3, 3]);
    }

    #[test]
    fn what_is_chosen_is_not() {
        let chosen = "1,000 rounds, 65,535 or 4,096 pages, 5 us, 1107, `7 instructions`, S-1,107, \
            35 %, 63 bytes, 17 users, Figure 5.2, 16.0-dev, 1.2.3\n```text\n1,107\n```\n\
            <!-- by hand: x -->\n| a | b |\n|-|-|\n| c | 1,107 |\n\n<!-- 1,107\n1,107 -->\n";
        assert_eq!(complained(chosen), []);
    }

    #[test]
    fn a_paragraph_says_why_figures_in_other_units_are_not_recorded() {
        let likely = ["77 us", "13 %", "24\nticks", "1.5 times", "About 2.8 ms", "(0.997)", "13us"];
        for text in likely {
            let said = complained(text);
            assert!(said.len() == 1 && said[0].1.contains("looks measured"), "{text}: {said:?}");
            assert_eq!(complained(&format!("<!-- by hand: a reason -->\nIt is\n{text}.")), []);
            assert_eq!(complained(&format!("<!-- by hand: -->\n{text}")).len(), 1);
            assert_eq!(complained(&format!("<!-- by hand: a reason -->\nIt.\n\n{text}")).len(), 1);
        }
        let both = "<!-- by hand: a reason -->\n13 %, 1,107 us, 5 instructions";
        assert_eq!(complained(both).len(), 2, "what is measured for sure has its own");
    }

    #[test]
    fn a_named_figure_is_the_recorded_one() {
        let one = |text: &str, expected: &str| {
            let said = complained(text);
            assert!(said.len() == 1 && said[0].1.contains(expected), "{text}: {said:?}");
        };
        assert_eq!(
            complained("1,107<!-- e: a call --> instructions, 1,200<!-- e: limit a call -->"),
            []
        );
        assert_eq!(complained("3,333<!-- by hand: the paper's --> and 5"), []);
        assert_eq!(complained("13.0<!-- e: percent rate --> %, 77<!-- by hand: x --> us"), []);
        one("13.1<!-- e: percent rate --> %", "it says 13.1, recorded is 13.0");
        assert_eq!(complained("117.8<!-- e: times rate / a call --> times"), []);
        one("1.1<!-- e: times limit a call / a call --> times", "it says 1.1, recorded is 1.08");
        one("1,106<!-- e: a call -->", "it says 1,106, recorded is 1,107");
        one("7<!-- e: a call -->", "it says 7, recorded is 1,107");
        one("7<!-- e: b call -->", "there is no figure `e: b call`");
        one("7<!-- by hand: -->", "there is no figure");
    }

    #[test]
    fn figures_are_written_anew() {
        let line = |[first, second]: [&str; 2]| {
            let [first, second] = [first, second].map(|text| format!("{text}<!-- e: "));
            format!("{first}a call --> of 6, {second}limit a call -->, 2<!-- by hand: x -->")
        };
        assert_eq!(updated(&line(["5", "1"]), &records()), line(["1,107", "1,200"]));
    }
}
