//! Whether what the demo measured is what the repository records.

use crate::commands::lab::{golden_path, is_whole};
use crate::experiment;
use crate::machine::Outcome;
use crate::scoreboard::Recorded;
use anyhow::Result;
use results::{Deviation, Golden, Limit, Report};

/// By how many percent a median may be off what is recorded: another version of the emulator
/// counts a few instructions of its devices differently.
const NEAR: f64 = 5.0;

/// Checks of the self-test that failed; what else ended it, if it ended in another way.
pub fn failed_checks(outcome: &Outcome) -> Vec<String> {
    let Some(failure) = outcome.failure() else { return Vec::new() };
    let failed = outcome.console.lines().filter_map(|line| line.strip_prefix("FAILED "));
    let failed: Vec<String> = failed.map(|check| format!("self-test: {check}")).collect();
    if failed.is_empty() { vec![format!("self-test: {failure}")] } else { failed }
}

/// What does not hold, a sentence each.
pub fn reasons(reports: &[Report]) -> Result<Vec<String>> {
    let (golden, recorded) = (Golden::load(&golden_path())?, Recorded::load()?);
    Ok(reports.iter().flat_map(|report| of(report, &golden, &recorded)).collect())
}

fn of(report: &Report, golden: &Golden, recorded: &Recorded) -> Vec<String> {
    let name = &report.experiment;
    let missed = report.limits.iter().filter(|limit| !limit.held());
    let mut reasons: Vec<String> =
        missed.map(|limit: &Limit| format!("{name}: {}", limit.sentence())).collect();
    let Some(experiment) = experiment::find(name) else {
        reasons.push(format!("there is no experiment `{name}`"));
        return reasons;
    };
    let is_whole = is_whole(experiment, report);
    let mut differing = match experiment.golden && is_whole {
        true => golden.check(std::slice::from_ref(report)),
        false => golden.check_limits(report),
    };
    // What was not to be measured cannot be missed.
    differing.retain(|deviation| !is_near(deviation) && (is_whole || deviation.measured.is_some()));
    reasons.extend(differing.iter().map(ToString::to_string));
    // A claim compares kernels: a part of them decides nothing.
    for claim in report.claims.iter().filter(|_| is_whole) {
        let before = recorded.verdict(&report.machine, &claim.id);
        if before != Some(claim.verdict) {
            let (id, verdict) = (&claim.id, claim.verdict.name());
            let before = before.map_or("nothing", |verdict| verdict.name());
            reasons.push(format!("{id} is {verdict}, recorded is {before}: {}", claim.evidence));
        }
    }
    reasons
}

/// Whether a median differs from the recorded one by little; a limit has no room.
fn is_near(deviation: &Deviation) -> bool {
    let (Some(recorded), Some(measured)) = (deviation.recorded, deviation.measured) else {
        return false;
    };
    let (recorded, measured) = (recorded.as_f64(), measured.as_f64());
    !deviation.limit && (measured - recorded).abs() <= recorded * NEAR / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::testing::report;
    use crate::machine::Exit;
    use results::{Claim, Verdict};

    fn reasons_of(report: &Report, golden: &str) -> Vec<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), golden).unwrap();
        let mut recorded = Recorded::default();
        recorded.record("qemu-x86_64", "S0-C01", Verdict::Reproduced);
        of(report, &Golden::load(file.path()).unwrap(), &recorded)
    }

    /// A whole run of `micro` with a row, which has a claim and a limit of its own.
    fn micro(value: u64, verdict: Verdict, bound: f64) -> Report {
        let rows = [("fastpath", "yield", "", value), ("slowpath", "yield", "", 250)];
        let mut report = report("qemu-x86_64", &rows);
        report.experiment = "micro".to_string();
        report.claims.push(Claim {
            id: "S0-C01".to_string(),
            statement: "made up".to_string(),
            verdict,
            evidence: "because".to_string(),
            judged: Vec::new(),
        });
        report.limits.push(Limit {
            name: "made up".to_string(),
            value: 7.0,
            bound,
            least: false,
            unit: "ticks".to_string(),
        });
        report
    }

    const RECORDED: &str = "[limits.micro]\n\"fastpath yield\" = 300\n\
                            [micro]\n\"fastpath yield\" = 250\n\"slowpath yield\" = 250\n";

    #[test]
    fn what_holds_has_no_reasons() {
        for value in [250, 262, 238] {
            let near = micro(value, Verdict::Reproduced, 7.0);
            assert_eq!(reasons_of(&near, RECORDED), Vec::<String>::new(), "{value}");
        }
    }

    #[test]
    fn each_kind_of_failure_is_a_reason() {
        let only = |report: &Report, golden: &str, says: &str| {
            let found = reasons_of(report, golden);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(says), "{found:?}");
        };
        let held = Verdict::Reproduced;
        only(&micro(250, held, 6.0), RECORDED, "at most 6: NOT HELD");
        only(&micro(270, held, 7.0), RECORDED, "slower, recorded 250, measured 270");
        only(&micro(250, held, 7.0), &RECORDED.replace("300", "249"), "over the limit of 249");
        only(&micro(250, Verdict::Contradicted, 7.0), RECORDED, "recorded is reproduced: because");
        let more = RECORDED.to_string() + "\"fastpath map\" = 503\n";
        only(&micro(250, held, 7.0), &more, "not measured, recorded 503");
    }

    #[test]
    fn a_self_test_that_fails_is_a_reason() {
        let ended = |exit, console| failed_checks(&Outcome::made_up(exit, console));
        assert_eq!(ended(Exit::Done(0), "ok a\n1 passed, 0 failed\n"), Vec::<String>::new());
        let one = ended(Exit::Done(1), "ok a\nFAILED b: no\n1 passed, 1 failed\n");
        assert_eq!(one, ["self-test: b: no"]);
        assert!(ended(Exit::Panic, "ok a\n")[0].starts_with("self-test: the kernel panicked"));
    }

    #[test]
    fn a_part_of_the_kernels_decides_no_claim() {
        let mut part = micro(250, Verdict::Contradicted, 7.0);
        part.experiment = "ping-pong".to_string();
        assert_eq!(reasons_of(&part, ""), Vec::<String>::new());
    }
}
