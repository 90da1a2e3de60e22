//! Values of the reference: tables of pages list the codes of the enumerations of the crate `abi`,
//! all of them and no others; bits and limits are those of its constants.

use super::{Finding, header};
use abi::call::{RESTARTED, exchange, fault};
use abi::message::{Info, MAX_WORDS};
use abi::object::{Kind, Resource};
use abi::{Rights, reservation};
use anyhow::Result;
use fs_err as fs;
use std::path::Path;

const CALLS: &str = "docs/system-calls.md";
const ERRORS: &str = "docs/errors.md";
const THREADS: &str = "docs/threads.md";
const FAULTS: &str = "docs/faults.md";
const CAPABILITIES: &str = "docs/capabilities.md";
const MANIFEST: &str = "docs/manifest.md";

/// Tables, by the beginnings of their heads, and rows that list codes: of which enumeration, and
/// whether they name its variants.
const TABLES: [(&str, &str, &str, bool); 15] = [
    (ERRORS, "| code | error |", "Error", true),
    (CALLS, "| call |", "Call", true),
    (CALLS, "| number | kind |", "Kind", true),
    (CALLS, "| number | resource |", "Resource", true),
    (CALLS, "| `Fact` |", "Fact", false),
    (CALLS, "| `a1` of `Observe` |", "Observe", false),
    (CALLS, "| table of `Inspect` |", "Table", true),
    (CALLS, "| `a1` of `ReservationSet` |", "Setting", true),
    (CALLS, "| kind | waits for |", "Awaited", false),
    (CALLS, "| 8, 9 | timeout", "Timeout", true),
    (CALLS, "| state of a thread |", "ThreadState", true),
    (CALLS, "| policy |", "Policy", false),
    (CALLS, "| server |", "Server", false),
    (THREADS, "| `ThreadInspect` |", "ThreadState", true),
    (FAULTS, "| label | kind |", "FaultKind", true),
];

/// Checks the pages of the work tree at `root`.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (page, head, enumeration, is_named) in TABLES {
        let text = fs::read_to_string(root.join(page))?;
        let wanted = header::codes(root, enumeration)?;
        let differing = differs(&listed(&text, head), &wanted, is_named);
        findings.extend(differing.map(|what| {
            let line = 1 + text.lines().take_while(|line| !line.starts_with(head)).count();
            let mend = format!("list what `{enumeration}` of the crate `abi` has");
            Finding::new(page, line, format!("`{head}`: {what}"), &mend)
        }));
    }
    for (page, said) in sentences() {
        findings.extend(missing(page, &fs::read_to_string(root.join(page))?, &said));
    }
    findings.extend(rights(&fs::read_to_string(root.join(CAPABILITIES))?));
    Ok(findings)
}

/// The cells of a row.
fn cells(row: &str) -> Vec<&str> {
    row.trim_matches('|').split('|').map(str::trim).collect()
}

/// The codes that tables, or one row, list, each with what it is called.
fn listed(text: &str, head: &str) -> Vec<(u64, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut codes = Vec::new();
    for at in (0..lines.len()).filter(|at| lines[*at].starts_with(head)) {
        let is_head = lines.get(at + 1).is_some_and(|line| line.starts_with("|---"));
        if !is_head {
            let list = cells(lines[at])[1];
            let list = list.rsplit_once(": ").map_or(list, |(_, list)| list);
            codes.extend(list.split(", ").flat_map(|one| coded(&[one])));
            continue;
        }
        // A head that repeats itself has several rows beside each other.
        let columns = cells(lines[at]);
        let again = columns.iter().skip(1).position(|column| *column == columns[0]);
        let width = again.map_or(columns.len(), |behind| behind + 1);
        for row in lines[at + 2..].iter().take_while(|line| line.starts_with('|')) {
            codes.extend(cells(row).chunks(width).flat_map(coded));
        }
    }
    codes.sort();
    codes
}

/// The codes in a row's first cell. What they are called stands there or in the second one.
fn coded(row: &[&str]) -> Vec<(u64, String)> {
    let words = |cell: &str| {
        let words = cell.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect::<Vec<_>>()
    };
    let (codes, mut name): (Vec<_>, Vec<_>) =
        words(row[0]).into_iter().partition(|word| word.parse::<u64>().is_ok());
    if name.is_empty() {
        name = row.get(1).map(|cell| words(cell)).unwrap_or_default();
    }
    codes.iter().filter_map(|code| Some((code.parse().ok()?, name.concat()))).collect()
}

/// How listed codes differ from those that there are, if they do.
fn differs(listed: &[(u64, String)], wanted: &[(u64, String)], is_named: bool) -> Option<String> {
    let is = |one: &(u64, String), other: &(u64, String)| {
        one.0 == other.0 && (!is_named || one.1.starts_with(&other.1.to_lowercase()))
    };
    let lacking = wanted.iter().find(|other| !listed.iter().any(|one| is(one, other)));
    if let Some((code, name)) = lacking {
        return Some(format!("`{name}` {code} is missing"));
    }
    let (code, name) = listed.iter().find(|one| !wanted.iter().any(|other| is(one, other)))?;
    Some(format!("{code} ({name}) is none"))
}

/// What pages say of constants.
fn sentences() -> Vec<(&'static str, String)> {
    let us = |nanoseconds: u64| format!("{} us", nanoseconds / 1_000);
    let resources = Resource::ALL.map(|resource| format!("`{}`", resource.name())).join(", ");
    let mut all = vec![
        (MANIFEST, format!("as numbers: {resources}.")),
        (CALLS, format!("| 0 to 7 | length in words, at most {MAX_WORDS} |")),
        (CALLS, format!("| {} | the message carries a capability |", Info::CAPABILITY.ilog2())),
        (CALLS, format!("| {} | set by the kernel: bits of a not", Info::NOTIFICATION.ilog2())),
        (CALLS, format!("| {} | set by the kernel: a [fault]", Info::FAULT.ilog2())),
        (CALLS, format!("| {} | set by the kernel: the call was int", RESTARTED.ilog2())),
        (CALLS, {
            let [least, shortest] = [reservation::LEAST_BUDGET, reservation::SHORTEST].map(us);
            let (window, windows) = (us(reservation::SHORTEST_WINDOW), reservation::WINDOWS);
            let longest = reservation::LONGEST.ilog2();
            format!(
                "budget {least}; period and deadline {shortest}; window {window}; {windows} \
                 windows; longest time 2^{longest} ns"
            )
        }),
        (
            CALLS,
            format!(
                "| {} instruction pointer, {} stack pointer, {} first argument, {} thread pointer, \
                 {} cancel",
                exchange::INSTRUCTION,
                exchange::STACK,
                exchange::ARGUMENT,
                exchange::THREAD,
                exchange::CANCEL
            ),
        ),
        (
            CALLS,
            format!(
                "| {} retry, {} continue at `w0`, {} suspend |",
                fault::RETRY,
                fault::CONTINUE,
                fault::SUSPEND
            ),
        ),
    ];
    let common =
        |(name, right): (&str, Rights)| (CAPABILITIES, format!("| `{name}` | {} |", right.0));
    all.extend(Rights::COMMON.map(common));
    all
}

/// A page that does not say what it has to.
fn missing(page: &str, text: &str, said: &str) -> Option<Finding> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let what = format!("it does not say `{said}`");
    (!text.contains(said)).then(|| Finding::new(page, 1, what, "say what the crate `abi` says"))
}

/// What is wrong with the table of the rights that kinds of objects have.
fn rights(page: &str) -> Vec<Finding> {
    const BITS: [u8; 3] = [1, 2, 4];
    let lines = page.lines().zip(1..).skip_while(|(line, _)| !line.starts_with("| kind | bit 1 |"));
    let rows = lines.skip(2).take_while(|(line, _)| line.starts_with('|'));
    let rows: Vec<_> = rows.map(|(line, number)| (cells(line), number)).collect();
    let mut findings = Vec::new();
    // A right to reply has none.
    for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Reply) {
        let is_about = |row: &&(Vec<&str>, usize)| {
            row.0[0].split(|c: char| !c.is_alphanumeric()).any(|word| word == kind.name())
        };
        let row = rows.iter().find(is_about);
        for (column, bit) in BITS.into_iter().enumerate() {
            let named = kind.own_rights().iter().find(|(_, right)| right.0 == bit);
            let cell = row.and_then(|(cells, _)| cells.get(column + 1)).copied().unwrap_or("");
            let holds =
                named.map_or(cell.is_empty(), |(name, _)| cell.starts_with(&format!("`{name}`")));
            if !holds {
                let what = format!("bit {bit} of {} is not what `own_rights` says", kind.name());
                let line = row.map_or(1, |(_, line)| *line);
                findings.push(Finding::new(CAPABILITIES, line, what, "name the right there"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    fn codes(pairs: &[(u64, &str)]) -> Vec<(u64, String)> {
        pairs.iter().map(|(code, name)| (*code, name.to_string())).collect()
    }

    #[test]
    fn tables_and_lists_are_read() {
        let text = "| `Fact` | r |\n|---|---|\n| 0 | `Name` |\n| 1, 2 | x |\n\n\
            | call | a |\n|---|---|\n| `Ipc` 7 | |\n\n| call | b |\n|---|---|\n| `Map` 3 | |\n\n\
            | n | kind | n | kind |\n|---|---|---|---|\n| 1 | a | 3 | c d |\n| 2 | b | | |\n\n\
            | value | codes |\n|---|---|\n| state | 1 ready, 2 at: 0 never, 3 is on |\n";
        for (head, expected) in [
            ("| `Fact` |", codes(&[(0, "name"), (1, "x"), (2, "x")])),
            ("| call |", codes(&[(3, "map"), (7, "ipc")])),
            ("| n | kind |", codes(&[(1, "a"), (2, "b"), (3, "cd")])),
            ("| state |", codes(&[(0, "never"), (3, "ison")])),
        ] {
            assert_eq!(listed(text, head), expected, "{head}");
        }
    }

    #[test]
    fn what_differs_is_told() {
        let wanted = codes(&[(1, "Ready"), (2, "ThreadName")]);
        let said = |pairs: &[(u64, &str)], is_named| differs(&codes(pairs), &wanted, is_named);
        assert_eq!(said(&[(1, "readytorun"), (2, "threadname")], true), None);
        assert_eq!(said(&[(1, "x"), (2, "y")], false), None);
        let missing = Some("`ThreadName` 2 is missing".to_string());
        assert_eq!(said(&[(1, "ready"), (2, "name")], true), missing);
        assert_eq!(said(&[(1, ""), (2, ""), (3, "z")], false), Some("3 (z) is none".to_string()));
    }

    #[test]
    fn a_right_that_is_named_otherwise_is_found() {
        let page = fs::read_to_string(workspace::root().join(CAPABILITIES)).unwrap();
        assert!(rights(&page).is_empty());
        let other = page.replace("`reserve`: let", "`run`: let");
        let said: Vec<String> = rights(&other).into_iter().map(|one| one.what).collect();
        assert_eq!(said, ["bit 2 of reservation is not what `own_rights` says"]);
        assert!(
            missing("a.md", "a b\nc", "b c").is_none() && missing("a.md", "a b", "c").is_some()
        );
    }
}
