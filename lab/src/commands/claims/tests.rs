use super::*;
use expect_test::expect;
use results::{Claim, Verdict};

fn shown(ids: &[&str], recorded: &[(&str, Verdict)], found: &[(&str, Verdict, &str)]) -> String {
    let mut record = Recorded::default();
    for (id, verdict) in recorded {
        record.record("twin", id, *verdict);
    }
    let mut report = crate::experiment::testing::report("twin", &[]);
    let claim = |(id, verdict, evidence): &(&str, Verdict, &str)| Claim {
        id: id.to_string(),
        statement: "Made up".to_string(),
        verdict: *verdict,
        evidence: evidence.to_string(),
        judged: Vec::new(),
    };
    report.claims = found.iter().map(claim).collect();
    let mut board = scoreboard::board(&[report], &record);
    board.retain(|line| ids.contains(&line.claim.id.as_str()));
    let text = show::text(&board, &["twin"], "0123");
    // Columns are narrower here than on a terminal.
    let narrow = |line: &str| {
        let words = line.split("  ").map(str::trim).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("  ") + "\n"
    };
    text.lines().map(narrow).collect()
}

#[test]
fn results_records_and_differences_are_told_apart() {
    use Verdict::{Contradicted, NotObservable, Reproduced};
    let text = shown(
        &["S0-C01", "S0-C04", "S0-C07", "S1-C02"],
        &[("S0-C04a", Reproduced), ("S0-C04b", Contradicted), ("S0-C07a", Reproduced)],
        &[
            ("S0-C01", NotObservable, "nothing to see"),
            ("S0-C04a", Reproduced, "as expected"),
            ("S0-C04b", Contradicted, "it was otherwise"),
        ],
    );
    expect![[r#"
        claim  ledger  twin
        The scheduling interface costs next to nothing.  S0-C01  not observable
        !
        Each optimisation is worth about a quarter of a  S0-C04  contradicted
        message, in a fixed order of kernels.  (1 of 2)
        Order of cost: fastpath < slowpath ~ direct-lazy ~  S0-C04a  reproduced
        ipc-* < strict-lazy and direct-eager < strict-eager
        Direct switching and lazy queueing are each worth  S0-C04b  contradicted
        roughly a quarter of a message, and together at
        least their sum
        Scanned and sorted send queues grow linearly, a heap  S0-C07  reproduced
        logarithmically.
        ipc-scan and ipc-ordered grow linearly with the  S0-C07a  reproduced *
        queue

        not observable on twin: The scheduling interface costs next to nothing (S0-C01)
        nothing to see

        contradicted on twin: Direct switching and lazy queueing are each worth roughly
        a quarter of a message, and together at least their sum (S0-C04b)
        it was otherwise

        not yet:
        Barriers explain that gap where they are dear (S1-C02)

        twin: 1 reproduced, 1 contradicted, 1 not observable, 1 not yet, of 4 claims
        *  as recorded in tests/claims.toml, without a result in this work tree; `--run`
        measures
        3 of 4 verdicts rest on results of another commit; `--run` measures again
        !  not observable on twin, but nothing is recorded: The scheduling interface
        costs next to nothing (S0-C01)
        !  `--update` records what was found, once it is understood
    "#]]
    .assert_eq(&text);
}

#[test]
fn the_whole_board_fits_eighty_columns() {
    let recorded = Recorded::load().unwrap();
    let board = scoreboard::board(&[], &recorded);
    let machines: Vec<&str> = MEASURED.iter().map(|machine| machine.name()).collect();
    let text = show::text(&board, &machines, "0123");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let lines = || text.lines();
    for claim in scoreboard::ledger() {
        assert!(lines().any(|line| line.contains(&claim.id)), "{}", claim.id);
    }
}

#[test]
fn a_claim_shows_its_settings_its_bands_and_its_verdicts() {
    let mut record = Recorded::default();
    record.record("native", "S1-C11", Verdict::NotObservable);
    record.record("twin", "S1-C11", Verdict::Contradicted);
    let mut report = crate::experiment::testing::report("twin", &[]);
    report.claims = vec![Claim {
        id: "S1-C11".to_string(),
        statement: "Made up".to_string(),
        verdict: Verdict::Reproduced,
        evidence: "it was so".to_string(),
        judged: vec![results::Judged {
            quantity: "throughput on 4 CPUs over that on 3, no think time".to_string(),
            value: 1.0123,
            unit: String::new(),
            bound: results::Bound::Below(1.05),
        }],
    }];
    let mut board = scoreboard::board(&[report], &record);
    board.retain(|line| line.claim.id == "S1-C11");
    let text = detail::text(&board);
    assert!(text.starts_with("Without think time"), "{text}");
    for part in [
        "experiment lock-scaling, S1-E04 of the ledger\n",
        "Cortex-A9",
        "below 1.05",
        "1.01",
        "  native: not observable, as recorded; no result here\n",
        "  twin: reproduced, recorded is contradicted\n    it was so\n",
    ] {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
}

#[test]
fn each_claim_fits_eighty_columns() {
    let board = scoreboard::board(&[], &Recorded::load().unwrap());
    for line in &board {
        let text = detail::text(std::slice::from_ref(line));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn ids_are_taken_leniently_and_typos_are_answered() {
    assert_eq!(known("s0-c05").unwrap(), "S0-C05");
    assert_eq!(known("S0-C05e").unwrap(), "S0-C05");
    let error = known("S0-C99").unwrap_err().to_string();
    assert!(error.contains("no claim `S0-C99`; did you mean `S0-C0"), "{error}");
}
