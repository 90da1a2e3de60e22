//! Golden figures: the medians that the repository has recorded, and limits that nothing passes.
//!
//! ```toml
//! [limits.ping-pong]
//! "fastpath pair across words=0" = 300
//!
//! [ping-pong]
//! "fastpath call across words=0" = 120
//! ```
//!
//! Instruction counts repeat exactly, so any difference is a change of the code. A slower figure
//! is a regression; a faster one must be recorded, or the next regression hides behind it. A limit
//! may also name a `pair` or a fact, and is checked when its experiment has run.

use crate::{Figure, Report};
use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::fmt;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

const LIMITS: &str = "limits";

const HEADER: &str = "\
# Medians of every case, and limits that no figure may pass. Each run is checked:
# any difference fails. `giusto lab run EXPERIMENT... --update-golden` rewrites the
# medians; a figure that gets slower is recorded in a commit of its own that says
# why. Limits are edited by hand.
";

/// Figures by name, in the order of the file.
type Figures = Vec<(String, Figure)>;

/// A golden file, with its comments: a table for each experiment, limits below a table of theirs.
#[derive(Clone, Debug, Default)]
pub struct Golden(DocumentMut);

/// How a report differs from the golden file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// The experiment.
    pub experiment: String,
    /// The figure's name.
    pub key: String,
    /// What is recorded; nothing for a new figure.
    pub recorded: Option<Figure>,
    /// What was measured; nothing for a figure that is gone.
    pub measured: Option<Figure>,
    /// Whether `recorded` is a limit.
    pub limit: bool,
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: ", self.experiment, self.key)?;
        match (self.limit, self.recorded, self.measured) {
            (true, Some(limit), Some(measured)) => write!(
                f,
                "measured {measured}, over the limit of {limit}; make it faster: limits do not move"
            ),
            (true, limit, _) => write!(
                f,
                "not measured, but it has a limit of {}; measure it again, or correct the name \
                 under [limits.{}]",
                limit.unwrap_or_default(),
                self.experiment
            ),
            (false, Some(recorded), Some(measured)) if measured > recorded => write!(
                f,
                "slower, recorded {recorded}, measured {measured}; mend the regression, or run \
                 with --update-golden in a commit of its own that says why"
            ),
            (false, Some(recorded), Some(measured)) => write!(
                f,
                "faster, recorded {recorded}, measured {measured}; record the improvement: run \
                 with --update-golden and commit the file"
            ),
            (false, Some(recorded), None) => write!(
                f,
                "not measured, recorded {recorded}; run all cases and kernels, or drop the \
                 figure with --update-golden in a commit of its own that says why"
            ),
            (false, None, measured) => write!(
                f,
                "not recorded, measured {}; run with --update-golden and commit the file",
                measured.unwrap_or_default()
            ),
        }
    }
}

impl Golden {
    /// Reads a golden file.
    pub fn load(path: &Path) -> Result<Golden> {
        let text = std::fs::read_to_string(path).with_context(|| {
            let path = path.display();
            format!("{path}; write it with `giusto lab run EXPERIMENT... --update-golden`")
        })?;
        Golden::parse(&text).with_context(|| path.display().to_string())
    }

    /// Reads the text of one.
    pub fn parse(text: &str) -> Result<Golden> {
        let golden = Golden(text.parse::<DocumentMut>()?);
        let limits = golden.0.get(LIMITS).map(|item| table(LIMITS, item)).transpose()?;
        let limits = limits.into_iter().flat_map(|limits| limits.iter());
        let recorded = golden.0.iter().filter(|(name, _)| *name != LIMITS);
        for (name, item) in limits.chain(recorded) {
            for (key, item) in table(name, item)?.iter() {
                figure(item).with_context(|| {
                    format!("[{name}] {key}: expected a count of 0 or more, whole or ending in .5")
                })?;
            }
        }
        Ok(golden)
    }

    /// The medians of an experiment that are recorded.
    fn recorded(&self, experiment: &str) -> Figures {
        self.0.get(experiment).map(figures).unwrap_or_default()
    }

    /// The limits of an experiment, in the order of the file.
    pub fn limits(&self, experiment: &str) -> Figures {
        let limits = self.0.get(LIMITS).and_then(|limits| limits.get(experiment));
        limits.map(figures).unwrap_or_default()
    }

    /// A limit of an experiment, by its key.
    pub fn limit(&self, experiment: &str, key: &str) -> Option<Figure> {
        figure(self.0.get(LIMITS)?.get(experiment)?.get(key)?)
    }

    /// A recorded median of an experiment, by its key.
    pub fn median(&self, experiment: &str, key: &str) -> Option<Figure> {
        figure(self.0.get(experiment)?.get(key)?)
    }

    /// Every difference between the file and complete reports; experiments without a report are
    /// left alone.
    pub fn check(&self, reports: &[Report]) -> Vec<Deviation> {
        reports.iter().flat_map(|report| self.check_of(report, |_| true)).collect()
    }

    /// What differs of those figures of a report that a table of another name than the
    /// experiment's records, as those of another machine are; of keys that count.
    pub fn check_table(
        &self,
        table: &str,
        report: &Report,
        counts: impl Fn(&str) -> bool,
    ) -> Vec<Deviation> {
        let deviation = |(key, recorded): (String, Figure)| {
            let (experiment, measured) = (table.to_string(), report.figure(&key));
            let (recorded, limit) = (Some(recorded), false);
            let differs = measured != recorded;
            differs.then_some(Deviation { experiment, key, recorded, measured, limit })
        };
        let recorded = self.recorded(table).into_iter().filter(|(key, _)| counts(key));
        recorded.filter_map(deviation).collect()
    }

    /// What passes its limits.
    pub fn check_limits(&self, report: &Report) -> Vec<Deviation> {
        self.check_limits_of(report, |_| true)
    }

    /// What passes those of its limits whose keys are told apart by `counts`: for a report that is
    /// about some of the kernels only.
    pub fn check_limits_of(
        &self,
        report: &Report,
        counts: impl Fn(&str) -> bool,
    ) -> Vec<Deviation> {
        let mut deviations = Vec::new();
        let limits = self.limits(&report.experiment).into_iter();
        for (key, limit) in limits.filter(|(key, _)| counts(key)) {
            let measured = report.figure(&key);
            if measured.is_none_or(|measured| measured > limit) {
                deviations.push(deviation(report, &key, Some(limit), measured, true));
            }
        }
        deviations
    }

    /// What differs between the file and a report, of keys that count: for a report that is about
    /// some of the kernels only.
    pub fn check_of(&self, report: &Report, counts: impl Fn(&str) -> bool) -> Vec<Deviation> {
        let mut deviations = self.check_limits_of(report, &counts);
        let recorded = self.recorded(&report.experiment);
        let measured = medians(report);
        for (key, figure) in recorded.iter().filter(|(key, _)| counts(key)) {
            let measured = find(&measured, key);
            if measured != Some(*figure) {
                deviations.push(deviation(report, key, Some(*figure), measured, false));
            }
        }
        for (key, figure) in &measured {
            if find(&recorded, key).is_none() {
                deviations.push(deviation(report, key, None, Some(*figure), false));
            }
        }
        deviations
    }

    /// The file with the figures of these reports in place of the recorded ones. Limits, comments
    /// and other experiments stay.
    pub fn update(&self, reports: &[Report]) -> String {
        let mut file = self.0.clone();
        for report in reports {
            let new = || {
                let mut table = Table::new();
                table.decor_mut().set_prefix("\n");
                Item::Table(table)
            };
            let item = file.entry(&report.experiment).or_insert_with(new);
            if let Some(table) = item.as_table_like_mut() {
                record(table, &medians(report));
            }
        }
        let head = if self.0.is_empty() { HEADER } else { "" };
        format!("{head}{file}")
    }
}

/// Puts figures in the place of those that a table has.
fn record(table: &mut dyn TableLike, figures: &Figures) {
    let known: Vec<String> = table.iter().map(|(key, _)| key.to_string()).collect();
    for key in known.iter().filter(|key| find(figures, key).is_none()) {
        table.remove(key);
    }
    for (key, figure) in figures {
        let whole = i64::try_from(figure.as_f64() as u64).unwrap_or(i64::MAX);
        let is_whole = *figure == Figure::from(whole as u64);
        let mut value = if is_whole { whole.into() } else { Value::from(figure.as_f64()) };
        match table.get_mut(key).and_then(Item::as_value_mut) {
            Some(old) => {
                // A comment behind the figure is about it.
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            None => {
                table.insert(key, value.into());
            }
        }
    }
}

fn deviation(
    report: &Report,
    key: &str,
    recorded: Option<Figure>,
    measured: Option<Figure>,
    limit: bool,
) -> Deviation {
    let experiment = report.experiment.clone();
    Deviation { experiment, key: key.into(), recorded, measured, limit }
}

/// The median of every row, by name.
fn medians(report: &Report) -> Figures {
    report.rows.iter().map(|row| (row.key(), row.summary.median)).collect()
}

fn find(figures: &[(String, Figure)], key: &str) -> Option<Figure> {
    figures.iter().find(|(name, _)| name == key).map(|(_, figure)| *figure)
}

/// The figure of an entry.
fn figure(item: &Item) -> Option<Figure> {
    Figure::deserialize(item.as_value()?.clone().into_deserializer()).ok()
}

fn figures(table: &Item) -> Figures {
    let entries = table.as_table_like().into_iter().flat_map(|table| table.iter());
    entries.filter_map(|(key, item)| Some((key.to_string(), figure(item)?))).collect()
}

fn table<'a>(name: &str, item: &'a Item) -> Result<&'a dyn TableLike> {
    item.as_table_like().with_context(|| format!("{name}: expected tables named after experiments"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Samples;
    use crate::testing::{folded, micro, ping_pong};
    use expect_test::expect;

    /// Reads the text of one.
    pub fn parse(text: &str) -> Result<Golden> {
        Golden::parse(text)
    }

    /// A report of a call and a reply.
    fn small(call: u64, reply: u64) -> Report {
        let mut samples = Samples::default();
        samples.push("fastpath", "call", "across words=0", vec![call, call + 1]);
        samples.push("fastpath", "reply-wait", "across words=0", vec![reply]);
        let (mut report, _) = ping_pong();
        report.rows = samples.rows();
        report
    }

    fn recorded() -> Golden {
        let limits = "[limits.ping-pong]\n\"fastpath pair across words=0\" = 300\n";
        let golden = parse(&format!("{HEADER}\n{limits}")).unwrap();
        parse(&golden.update(&[small(118, 122)])).unwrap()
    }

    fn messages(golden: &Golden, report: Report) -> String {
        let deviations = golden.check(&[report]);
        deviations.iter().map(|deviation| format!("{deviation}\n")).collect()
    }

    #[test]
    fn writes_a_file_that_it_reads() {
        expect![[r##"
            # Medians of every case, and limits that no figure may pass. Each run is checked:
            # any difference fails. `giusto lab run EXPERIMENT... --update-golden` rewrites the
            # medians; a figure that gets slower is recorded in a commit of its own that says
            # why. Limits are edited by hand.

            [limits.ping-pong]
            "fastpath pair across words=0" = 300

            [ping-pong]
            "fastpath call across words=0" = 118.5
            "fastpath reply-wait across words=0" = 122
        "##]]
        .assert_eq(&recorded().update(&[]));
        let (ping_pong, micro) = (ping_pong().0, micro().0);
        let golden = parse(&Golden::default().update(&[ping_pong.clone(), micro.clone()])).unwrap();
        assert_eq!(golden.check(&[ping_pong, micro]), []);
    }

    #[test]
    fn an_update_keeps_limits_and_other_experiments() {
        let golden = parse(&recorded().update(&[micro().0])).unwrap();
        assert_eq!(golden.limits("ping-pong"), recorded().limits("ping-pong"));
        assert_eq!(golden.check(&[small(118, 122), micro().0]), []);
    }

    #[test]
    fn comments_stay_and_what_is_gone_goes() {
        let text = recorded().update(&[]).replace("= 118.5", "= 118.5 # a half");
        let golden = parse(&(text + "gone = 3\n\n# the last\n")).unwrap();
        let updated = golden.update(&[small(119, 122)]);
        for kept in ["# Medians", "= 119.5 # a half\n", "words=0\" = 300\n", "# the last\n"] {
            assert!(updated.contains(kept), "{kept} is not in\n{updated}");
        }
        assert!(!updated.contains("gone"), "{updated}");
    }

    #[test]
    fn every_difference_fails_and_says_how_to_mend_it() {
        assert_eq!(recorded().check(&[small(118, 122)]), []);
        expect![[r#"
            ping-pong: fastpath call across words=0: slower, recorded 118.5, measured 119.5;
            mend the regression, or run with --update-golden in a commit of its own that says
            why
            ping-pong: fastpath reply-wait across words=0: faster, recorded 122, measured
            121; record the improvement: run with --update-golden and commit the file
        "#]]
        .assert_eq(&folded(&messages(&recorded(), small(119, 121))));
        expect![[r#"
            ping-pong: fastpath pair across words=0: measured 300.5, over the limit of 300;
            make it faster: limits do not move
            ping-pong: fastpath call across words=0: slower, recorded 118.5, measured 178.5;
            mend the regression, or run with --update-golden in a commit of its own that says
            why
        "#]]
        .assert_eq(&folded(&messages(&recorded(), small(178, 122))));
        let mut renamed = small(118, 122);
        renamed.rows[0].kernel = "direct-lazy".into();
        expect![[r#"
            ping-pong: fastpath pair across words=0: not measured, but it has a limit of 300;
            measure it again, or correct the name under [limits.ping-pong]
            ping-pong: fastpath call across words=0: not measured, recorded 118.5; run all
            cases and kernels, or drop the figure with --update-golden in a commit of its own
            that says why
            ping-pong: direct-lazy call across words=0: not recorded, measured 118.5; run
            with --update-golden and commit the file
        "#]]
        .assert_eq(&folded(&messages(&recorded(), renamed)));
    }

    #[test]
    fn a_limit_may_be_met_exactly_and_may_name_a_fact() {
        let limits = "[limits.micro]\n\"kernel text\" = 41216\n\"fastpath yield\" = 130\n";
        let golden = parse(&parse(limits).unwrap().update(&[micro().0])).unwrap();
        assert_eq!(golden.check(&[micro().0]), []);
        let tight = parse(&limits.replace("41216", "41215")).unwrap();
        assert_eq!(parse(limits).unwrap().check_limits(&micro().0), []);
        let of_yield = |key: &str| key == "fastpath yield";
        assert_eq!(tight.check_limits_of(&micro().0, of_yield), []);
        assert_eq!(tight.check_limits(&micro().0).len(), 1);
        assert!(tight.check(&[micro().0]).iter().any(|d| d.limit && d.key == "kernel text"));
    }

    #[test]
    fn experiments_that_did_not_run_are_left_alone() {
        let golden = parse(&recorded().update(&[micro().0])).unwrap();
        assert_eq!(golden.check(&[micro().0]), []);
        assert_eq!(golden.check(&[]), []);
    }

    #[test]
    fn bad_files_are_refused_with_the_place() {
        let error = |text| parse(text).unwrap_err().to_string();
        let figure = error("[ping-pong]\n\"fastpath call\" = -3\n");
        assert!(figure.starts_with("[ping-pong] fastpath call: expected a count"), "{figure}");
        let table = error("[limits]\n\"fastpath pair\" = 300\n");
        assert!(table.starts_with("fastpath pair: expected tables"), "{table}");
        assert!(error("[ping-pong]\nfastpath call = 3\n").contains("line 2, column 10"));
        let missing = Golden::load(Path::new("/nowhere/golden.toml")).unwrap_err();
        let missing = format!("{missing:#}");
        assert!(missing.starts_with("/nowhere/golden.toml; write it with `giusto lab run"));
        assert!(missing.ends_with("No such file or directory (os error 2)"), "{missing}");
    }
}
