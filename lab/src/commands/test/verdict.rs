//! What a line that a program prints says of a check.

/// How the line of a check begins that held, and of one that did not.
const HELD: [&str; 2] = ["ok ", "refused: "];
const NOT_HELD: [&str; 3] = ["FAILED ", "NOT REFUSED: ", "NOT TRUE: "];

/// The check that a line reports, and whether it held.
pub fn of(line: &str) -> Option<(&str, bool)> {
    let after = |starts: &[&str]| starts.iter().find_map(|start| line.strip_prefix(start));
    let held = after(&HELD).map(|name| (name, true));
    held.or_else(|| Some((after(&NOT_HELD)?, false)))
}
