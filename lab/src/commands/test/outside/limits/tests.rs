use super::*;
use crate::accounts::tests::TWO;
use crate::commands::test::outside::file::File;
use crate::restarts::Restart;

/// A domain with a heartbeat.
const BEATER: &str = r#"
    [[domain]]
    name = "beater"
    program = "pulse"
    priority = 1
    restart = "on-failure"
    heartbeat = "20ms"
"#;

/// A system with reservations and a heartbeat.
fn system() -> System {
    manifest::parse("two.toml", &format!("{TWO}{BEATER}")).unwrap()
}

fn limits(text: &str) -> Result<Vec<Limit>> {
    let text = format!("[[test]]\nname = \"x\"\n{text}\n");
    let source = Source { name: "tests.toml".to_string(), text: text.clone() };
    let file: File = toml::from_str(&text)?;
    let each = file.test[0].figures().map(|one| read(one, &system(), &source));
    Ok(each.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Why limits cannot be read.
fn wrong(text: &str) -> String {
    limits(text).unwrap_err().to_string()
}

fn account() -> Account {
    Account {
        name: "task".to_string(),
        is_leaf: true,
        service_ns: 20_000_000,
        overruns: Some(3),
        jobs: 7,
        missed: Some(2),
        worst_ns: 6_100_000,
        latest_ns: 1_100_000,
        bound_ns: None,
        unless: None,
        overrun: None,
        miss: None,
    }
}

fn silence(seen: u64) -> Restart {
    Restart {
        domain: "beater".to_string(),
        event: "restarted",
        what: String::new(),
        at: Vec::new(),
        seen,
        took: 0,
        is_silence: true,
    }
}

/// What a run with that account and two missed heartbeats says to limits.
fn judged(text: &str) -> Result<(), String> {
    let accounts = Accounts { now_ns: 80_000_000, reservations: vec![account()] };
    let latest = vec![silence(52_000_000), silence(90_000_000)];
    let restarts = Restarts { count: 2, latest, ..Restarts::default() };
    let system = system();
    let evidence =
        Evidence { system: &system, accounts: &accounts, restarts: &restarts, trace: None };
    let limits = limits(text).unwrap();
    assert!(!limits.is_empty());
    let all = limits.iter().try_for_each(|limit| limit.judge(&evidence));
    all.map_err(|error| error.to_string())
}

#[test]
fn limits_are_for_all_or_by_name() {
    let all = &limits("latency = \"50us\"").unwrap()[0];
    assert_eq!((all.name.as_deref(), all.most.as_ref().unwrap().value), (None, 50_000));
    assert_eq!(all.tracing().as_deref(), Some(" --auto 50us"));
    let each = &limits("latency = { task = \"1ms\" }").unwrap()[0];
    assert_eq!((each.name.as_deref(), each.workers(&system())), (Some("task"), Some(vec!["task"])));
    assert!(each.least.is_none() && each.is_traced());
    let windows = &limits("budgets = { task = { least = \"1ms in 5ms\" } }").unwrap()[0];
    assert_eq!(windows.least.as_ref().unwrap().window, Some(5_000_000));
    assert!(windows.is_traced() && windows.tracing().is_none());
    assert!(!limits("budgets = { task = \"1ms\" }").unwrap()[0].is_traced());
    assert_eq!(limits("misses = { task = 0 }").unwrap()[0].workers(&system()), Some(vec!["task"]));
    assert_eq!(limits("jobs = { task = 9 }").unwrap()[0].workers(&system()), None);
}

#[test]
fn what_is_no_limit_is_told_at_its_line() {
    let said = wrong("latency = \"soon\"");
    assert!(said.contains("`latency`: \"soon\" is not an amount such as \"50us\""), "{said}");
    assert!(said.contains("tests.toml:3:11"), "{said}");
    let said = wrong("latency = { taks = \"1ms\" }");
    assert!(said.contains("no domain is called `taks`; did you mean `task`?"), "{said}");
    for (text, why) in [
        ("misses = { class = 0 }", "no reservation `class` has a deadline"),
        ("overruns = { class = 0 }", "no reservation `class` has a budget"),
        ("response = { class = \"1ms\" }", "no reservation `class` has jobs"),
        ("budgets = { clas = \"1ms\" }", "no reservation `clas` has that name; did you mean"),
        ("budgets = { task = \"1 %\" }", "is not an amount such as \"50us\", \"25%\" or"),
        ("heartbeats = { task = 0 }", "domain `task` has no heartbeat"),
        ("misses = { task = -1 }", "-1 is not an amount such as 10"),
        ("budgets = { task = \"1ms in\" }", "is not an amount"),
        ("response = { task = \"1ms in 2ms\" }", "is not an amount"),
        ("misses = 3", "3 is of no name"),
        ("misses = { task = { last = 3 } }", "`last` is neither `least` nor `most`"),
    ] {
        let said = wrong(text);
        assert!(said.contains(why), "{text}: {said}");
    }
}

#[test]
fn each_figure_holds_up_to_its_limit_and_not_beyond() {
    for (holds, fails, told) in [
        ("misses = { task = 2 }", "misses = { task = 1 }", "2 jobs of `task` were late, one by"),
        ("late = { task = 2 }", "late = { task = 1 }", "`misses` is to be at most 1: 2 jobs"),
        ("overruns = { task = 3 }", "overruns = { task = 2 }", "used its budget up 3 times"),
        ("response = { task = \"6100us\" }", "response = { task = \"6ms\" }", "took 6100us, in a"),
        ("jobs = { task = { least = 7 } }", "jobs = { task = { least = 8 } }", "7 jobs of `task`"),
        (
            "budgets = { task = \"20ms\" }",
            "budgets = { task = \"19ms\" }",
            "had 20ms, 25%, in a run",
        ),
        ("budgets = { task = \"25%\" }", "budgets = { task = \"24.9%\" }", "of 80ms"),
        (
            "budgets = { task = { least = \"20ms\", most = \"25%\" } }",
            "budgets = { task = { least = \"21ms\", most = \"25%\" } }",
            "`budgets` is to be at least 21ms: `task` had 20ms",
        ),
        (
            "heartbeats = { beater = 2 }",
            "heartbeats = { beater = 1 }",
            "missed 2, the first by 52ms",
        ),
    ] {
        assert_eq!(judged(holds), Ok(()), "{holds}");
        let said = judged(fails).unwrap_err();
        assert!(said.contains(told), "{fails}: {said}");
    }
}

#[test]
fn what_was_not_measured_does_not_hold() {
    let system = system();
    let (accounts, restarts) = (Accounts::default(), Restarts::default());
    let evidence =
        Evidence { system: &system, accounts: &accounts, restarts: &restarts, trace: None };
    for (text, why) in [
        ("misses = { task = 9 }", "nothing is known of `task`"),
        ("latency = \"1s\"", "the run ended without a trace"),
        ("budgets = { task = \"1ms in 5ms\" }", "the run ended without a trace"),
    ] {
        let said = limits(text).unwrap()[0].judge(&evidence).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    }
    let never = Account { jobs: 0, missed: Some(0), ..account() };
    let said = accounted(Figure::Response, &never, 1).err().unwrap().to_string();
    assert_eq!(said, "no job of `task` has ended");
    let lost = Restarts { count: 300, ..Restarts::default() };
    assert!(heartbeats("beater", &lost).is_err());
}
