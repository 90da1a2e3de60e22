//! A report's facts: what kernels have in common once, the rest beside each other.

use crate::{Column, Fact, Report, beside, fitted, grouped, plain_table};

/// The facts of a report, each once.
pub(crate) struct Facts<'a> {
    /// The kernels that differ, in the order of their first row.
    pub kernels: Vec<&'a str>,
    /// What is about no kernel, or the same for all.
    pub common: Vec<(&'a str, &'a Fact)>,
    /// What differs: its name, one of it, and its values by kernel.
    pub compared: Vec<(&'a str, &'a Fact, Vec<Option<u64>>)>,
}

impl<'a> Facts<'a> {
    pub fn of(report: &'a Report) -> Facts<'a> {
        let kernels = report.kernels();
        let mut facts = Facts { kernels, common: Vec::new(), compared: Vec::new() };
        for fact in &report.facts {
            let own = |kernel: &&str| about(fact, kernel);
            let Some(name) = facts.kernels.iter().find_map(own) else {
                facts.common.push((&fact.name, fact));
                continue;
            };
            let is_known = facts.common.iter().any(|(known, _)| *known == name)
                || facts.compared.iter().any(|(known, ..)| *known == name);
            if is_known {
                continue;
            }
            let of = |kernel: &&str| {
                let mut all = report.facts.iter();
                all.find(|fact| about(fact, kernel) == Some(name)).map(|fact| fact.value)
            };
            let values: Vec<Option<u64>> = facts.kernels.iter().map(of).collect();
            match values.iter().all(|value| *value == Some(fact.value)) {
                true => facts.common.push((name, fact)),
                false => facts.compared.push((name, fact, values)),
            }
        }
        facts
    }
}

/// What a fact is called beside the name of the kernel that it is about.
fn about<'a>(fact: &'a Fact, kernel: &str) -> Option<&'a str> {
    fact.name.strip_prefix(kernel)?.strip_prefix(' ')
}

/// A fact's name with its unit.
pub(crate) fn title(name: &str, fact: &Fact) -> String {
    match &*fact.unit {
        "" => name.to_string(),
        unit => format!("{name} ({unit})"),
    }
}

/// The facts of a report in tables that fit a width; empty if there are none.
pub fn facts(report: &Report, width: usize) -> String {
    let Facts { kernels, common, compared } = Facts::of(report);
    let mut text = String::new();
    if !common.is_empty() {
        let mut rows = plain_table(&["fact", "value"], width);
        for (name, fact) in common {
            rows.add_row([title(name, fact), grouped(fact.value)]);
        }
        text += &fitted(rows, 2);
    }
    if !compared.is_empty() {
        let titles = Column::new("fact", compared.iter().map(|(name, fact, _)| title(name, fact)));
        let column = |(at, kernel): (usize, &&str)| {
            let value = |values: &[Option<u64>]| values[at].map_or("-".to_string(), grouped);
            Column::new(kernel, compared.iter().map(|(.., values)| value(values)))
        };
        let columns: Vec<Column> = kernels.iter().enumerate().map(column).collect();
        text += &beside(&titles, &columns, &[], width);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ping_pong;
    use expect_test::expect;

    fn fact(name: &str, value: u64, unit: &str) -> Fact {
        Fact { name: name.into(), value, unit: unit.into(), note: String::new() }
    }

    #[test]
    fn kernels_stand_beside_each_other_where_they_differ() {
        let (mut report, _) = ping_pong();
        report.facts = vec![
            fact("kernel text", 41216, "bytes"),
            fact("fastpath boot", 1000, "steps"),
            fact("fastpath calls", 2, ""),
            fact("fastpath loads", 4, ""),
            fact("direct-lazy calls", 3, ""),
            fact("direct-lazy loads", 4, ""),
        ];
        let shown = facts(&report, 80);
        let shown: String = shown.lines().map(|line| line.trim().to_string() + "\n").collect();
        expect![[r#"
            fact                 value
            kernel text (bytes)  41,216
            loads                4
            ──────────────────────────────────────
            fact           fastpath   direct-lazy
            ──────────────────────────────────────
            boot (steps)      1,000             -
            calls                 2             3
            ──────────────────────────────────────
        "#]]
        .assert_eq(&shown);
        report.facts.clear();
        assert_eq!(facts(&report, 80), "");
    }
}
