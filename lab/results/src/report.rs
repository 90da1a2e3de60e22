//! The schema of `result.json`.

use crate::{Baseline, Claim, Curves, Figure, Summary, Value, parameters};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the schema.
pub const SCHEMA: u32 = 1;

/// The parameter that names the user's system, where a report is of one.
pub const SYSTEM: &str = "system";

/// The derived metric of a round trip: the sum of the medians of `call` and `reply-wait`.
pub const PAIR: &str = "pair";

/// The metric whose samples are latencies of wake-ups.
pub const WAKE_UP: &str = "wake-up";
/// The 99th percentile of [`WAKE_UP`].
pub const WAKE_UP_P99: &str = "wake-up-p99";
/// The greatest sample of [`WAKE_UP`].
pub const WAKE_UP_WORST: &str = "wake-up-worst";

/// The two metrics that make a [`PAIR`].
pub(crate) const PAIRED: [&str; 2] = ["call", "reply-wait"];

/// What one experiment found on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The experiment's name.
    pub experiment: String,
    /// The machine's name.
    pub machine: String,
    /// What kind of machine that is.
    #[serde(flatten)]
    pub origin: Origin,
    /// The unit of the figures in the rows.
    pub unit: String,
    /// The units of metrics that count something else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, String>,
    /// The commit that was measured.
    pub commit: String,
    /// The seed of the run.
    pub seed: u64,
    /// Parameters that had other values than the usual ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, Vec<Value>>,
    /// The host and its tools, by name.
    pub host: BTreeMap<String, String>,
    /// The measurements.
    pub rows: Vec<Row>,
    /// What became of published claims.
    pub claims: Vec<Claim>,
    /// What other systems measure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub baselines: Vec<Baseline>,
    /// Single counts that explain the rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<Fact>,
    /// What a figure may be at most, and is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// What is drawn together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curves>,
    /// Sentences on how to read the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What kind of machine figures are from: `emulated` and `kind` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Whether the machine is emulated or simulated.
    emulated: bool,
    kind: Kind,
}

/// See [`Origin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Hardware,
    Emulated,
    Simulated,
}

impl Origin {
    /// A processor.
    pub const HARDWARE: Origin = Origin { emulated: false, kind: Kind::Hardware };
    /// An emulator, which executes the processor's instructions.
    pub const EMULATED: Origin = Origin { emulated: true, kind: Kind::Emulated };
    /// A simulation, which executes the kernel's source.
    pub const SIMULATED: Origin = Origin { emulated: true, kind: Kind::Simulated };

    /// The kind in a word.
    pub const fn name(self) -> &'static str {
        match self.kind {
            Kind::Hardware => "hardware",
            Kind::Emulated => "emulated",
            Kind::Simulated => "simulated",
        }
    }
}

/// The summary of one case of one metric under one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The kernel that ran, under the name that it reported.
    pub kernel: String,
    /// What was measured.
    pub metric: String,
    /// Under which circumstances; empty where there is only one.
    pub case: String,
    /// The parameters that the case names, typed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
    /// The figures, beside the names in JSON.
    #[serde(flatten)]
    pub summary: Summary,
}

/// A single count, such as the bytes of kernel text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What was counted.
    pub name: String,
    /// How many.
    pub value: u64,
    /// Of what; empty for plain numbers.
    pub unit: String,
    /// How it was counted.
    pub note: String,
}

/// A bound on a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// What is bounded.
    pub name: String,
    /// What it is.
    pub value: f64,
    /// What it may be at most, or at least.
    pub bound: f64,
    /// Whether the bound is the least value.
    #[serde(default)]
    pub least: bool,
    /// Of what.
    pub unit: String,
}

impl Limit {
    /// What is to be at most this.
    pub fn most(name: impl Into<String>, value: f64, bound: f64, unit: impl Into<String>) -> Limit {
        Limit { name: name.into(), value, bound, least: false, unit: unit.into() }
    }

    /// What is to be at least this.
    pub fn least(
        name: impl Into<String>,
        value: f64,
        bound: f64,
        unit: impl Into<String>,
    ) -> Limit {
        Limit { least: true, ..Limit::most(name, value, bound, unit) }
    }

    /// Whether the figure is within its bound.
    pub fn held(&self) -> bool {
        if self.least { self.value >= self.bound } else { self.value <= self.bound }
    }

    /// The limit in a line.
    pub fn sentence(&self) -> String {
        let Limit { name, value, bound, unit, .. } = self;
        let side = if self.least { "least" } else { "most" };
        let verdict = if self.held() { "held" } else { "NOT HELD" };
        format!("{name}: {value} {unit}, at {side} {bound}: {verdict}")
    }
}

impl Row {
    /// The row's name in golden files: `KERNEL METRIC CASE`.
    pub fn key(&self) -> String {
        key(&self.kernel, &self.metric, &self.case)
    }
}

/// Names joined by spaces, empty ones left out.
pub(crate) fn key(kernel: &str, metric: &str, case: &str) -> String {
    let names = [kernel, metric, case];
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    names.join(" ")
}

impl Report {
    /// The report of an experiment on a machine, without any figures yet.
    pub fn new(experiment: &str, machine: &str, origin: Origin, unit: &str) -> Report {
        Report {
            schema: SCHEMA,
            experiment: experiment.to_string(),
            machine: machine.to_string(),
            origin,
            unit: unit.to_string(),
            units: BTreeMap::new(),
            commit: String::new(),
            seed: 1,
            set: BTreeMap::new(),
            host: BTreeMap::new(),
            rows: Vec::new(),
            claims: Vec::new(),
            baselines: Vec::new(),
            facts: Vec::new(),
            limits: Vec::new(),
            curves: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The report as `result.json` holds it.
    pub fn to_json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.expect("a report has string keys and finite numbers") + "\n"
    }

    /// Reads a `result.json`.
    pub fn from_json(json: &str) -> Result<Report, serde_json::Error> {
        let mut report: Report = serde_json::from_str(json)?;
        if report.schema == SCHEMA {
            // Reports of earlier versions have them in their cases alone.
            for row in &mut report.rows {
                row.parameters = parameters(&row.case);
            }
            return Ok(report);
        }
        let message = format!("schema {}, but this lab reads schema {SCHEMA}", report.schema);
        Err(serde::de::Error::custom(message))
    }

    /// The median of a case, or the sum of two medians for [`PAIR`].
    pub fn median(&self, kernel: &str, metric: &str, case: &str) -> Option<Figure> {
        if metric == PAIR {
            let [call, reply] = PAIRED.map(|metric| self.median(kernel, metric, case));
            return Some(call?.plus(reply?));
        }
        let row = self.row(kernel, metric, case)?;
        Some(row.summary.median)
    }

    /// The figure that a golden file or a limit names: a row's median, a pair or a fact.
    pub fn figure(&self, name: &str) -> Option<Figure> {
        let measured = self.rows.iter().find_map(|row| {
            let metrics = [row.metric.as_str(), PAIR];
            let metric = metrics.into_iter().find(|m| key(&row.kernel, m, &row.case) == name)?;
            self.median(&row.kernel, metric, &row.case)
        });
        let fact = || self.facts.iter().find(|fact| fact.name == name);
        measured.or_else(|| Some(fact()?.value.into()))
    }

    pub(crate) fn row(&self, kernel: &str, metric: &str, case: &str) -> Option<&Row> {
        let names = (kernel, metric, case);
        self.rows.iter().find(|row| (&*row.kernel, &*row.metric, &*row.case) == names)
    }

    /// Kernels in the order of their first row.
    pub(crate) fn kernels(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.kernel.as_str()))
    }

    /// What the samples of a metric count.
    pub(crate) fn unit_of(&self, metric: &str) -> &str {
        self.units.get(metric).unwrap_or(&self.unit)
    }

    /// What kind of machine the figures are from.
    pub(crate) fn kind(&self) -> &'static str {
        self.origin.name()
    }

    /// Where a chart that stands alone is from.
    pub(crate) fn stands_for(&self) -> String {
        let Report { experiment, machine, .. } = self;
        let commit = self.short_commit();
        format!("Giusto, {experiment} on {machine} ({}), commit {commit}", self.kind())
    }

    /// The user's system, where the report is of one.
    pub fn of_system(&self) -> Option<String> {
        Some(self.set.get(SYSTEM)?.first()?.to_string())
    }

    /// What was measured, and on which machine.
    pub(crate) fn title(&self) -> String {
        let of = self.of_system().map_or(String::new(), |system| format!("{system}: "));
        format!("{of}{} on {}", self.experiment, self.machine)
    }

    /// One line that says where the figures come from: also the host's processor and whether its
    /// caches are warm or cold, so far as the report names them.
    pub(crate) fn provenance(&self) -> String {
        let Report { experiment, machine, unit, seed, .. } = self;
        let host = |name: &str| self.host.get(name).map(String::as_str);
        let processor = host("processor").map(|name| format!("on {name}"));
        let set = |(name, values): (&String, &Vec<Value>)| {
            let values: Vec<String> = values.iter().map(Value::to_string).collect();
            format!("{name}={}", values.join(","))
        };
        let words = [format!("{experiment} on {machine} ({})", self.kind()), unit.clone()];
        let words =
            words.into_iter().chain(processor).chain(self.caches()).chain(self.set.iter().map(set));
        let end = [
            self.sample_count(),
            format!("seed {seed}"),
            format!("commit {}", self.short_commit()),
        ];
        words.chain(end).collect::<Vec<_>>().join(", ")
    }

    /// Whether the host's caches are warm or cold, if the report says.
    pub(crate) fn caches(&self) -> Option<String> {
        Some(match self.host.get("caches")?.as_str() {
            "none" => "no caches".to_string(),
            caches => format!("caches {caches}"),
        })
    }

    /// How many samples stand behind a figure.
    pub(crate) fn sample_count(&self) -> String {
        let counts = || self.rows.iter().map(|row| row.summary.n);
        match (counts().min(), counts().max()) {
            (Some(least), Some(most)) if least == most => format!("n = {least}"),
            (Some(least), Some(most)) => format!("n = {least} to {most}"),
            _ => "no samples".into(),
        }
    }

    /// Enough of the commit to find it, and what follows a dash, such as `-dirty`.
    pub(crate) fn short_commit(&self) -> String {
        let (hash, suffix) = match self.commit.find('-') {
            Some(dash) => self.commit.split_at(dash),
            None => (self.commit.as_str(), ""),
        };
        hash.chars().take(10).chain(suffix.chars()).collect()
    }
}

/// The distinct items in the order of their first appearance.
pub(crate) fn distinct<'a>(items: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folded, micro, ping_pong};
    use expect_test::expect;

    /// A report with one of each.
    fn short() -> Report {
        let (mut report, _) = ping_pong();
        report.rows.truncate(1);
        report.claims.truncate(1);
        report.baselines.truncate(1);
        report.facts.truncate(1);
        report.baselines[0].note = "a source".into();
        report
    }

    #[test]
    fn json_is_the_documented_schema() {
        expect![[r#"
            {
              "schema": 1,
              "experiment": "ping-pong",
              "machine": "bench",
              "emulated": true,
              "kind": "emulated",
              "unit": "instructions",
              "commit": "0123456789abcdef0123456789abcdef01234567",
              "seed": 1,
              "host": {
                "cpu": "a model",
                "cpus": "2"
              },
              "rows": [
                {
                  "kernel": "fastpath",
                  "metric": "call",
                  "case": "across words=0",
                  "parameters": {
                    "words": 0
                  },
                  "min": 118,
                  "q1": 118,
                  "median": 118,
                  "mean": 118,
                  "q3": 118,
                  "max": 118,
                  "stddev": 0,
                  "n": 1000
                }
              ],
              "claims": [
                {
                  "id": "S0-C04",
                  "statement": "The fast path is faster than the general path.",
                  "verdict": "reproduced",
                  "evidence": "118 against 170 instructions."
                }
              ],
              "baselines": [
                {
                  "system": "seL4",
                  "metric": "call",
                  "case": "across words=0",
                  "value": 184,
                  "unit": "instructions",
                  "note": "a source"
                }
              ],
              "facts": [
                {
                  "name": "kernel text",
                  "value": 41216,
                  "unit": "bytes",
                  "note": "one kernel"
                }
              ],
              "notes": [
                "16 warm-up rounds precede each case."
              ]
            }
        "#]]
        .assert_eq(&short().to_json());
    }

    #[test]
    fn json_round_trips() {
        for (report, _) in [ping_pong(), micro()] {
            assert_eq!(Report::from_json(&report.to_json()).unwrap(), report);
        }
        // A report of an earlier version has its parameters in cases alone.
        let (report, _) = ping_pong();
        let mut earlier = report.clone();
        earlier.rows.iter_mut().for_each(|row| row.parameters.clear());
        assert_eq!(Report::from_json(&earlier.to_json()).unwrap(), report);
        let (mut report, _) = micro();
        report.schema = 2;
        let error = Report::from_json(&report.to_json()).unwrap_err();
        assert_eq!(error.to_string(), "schema 2, but this lab reads schema 1");
    }

    #[test]
    fn figures_are_found_by_name() {
        let (report, _) = ping_pong();
        let figure = |name| report.figure(name).map(|figure| figure.to_string());
        assert_eq!(figure("fastpath call across words=0").as_deref(), Some("118"));
        assert_eq!(figure("fastpath pair across words=0").as_deref(), Some("240"));
        assert_eq!(figure("kernel text").as_deref(), Some("41216"));
        assert_eq!(figure("fastpath pair across words=1"), None);
        let (report, _) = micro();
        assert_eq!(report.figure("fastpath yield"), Some(130.into()));
        assert_eq!(report.figure("fastpath pair"), None);
    }

    #[test]
    fn machines_are_of_three_kinds() {
        let (mut report, _) = micro();
        for (origin, kind, emulated) in [
            (Origin::EMULATED, "emulated", true),
            (Origin::SIMULATED, "simulated", true),
            (Origin::HARDWARE, "hardware", false),
        ] {
            report.origin = origin;
            assert!(report.provenance().starts_with(&format!("micro on bench ({kind}), ")));
            let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
            assert_eq!((&json["emulated"], &json["kind"]), (&emulated.into(), &kind.into()));
        }
    }

    #[test]
    fn limits_bound_from_either_side() {
        let most = Limit {
            name: "big, added".into(),
            value: 31.0,
            bound: 30.0,
            least: false,
            unit: "ticks".into(),
        };
        assert_eq!(most.sentence(), "big, added: 31 ticks, at most 30: NOT HELD");
        assert!(Limit { least: true, ..most.clone() }.held());
        assert!(Limit { value: 30.0, ..most }.held());
    }

    #[test]
    fn provenance_fits_a_line() {
        let (mut report, _) = ping_pong();
        report.commit += "-dirty";
        expect![[r#"
            ping-pong on bench (emulated), instructions, n = 1000, seed 1, commit
            0123456789-dirty"#]]
        .assert_eq(&folded(&report.provenance()));
    }
}
