//! Tables of figures: each cell that a rule names is the recorded figure of that name.
//!
//! The note above a table names the experiment, then a rule for each column or row of figures:
//! `HEADING = KEY with {row}` or `ROW = KEY with {column}`, or a sum of other columns
//! (`both = call + reply and wait`), or several keys with ` / ` between them. A key is one of
//! tests/golden.toml, behind `EXPERIMENT: ` if it is of another one, or a system of baselines.toml
//! with a metric and a case. `limit KEY` is the limit on that figure instead, and `percent KEY` is
//! a figure in millionths as a percentage. Figures of the simulation are those of the experiment
//! `NAME, simulated`.

use super::page::{Table, cells};
use results::Figure;
use std::collections::BTreeMap;

/// Where figures are recorded.
pub struct Records {
    golden: toml::Table,
}

impl Records {
    /// Reads golden figures.
    pub fn new(golden: &str) -> Result<Records, String> {
        Ok(Records { golden: golden.parse().map_err(|error| format!("golden figures: {error}"))? })
    }

    /// Whether there are figures of an experiment, or limits on them.
    fn has(&self, experiment: &str) -> bool {
        let limits = self.golden.get("limits").and_then(|limits| limits.get(experiment));
        self.golden.contains_key(experiment) || limits.is_some()
    }

    /// A figure of an experiment as pages show it: `percent KEY` is one in millionths, and
    /// `times KEY / KEY` how many times the second one the first is.
    pub fn shown(&self, experiment: &str, key: &str) -> Option<String> {
        let find = |key: &str| self.find(experiment, key);
        if let Some((first, second)) =
            key.strip_prefix("times ").and_then(|it| it.split_once(" / "))
        {
            let times = find(first)? as f64 / find(second)? as f64;
            return Some(if times < 2.0 { format!("{times:.2}") } else { format!("{times:.1}") });
        }
        match key.strip_prefix("percent ") {
            Some(key) => find(key).map(|figure| format!("{:.1} %", figure as f64 / 1e4)),
            None => find(key).map(|figure| Figure::from(figure).grouped()),
        }
    }

    /// A figure of an experiment, or the limit on it.
    fn find(&self, experiment: &str, key: &str) -> Option<u64> {
        let (golden, key) = match key.strip_prefix("limit ") {
            Some(key) => (self.golden.get("limits").and_then(|all| all.get(experiment)), key),
            None => (self.golden.get(experiment), key),
        };
        let golden = golden.and_then(|figures| figures.get(key));
        if let Some(figure) = golden.and_then(toml::Value::as_integer) {
            return u64::try_from(figure).ok();
        }
        let baselines = results::baselines(experiment);
        let named = |baseline: &&results::Baseline| {
            let rest = key.strip_prefix(baseline.system.as_str()).map(str::trim);
            let case = baseline.case.as_str();
            let whole = format!("{} {case}", baseline.metric);
            rest == Some(whole.trim())
        };
        baselines.iter().find(named).map(|baseline| baseline.value)
    }
}

/// What a table's cells must be: by line below the heading's and column, the text.
pub type Cells = BTreeMap<(usize, usize), String>;

/// The cells that rules name, with what they must be.
pub fn expected(table: &Table, records: &Records) -> Result<Cells, String> {
    let (experiment, rules) = rules(table)?;
    let mut wanted = Cells::new();
    let mut used = vec![false; rules.len()];
    for (at, row) in table.rows.iter().enumerate() {
        let label = row.first().map(String::as_str).unwrap_or_default();
        for (column, heading) in table.heading.iter().enumerate().skip(1) {
            let rule =
                rules.iter().position(|(left, _)| *left == plain(heading) || *left == plain(label));
            let Some(rule) = rule else { continue };
            used[rule] = true;
            let text = value(table, records, (&experiment, &rules), (at, column), &rules[rule].1)?;
            wanted.insert((at, column), text);
        }
    }
    if let Some((left, _)) = rules.iter().zip(used).find(|(_, used)| !used).map(|(rule, _)| rule) {
        return Err(format!("the rule for `{left}` names no column or row"));
    }
    Ok(wanted)
}

type Rules = Vec<(String, String)>;

/// The experiment, and rules by heading or label.
fn rules(table: &Table) -> Result<(String, Rules), String> {
    let experiment = table.note.get("figures").unwrap_or_default().to_string();
    let rule = |text: &str| {
        let (left, right) = text.split_once(" = ").ok_or(format!("`{text}` is no rule"))?;
        Ok((left.trim().to_string(), right.trim().to_string()))
    };
    let lines = table.note.0.iter().filter(|(name, _)| name != "figures");
    let lines = lines.map(|(name, value)| match value.as_str() {
        "" => rule(name),
        value => rule(&format!("{name}: {value}")),
    });
    Ok((experiment, lines.collect::<Result<Rules, String>>()?))
}

/// What a cell must be: the same for each name in its row's label.
fn value(
    table: &Table,
    records: &Records,
    (experiment, rules): (&str, &Rules),
    (at, column): (usize, usize),
    key: &str,
) -> Result<String, String> {
    let sum: Vec<&str> = key.split(" + ").map(str::trim).collect();
    if sum.len() > 1 {
        let mut total = 0;
        for part in sum {
            let known = table.heading.iter().position(|heading| plain(heading) == part);
            let (column, rule) = known
                .zip(rules.iter().find(|(left, _)| left == part))
                .ok_or(format!("`{part}` is no column with a rule"))?;
            let text = value(table, records, (experiment, rules), (at, column), &rule.1)?;
            total += number(&text).ok_or(format!("`{part}` is no figure"))?;
        }
        return Ok(Figure::from(total).grouped());
    }
    let parts: Vec<&str> = key.split(" / ").collect();
    if parts.len() > 1 {
        let one = |part: &&str| value(table, records, (experiment, rules), (at, column), part);
        return Ok(parts.iter().map(one).collect::<Result<Vec<_>, _>>()?.join(" / "));
    }
    let other = key.split_once(": ").filter(|(name, _)| records.has(name));
    let (experiment, key) = other.unwrap_or((experiment, key));
    let names = names(&table.rows[at][0]);
    let (key, percent) = match key.strip_prefix("percent ") {
        Some(key) => (key, true),
        None => (key, false),
    };
    let key = key.replace("{column}", &plain(&table.heading[column]));
    let keys: Vec<String> = names.iter().map(|name| key.replace("{row}", name)).collect();
    let found: Vec<Option<u64>> = keys.iter().map(|key| records.find(experiment, key)).collect();
    if let Some(at) = (1..found.len()).find(|at| found[*at] != found[0]) {
        return Err(format!("`{}` and `{}` differ: {found:?}", keys[0], keys[at]));
    }
    match found[0] {
        Some(figure) if percent => Ok(format!("{:.1} %", figure as f64 / 1e4)),
        Some(figure) => Ok(Figure::from(figure).grouped()),
        None if table.rows[at][column] == "-" => Ok("-".to_string()),
        None => Err(format!("there is no figure `{}` of {experiment}", keys[0])),
    }
}

/// The names in a label: each that stands in backticks, or the whole of it.
fn names(label: &str) -> Vec<String> {
    let quoted: Vec<String> = label.split('`').skip(1).step_by(2).map(str::to_string).collect();
    if quoted.is_empty() { vec![label.to_string()] } else { quoted }
}

/// A heading or label without backticks, and without what it adds in parentheses.
fn plain(text: &str) -> String {
    let text = text.replace('`', "");
    text.split(" (").next().unwrap_or_default().trim().to_string()
}

/// A number, with or without commas.
pub fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

/// A table's line with some cells replaced.
pub fn replaced(line: &str, new: &BTreeMap<usize, &str>) -> String {
    let mut all = cells(line);
    new.iter().for_each(|(column, text)| all[*column] = text.to_string());
    format!("| {} |", all.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::page::{Piece, read};
    use super::*;

    fn checked(note: &str, rows: &str) -> Result<Vec<String>, String> {
        let records = Records::new(
            "[e]\n\"a call\" = 1100\n\"b call\" = 1100\n\"a reply\" = 7\n\"b reply\" = 8\n\
             [ping-pong]\n\"x call across words=0\" = 3\n\
             [limits.e]\n\"a call\" = 1200\n[limits.slow]\n\"a worst\" = 9000\n",
        )?;
        let text =
            format!("<!-- figures: {note} -->\n| | call | reply | both |\n|-|-|-|-|\n{rows}");
        let Piece::Table(table) = read(&text)?.remove(0) else { return Err("no table".into()) };
        expected(&table, &records).map(|cells| cells.into_values().collect())
    }

    #[test]
    fn cells_are_recorded_figures_and_their_sums() {
        let rules = "e\ncall = {row} call\nreply = {row} reply\nboth = call + reply\n";
        assert_eq!(checked(rules, "| `a` | 1 | 2 | 3 |\n").unwrap(), ["1,100", "7", "1,107"]);
        let two = checked("e; call = {row} call", "| `a`, `b` | 1 | 2 | 3 |\n");
        assert_eq!(two.unwrap(), ["1,100"]);
        let error = checked("e; reply = {row} reply", "| `a`, `b` | 1 | 2 | 3 |\n").unwrap_err();
        assert!(error.starts_with("`a reply` and `b reply` differ"), "{error}");
        let by_row = |rule: &str| checked(rule, "| what (it) | 1 | 2 | 3 |\n");
        let error = by_row("e; what = a {column}").unwrap_err();
        assert_eq!(error, "there is no figure `a both` of e");
        let several = by_row("e; what = a call / ping-pong: x call across words=0").unwrap();
        assert_eq!(several, ["1,100 / 3", "1,100 / 3", "1,100 / 3"]);
    }

    #[test]
    fn millionths_are_percents_too() {
        let rules = "e; call = percent {row} reply";
        assert_eq!(checked(rules, "| `a` | 1 | 2 | 3 |\n").unwrap(), ["0.0 %"]);
    }

    #[test]
    fn limits_are_recorded_too() {
        let cells = |rules| checked(rules, "| `a` | 1 | 2 | 3 |\n");
        let rules = "e; call = limit {row} call; reply = slow: limit {row} worst";
        assert_eq!(cells(rules).unwrap(), ["1,200", "9,000"]);
        assert!(cells("e; call = limit {row} reply").unwrap_err().contains("there is no figure"));
        assert!(cells("slow; call = {row} worst").unwrap_err().contains("there is no figure"));
    }

    #[test]
    fn what_other_systems_take_is_recorded_too() {
        let rules = "ping-pong; call = {row} call across words=0";
        assert_eq!(checked(rules, "| `x` | 1 | | |\n| seL4 | 1 | | |\n").unwrap(), ["3", "184"]);
        assert_eq!(checked(rules, "| seL4 slow path | - | | |\n").unwrap(), ["720"]);
        assert!(checked(rules, "| VAX | 1 | | |\n").unwrap_err().contains("there is no figure"));
        assert_eq!(checked(rules, "| VAX | - | | |\n").unwrap(), ["-"]);
        assert!(checked("e; cal = {row} call", "| `a` | 1 | | |\n").unwrap_err().contains("`cal`"));
    }

    #[test]
    fn a_line_keeps_what_is_not_replaced() {
        let new = BTreeMap::from([(1, "2,000")]);
        assert_eq!(replaced("| `a` | 1 | x |", &new), "| `a` | 2,000 | x |");
    }
}
