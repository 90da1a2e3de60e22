use super::*;
use crate::cli::{Cli, Lab};
use crate::commands::Command;
use clap::Parser;
use expect_test::expect;

fn asked(words: &[&str]) -> Compare {
    let words = ["giusto", "lab", "compare"].iter().chain(words).copied();
    match Cli::try_parse_from(words).unwrap().command {
        Command::Lab(Lab::Compare(asked)) => asked,
        other => panic!("{other:?}"),
    }
}

type Series<'a> = (&'a str, &'a str, &'a [u64]);

fn samples(rows: &[Series]) -> Samples {
    let mut samples = Samples::default();
    for (metric, case, values) in rows {
        samples.push("", metric, case, values.to_vec());
    }
    samples
}

fn shown(a: &[&[Series]], b: &[&[Series]]) -> String {
    let run = |(a, b): (&&[_], &&[_])| Run { seed: 1, a: samples(a), b: samples(b) };
    let gathered = Gathered {
        experiment: "made-up".into(),
        machine: "bench".into(),
        unit: "instructions".into(),
        runs: std::iter::zip(a, b).map(run).collect(),
    };
    show::text(&judge(gathered, "direct-lazy", "strict-eager"))
}

#[test]
fn exact_and_varying_cases_stand_side_by_side() {
    let text = shown(
        &[
            &[("call", "x", &[100, 100]), ("reply", "x", &[9, 11]), ("call", "y", &[9, 11])],
            &[("call", "x", &[100, 100]), ("reply", "x", &[8, 12]), ("call", "y", &[8, 12])],
        ],
        &[
            &[("call", "x", &[150, 150]), ("reply", "x", &[19, 21]), ("call", "y", &[10, 10])],
            &[("call", "x", &[150, 150]), ("reply", "x", &[17, 25]), ("call", "y", &[12, 8])],
        ],
    );
    expect![[r#"
        made-up on bench, instructions, 2 seeds
        A: direct-lazy, B: strict-eager
         mean       A     B  B - A       %   +-  effect
         call x   100   150    +50   +50.0       exact
         call y    10    10      =               exact
         reply x   10  20.5  +10.5  +105.0  6.4  large (+1.00)
        => direct-lazy is faster: strict-eager takes 45.40 % more
           (geometric mean of 3 cases, 95 % interval 31.13 to 61.23)
           strict-eager takes more in 2, less in 0,
           from +0.0 % (call y)
           to +105.0 % (reply x)
    "#]]
    .assert_eq(&text);
}

#[test]
fn answers_are_told_apart() {
    let summary = |a: &[&[(&str, &str, &[u64])]], b: &[&[(&str, &str, &[u64])]]| {
        let text = shown(a, b);
        text.split_once("=> ").unwrap().1.to_string()
    };
    let one: &[(&str, &str, &[u64])] = &[("call", "x", &[5, 6])];
    let other: &[(&str, &str, &[u64])] = &[("call", "x", &[6, 6])];
    expect![[r#"
        direct-lazy and strict-eager are identical in every sample of 1 case
    "#]]
    .assert_eq(&summary(&[one], &[one]));
    expect![[r#"
        one seed cannot tell direct-lazy and strict-eager apart: their samples scatter
    "#]]
    .assert_eq(&summary(&[one], &[other]));
    expect![[r#"
        no significant difference between direct-lazy and strict-eager in 1 case
    "#]]
    .assert_eq(&summary(&[one, other, other], &[other, one, other]));
    expect![[r#"
        strict-eager is faster: direct-lazy takes 9.09 % more
           (geometric mean of 1 case, exact)
           strict-eager takes more in 0, less in 1
    "#]]
    .assert_eq(&summary(&[other, other], &[one, one]));
}

#[test]
fn one_seed_does_not_judge_what_scatters() {
    let a: &[(&str, &str, &[u64])] = &[("call", "x", &[5, 6]), ("call", "y", &[5, 5])];
    let b: &[(&str, &str, &[u64])] = &[("call", "x", &[8, 9]), ("call", "y", &[8, 8])];
    expect![[r#"
        made-up on bench, instructions, 1 seed
        A: direct-lazy, B: strict-eager
         mean      A    B  B - A      %  +-  effect
         call x  5.5  8.5     +3  +54.5      one seed
         call y    5    8     +3  +60.0      exact
        => direct-lazy is faster: strict-eager takes 57.25 % more
           (geometric mean of 2 cases, one seed)
           strict-eager takes more in 1, less in 0,
           from +54.5 % (call x)
           to +60.0 % (call y)
           1 case cannot be judged with one seed
    "#]]
    .assert_eq(&shown(&[a], &[b]));
}

#[test]
fn a_large_difference_that_is_lost_in_the_spread_is_explained() {
    let with = |last: [u64; 2]| [vec![400; 98], last.to_vec()].concat();
    let (a, other, b) = (with([400, 20_000]), with([401, 20_000]), with([400, 4_000]));
    let one = |samples| [("late", "x", samples)];
    let (first, third, second) = (&one(&*a)[..], &one(&*other)[..], &one(&*b)[..]);
    let text = shown(&[first, third, first], &[second, second, second]);
    expect![[r#"
        made-up on bench, instructions, 3 seeds
        A: direct-lazy, B: strict-eager
         mean        A    B   B - A      %   +-  effect
         late x  596.0  436  -160.0  -26.8  0.0  negligible (-0.00)
           late x: -26.8 % is negligible beside the spread: single samples scatter by
             1409.1, and |-0.00| is below 0.147
        => strict-eager is faster: direct-lazy takes 36.70 % more
           (geometric mean of 1 case, 95 % interval 36.69 to 36.70)
           strict-eager takes more in 0, less in 1
    "#]]
    .assert_eq(&text);
}

#[test]
fn only_experiments_with_both_sides_are_run() {
    let names = |words: &[&str]| {
        let asked = asked(words);
        let chosen = Sides::of(&asked.a, &asked.b).and_then(|s| gather::chosen(&s, &asked));
        let chosen = chosen.map_err(|error| error.to_string())?;
        Ok::<_, String>(chosen.iter().map(|listed| listed.experiment().name).collect::<Vec<_>>())
    };
    let all = names(&["direct-lazy", "ipc-heap"]).unwrap();
    assert!(["ping-pong", "hot-potato", "ipc-queueing"].iter().all(|name| all.contains(name)));
    let one = names(&["direct-lazy", "ipc-heap", "--experiment", "hot-potato"]).unwrap();
    assert_eq!(one, ["hot-potato"]);
    let refused = names(&["direct-lazy", "ipc-heap", "--machine", "twin", "--experiment", "micro"]);
    assert!(refused.unwrap_err().contains("does not run on twin"));
    assert_eq!(names(&["big", "fine"]).unwrap(), ["lock-cost", "lock-scaling"]);
    let refused = names(&["big", "fine", "--experiment", "micro"]).unwrap_err();
    assert!(refused.contains("`micro` does not run with big and fine; these do"), "{refused}");
}

#[test]
fn a_case_that_names_a_locking_belongs_to_its_side() {
    let mut all = Samples::default();
    all.push("fastpath", "message", "locking=big cpus=2", vec![1]);
    all.push("fastpath", "message", "locking=fine cpus=2", vec![2]);
    let own = gather::of_locking(&all, "fine");
    assert_eq!((own.series.len(), &*own.series[0].case), (1, "cpus=2"));
}
