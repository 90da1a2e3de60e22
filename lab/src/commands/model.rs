//! `lab model`: what queueing models say.

mod curves;
mod draw;
mod points;
mod show;
mod units;

use super::print_json;
use crate::cli::model::{Model, Repairman as Asked, Shape};
use crate::failure::{Verdict, usage};
use crate::output;
use crate::workspace;
use anyhow::Result;
use curves::Curves;
use fs_err as fs;
use model::{Distribution, Fit, ModelError, Point};
use units::Units;

/// Does what the command line says.
pub fn model(asked: &Model, as_json: bool) -> Result<Verdict> {
    match asked {
        Model::Repairman(asked) => repairman(asked, as_json),
    }
}

fn repairman(asked: &Asked, as_json: bool) -> Result<Verdict> {
    let Answer { units, fits, curves } = answer(asked)?;
    if let Some(path) = &asked.plot {
        let svg = draw::svg(&curves, &units)?;
        fs::write(path, svg)?;
    }
    if as_json {
        print_json(&show::json(&curves, &fits, &units));
    } else {
        output::line(show::text(&curves, &fits, &units).trim_end());
        if let Some(path) = &asked.plot {
            output::line(format_args!("\nplot: {}", workspace::shown(path)));
        }
    }
    Ok(Verdict::Held)
}

/// All that is to be shown.
struct Answer {
    units: Units,
    fits: Vec<Fit>,
    curves: Curves,
}

fn answer(asked: &Asked) -> Result<Answer> {
    let units = Units::of(asked)?;
    let points = match &asked.fit {
        Some(path) => points::read(path, &units)?,
        None => Vec::new(),
    };
    let fits = distributions(asked.distribution)
        .filter(|_| asked.fit.is_some())
        .map(|distribution| fitted(&points, distribution))
        .collect::<Result<Vec<Fit>>>()?;
    let curves = Curves::of(asked, &units, &fits, &points)?;
    Ok(Answer { units, fits, curves })
}

/// The distributions that a shape stands for.
fn distributions(shape: Shape) -> impl Iterator<Item = Distribution> {
    let wanted = move |distribution: &Distribution| match shape {
        Shape::Exponential => *distribution == Distribution::Exponential,
        Shape::Deterministic => *distribution == Distribution::Deterministic,
        Shape::Both => true,
    };
    [Distribution::Exponential, Distribution::Deterministic].into_iter().filter(wanted)
}

/// The fit. Points that do not tell the parameters apart are a failure, all else wrong usage.
fn fitted(points: &[Point], distribution: Distribution) -> Result<Fit> {
    model::fit(points, distribution).map_err(|error| match error {
        ModelError::Undetermined => anyhow::Error::new(error),
        other => usage(other.to_string()),
    })
}

/// What the model refuses was asked for wrongly.
fn refused(error: ModelError) -> anyhow::Error {
    usage(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Lab};
    use crate::commands::Command;
    use crate::machine::topologies::TOPOLOGIES;
    use clap::Parser;
    use std::path::Path;

    /// What the command line says, or clap's objection.
    fn parsed(words: &str) -> Result<Asked, String> {
        let words = "giusto lab model repairman".split(' ').chain(words.split(' '));
        let cli = Cli::try_parse_from(words).map_err(|error| error.to_string())?;
        match cli.command {
            Command::Lab(Lab::Model(Model::Repairman(asked))) => Ok(asked),
            other => Err(format!("{other:?}")),
        }
    }

    fn text(words: &str) -> String {
        let Answer { units, fits, curves } = answer(&parsed(words).unwrap()).unwrap();
        let text = show::text(&curves, &fits, &units);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "too wide: {line}");
        }
        text
    }

    /// What is wrong, from either place, and the exit status.
    fn refusal(words: &str) -> (String, std::process::ExitCode) {
        let error = match parsed(words) {
            Err(message) => usage(message),
            Ok(asked) => match answer(&asked) {
                Ok(_) => panic!("{words} is taken"),
                Err(error) => error,
            },
        };
        (error.to_string(), crate::failure::exit_code(&error))
    }

    fn file(directory: &Path, name: &str, text: &str) -> String {
        let path = directory.join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    #[test]
    fn the_papers_figures_are_on_the_terminal() {
        let text = text("--service 358 --think 500,4000 --cpus 1..28 --hz 2GHz");
        for figure in ["5.587", "5.081", "12.2", "5,080,895", "5,296,703"] {
            assert!(text.contains(figure), "{figure} is missing:\n{text}");
        }
        assert!(!text.contains("P_0"), "states are for one number of CPUs");
    }

    #[test]
    fn every_form_fits_eighty_columns() {
        let single = text("--service 358.25 --think 12345.5 --cpus 1024 --simulate");
        assert!(single.contains("P_1024") || single.contains("P_10"), "{single}");
        let sockets = TOPOLOGIES[0].name;
        let words = format!("--service 1ns --think 1s --cpus 1,28 --topology {sockets} --hz 1e9");
        let cheap = text(&(words + " --simulate"));
        assert!(cheap.contains("28.0") && cheap.contains("hand-offs on"), "{cheap}");
        let unknown = text("--service 1 --think 1000000 --cpus 1..3 --topology arm --hold 0.5");
        assert!(unknown.contains("per 1,000 cycles"), "{unknown}");
    }

    #[test]
    fn a_fit_predicts_other_delays() {
        let directory = tempfile::tempdir().unwrap();
        let points = "cpus,throughput\n1,848000\n2,1658000\n4,3118000\n7,4703000\n10,5411000\n\
                      14,5580000\n";
        let path = file(directory.path(), "p.csv", points);
        let words = format!("--fit {path} --hz 2GHz --predict 4000 --distribution exponential");
        let text = text(&words);
        for figure in ["s = 357.98 ±0.035", "a = 2000.1 ±0.43", "r^2 = 1.000000", "5.081"] {
            assert!(text.contains(figure), "{figure} is missing:\n{text}");
        }
    }

    #[test]
    fn the_plot_has_all_that_was_asked_for() {
        let directory = tempfile::tempdir().unwrap();
        let points = "cpus,throughput,think\n1,2.2e-3,0\n2,3e-3,0\n4,3.1e-3,0\n8,3e-3,500\n";
        let path = file(directory.path(), "p.csv", points);
        let plot = directory.path().join("p.svg").display().to_string();
        let words = format!("--fit {path} --predict 900 --simulate --cpus 1..9 --plot {plot}");
        let Answer { units, curves, .. } = answer(&parsed(&words).unwrap()).unwrap();
        let svg = draw::svg(&curves, &units).unwrap();
        let names = ["measured", "exponential", "deterministic", "simulated", "asymptotes, knee"];
        for name in names.into_iter().chain(["delay = 0", "delay = 500", "delay = 900", "N* "]) {
            assert!(svg.contains(name), "{name} is missing");
        }
    }

    #[test]
    fn every_mistake_has_one_clear_sentence() {
        let good = "--service 358 --think 4000 --cpus";
        let usage = format!("{:?}", std::process::ExitCode::from(2));
        for (words, what) in [
            (format!("{good} 0"), "from 1 to 1024"),
            (format!("{good} 9..1"), "9..1 is empty"),
            (format!("{good} -3"), "from 1 to 1024"),
            (format!("{good} many"), "from 1 to 1024"),
            (format!("{good} 1 --hz 0"), "rate above zero"),
            (format!("{good} 1 --topology vax"), "[possible values: "),
            (
                format!("{good} 29 --topology {}", TOPOLOGIES[0].name),
                "has no 29 CPUs, it is 2 sockets of 14",
            ),
            (format!("{good} 1 --hold 9"), "--topology"),
            (format!("{good} 1 --predict 9"), "cannot be used with"),
            (format!("{good} 1 --fit f.csv"), "cannot be used with"),
            ("--think 4000 --cpus 1".into(), "--service"),
            ("--service 0 --think 4000 --cpus 1".into(), "time above zero"),
            ("--service -5 --think 4000 --cpus 1".into(), "time above zero"),
            ("--service 358 --think soon --cpus 1".into(), "time above zero"),
            ("--service 358 --think 2us --cpus 1".into(), "--hz 2GHz"),
            ("--service 1 --think 1e10 --cpus 1".into(), "s/a must be from"),
            ("--predict 9".into(), "--fit"),
            ("--fit /nowhere.csv".into(), "cannot read /nowhere.csv"),
        ] {
            let (message, code) = refusal(&words);
            assert!(message.contains(what), "{words}: {message}");
            assert_eq!(format!("{code:?}"), usage, "{words}");
        }
    }

    #[test]
    fn points_that_tell_nothing_fail_the_check() {
        let directory = tempfile::tempdir().unwrap();
        let same = file(directory.path(), "p.csv", "cpus,throughput\n4,0.1\n4,0.1\n4,0.1\n");
        let (message, code) = refusal(&format!("--fit {same}"));
        assert!(message.contains("do not tell s from a"), "{message}");
        assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::from(1)));
        let empty = file(directory.path(), "e.csv", "");
        let (message, _) = refusal(&format!("--fit {empty}"));
        assert!(message.contains("e.csv:1: the file is empty"), "{message}");
    }
}
