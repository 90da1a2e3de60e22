//! A report's facts as a table: what kernels have in common once, the rest beside each other.

use super::{fitted, table};
use crate::output;
use results::{Column, Fact, Report, beside};

/// The facts of a report; empty if there are none.
pub fn facts(report: &Report) -> String {
    let kernels: Vec<&str> = manifest::KERNELS
        .into_iter()
        .filter(|kernel| report.facts.iter().any(|fact| of(fact, kernel).is_some()))
        .collect();
    let mut common = table(&["fact", "value", "unit"]);
    let mut names: Vec<(&str, &str)> = Vec::new();
    for fact in &report.facts {
        match kernels.iter().find_map(|kernel| of(fact, kernel)) {
            None => {
                common.add_row([fact.name.as_str(), &fact.value.to_string(), &fact.unit]);
            }
            Some(name) if names.iter().all(|(known, _)| *known != name) => {
                names.push((name, &fact.unit));
            }
            Some(_) => {}
        }
    }
    let title = |(name, unit): &(&str, &str)| match *unit {
        "" => name.to_string(),
        unit => format!("{name} ({unit})"),
    };
    let titles = Column::new("fact", names.iter().map(title));
    let column = |kernel: &&str| {
        let value = |(name, _): &(&str, &str)| {
            let own = report.facts.iter().find(|fact| of(fact, kernel) == Some(name));
            own.map_or("-".to_string(), |fact| fact.value.to_string())
        };
        Column::new(kernel, names.iter().map(value))
    };
    let compared: Vec<Column> = kernels.iter().map(column).collect();
    let common = if common.row_count() > 0 { fitted(common) } else { String::new() };
    match names.is_empty() {
        true => common,
        false => common + &beside(&titles, &compared, &[], output::columns()),
    }
}

/// What a fact is called beside the name of the kernel that it is about.
fn of<'a>(fact: &'a Fact, kernel: &str) -> Option<&'a str> {
    fact.name.strip_prefix(kernel)?.strip_prefix(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn fact(name: &str, value: u64, unit: &str) -> Fact {
        Fact { name: name.into(), value, unit: unit.into(), note: String::new() }
    }

    #[test]
    fn kernels_stand_beside_each_other() {
        let report = Report {
            facts: vec![
                fact("kernel text", 41216, "bytes"),
                fact("fastpath boot", 1000, "steps"),
                fact("fastpath calls", 2, ""),
                fact("direct-lazy calls", 3, ""),
            ],
            ..Report::new("", "", results::Origin::EMULATED, "")
        };
        let shown: String = facts(&report).lines().map(|l| l.trim().to_string() + "\n").collect();
        expect![[r#"
            fact         value  unit
            kernel text  41216  bytes
            ──────────────────────────────────────
            fact           fastpath   direct-lazy
            ──────────────────────────────────────
            boot (steps)       1000             -
            calls                 2             3
            ──────────────────────────────────────
        "#]]
        .assert_eq(&shown);
        assert_eq!(facts(&Report { facts: Vec::new(), ..report }), "");
    }
}
