use super::*;
use crate::accounts::Account;
use crate::cli::Cli;
use crate::commands::Command;
use crate::failure::Usage;
use clap::Parser;

fn asked(words: &str) -> cli::Run {
    let words = ["giusto", "run"].into_iter().chain(words.split_whitespace());
    match Cli::try_parse_from(words).unwrap().command {
        Command::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

fn system(name: &str) -> System {
    crate::systems::load(name).unwrap()
}

/// What a run leaves in which flight control and vision took so long.
fn accounts(flight: u64, vision: u64) -> Accounts {
    let account = |(name, worst_ns, bound): (&str, u64, u64)| Account {
        name: name.to_string(),
        is_leaf: true,
        service_ns: 0,
        overruns: None,
        jobs: 1,
        missed: Some(0),
        worst_ns,
        latest_ns: 0,
        bound_ns: Some(bound),
        unless: None,
        overrun: None,
        miss: None,
    };
    let all = [("flight", flight, 500_000), ("vision", vision, 8_000_000)];
    Accounts { now_ns: 1, reservations: all.map(account).into() }
}

#[test]
fn every_run_has_the_next_seed_and_one_response_for_each_task() {
    let run = asked("mixed-criticality --machine twin --seed 7 --runs 4");
    let (mut seeds, system) = (Vec::new(), system("mixed-criticality"));
    let all = collect(&run, (&system, Some(7)), &accounts(400_000, 6_000_000), |seed| {
        seeds.push(seed);
        Ok(Some(accounts(400_000 + seed * 10_000, 6_000_000)))
    });
    let all = all.unwrap().expect("it is asked for");
    assert_eq!(seeds, [8, 9, 10]);
    assert_eq!(all.tasks[0].longest, [400_000, 480_000, 490_000, 500_000]);
    assert_eq!(all.tasks[1].longest, [6_000_000; 4]);
    assert!(!all.exceed());
    let document = all.document();
    assert_eq!((&document["runs"], &document["first_seed"]), (&json!(4), &json!(7)));
    assert_eq!(document["tasks"][0]["median_ns"], 480_000);
}

#[test]
fn a_bound_that_a_later_run_exceeds_is_told_with_its_seed() {
    let run = asked("mixed-criticality --icount --runs 2");
    let later = accounts(500_001, 6_000_000);
    let mut later = Some(later);
    let first = accounts(500_000, 6_000_000);
    let system = system("mixed-criticality");
    let all = collect(&run, (&system, Some(1)), &first, |_| Ok(later.take())).unwrap().unwrap();
    assert!(all.exceed());
    let said = all.exceeded(&all.tasks[0]);
    assert_eq!(said, "flight: a job took 501us, and by the analysis 500us at most, with --seed 2");
}

#[test]
fn an_interrupt_keeps_what_there_is() {
    let run = asked("mixed-criticality --icount --runs 9");
    let (first, system) = (accounts(1, 2), system("mixed-criticality"));
    let all = collect(&run, (&system, Some(1)), &first, |_| Ok(None)).unwrap().unwrap();
    assert_eq!(all.runs(), 1);
    let none = collect(&asked("hello"), (&system, None), &first, |_| panic!("it runs again"));
    assert!(none.unwrap().is_none());
}

#[test]
fn what_cannot_be_drawn_is_refused_before_anything_is_built() {
    for (words, repeatable, why) in [
        ("hello --icount --plot x.svg", true, "of which hello has none"),
        ("mixed-criticality --runs 3", false, "--icount"),
    ] {
        let run = asked(words);
        let error = refuse(&run, &system(&run.system), repeatable).unwrap_err();
        assert!(error.is::<Usage>() && error.to_string().contains(why), "{error}");
    }
    for (words, repeatable) in
        [("hello", false), ("mixed-criticality --plot x.svg", false), ("overload --runs 2", true)]
    {
        let run = asked(words);
        refuse(&run, &system(&run.system), repeatable).unwrap();
    }
}
