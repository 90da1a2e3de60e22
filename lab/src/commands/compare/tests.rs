use super::*;
use crate::cli::{Cli, Command, Lab};
use crate::machine::MACHINES;
use clap::Parser;
use expect_test::expect;

fn asked(words: &[&str]) -> Compare {
    let words = ["giusto", "lab", "compare"].iter().chain(words).copied();
    match Cli::try_parse_from(words).unwrap().command {
        Command::Lab(Lab::Compare(asked)) => asked,
        other => panic!("{other:?}"),
    }
}

fn samples(kernel: &str, rows: &[(&str, &str, &[u64])]) -> Samples {
    let mut samples = Samples::default();
    for (metric, case, values) in rows {
        samples.push(kernel, metric, case, values.to_vec());
    }
    samples
}

fn shown(a: &[&[(&str, &str, &[u64])]], b: &[&[(&str, &str, &[u64])]]) -> String {
    let asked = asked(&["direct-lazy", "strict-eager"]);
    let run = |(a, b): (&&[_], &&[_])| Run {
        a: samples("direct-lazy", a),
        b: samples("strict-eager", b),
    };
    let runs: Vec<Run> = std::iter::zip(a, b).map(run).collect();
    show::text(&judge("made-up", MACHINES[0], &asked, &runs))
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
        made-up on qemu-x86_64, instructions, 2 seeds
         mean     direct-lazy  strict-eager  difference       %  interval  effect
         call x           100           150         +50   +50.0     exact
         call y            10            10           =             exact
         reply x           10          20.5       +10.5  +105.0      ±6.4  large (+1.00)
        => direct-lazy is faster: strict-eager takes 45.40 % more
           (geometric mean of 3 cases, 95 % interval 31.13 to 61.23)
           strict-eager takes more in 2, less in 0,
           from +0.0 % (call y) to +105.0 % (reply x)
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
        made-up on qemu-x86_64, instructions, 1 seed
         mean    direct-lazy  strict-eager  difference      %  interval  effect
         call x          5.5           8.5          +3  +54.5  one seed
         call y            5             8          +3  +60.0     exact
        => direct-lazy is faster: strict-eager takes 57.25 % more
           (geometric mean of 2 cases, one seed)
           strict-eager takes more in 1, less in 0,
           from +54.5 % (call x) to +60.0 % (call y)
           1 case cannot be judged with one seed
    "#]]
    .assert_eq(&shown(&[a], &[b]));
}

#[test]
fn only_experiments_with_both_kernels_are_run() {
    let names = |words: &[&str]| {
        let chosen = chosen(&asked(words)).map_err(|error| error.to_string())?;
        Ok::<_, String>(chosen.into_iter().map(|experiment| experiment.name).collect::<Vec<_>>())
    };
    let all = names(&["direct-lazy", "ipc-heap"]).unwrap();
    assert!(["ping-pong", "hot-potato", "ipc-queueing"].iter().all(|name| all.contains(name)));
    let one = names(&["direct-lazy", "ipc-heap", "--experiment", "hot-potato"]).unwrap();
    assert_eq!(one, ["hot-potato"]);
    let refused = names(&["direct-lazy", "ipc-heap", "--machine", "twin", "--experiment", "micro"]);
    assert!(refused.unwrap_err().contains("does not run on twin"));
}
