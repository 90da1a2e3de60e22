//! The files of a run.

use crate::{Report, Samples, charts, page};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const RESULT: &str = "result.json";
/// It, while it is written.
const DRAFT: &str = "result.draft";
const SAMPLES: &str = "samples.csv";

/// Writes `samples.csv`, the charts, `report.html` and `result.json` into a directory, which it
/// creates. The last appears when all are whole: a directory without it is of no run.
pub fn write_run(dir: &Path, report: &Report, samples: &Samples) -> io::Result<()> {
    create(dir)?;
    write(dir.join(SAMPLES), samples.to_csv()?)?;
    let charts = charts::charts(report, Some(samples));
    for chart in &charts {
        write(dir.join(format!("{}.svg", chart.name)), chart.svg()?)?;
    }
    write(dir.join("report.html"), page::report(report, &charts)?)?;
    let (draft, result) = (dir.join(DRAFT), dir.join(RESULT));
    write(draft.clone(), report.to_json())?;
    fs::rename(&draft, &result).map_err(|error| at(&result, &error))
}

/// The report of a run.
pub fn read_report(dir: &Path) -> io::Result<Report> {
    let path = dir.join(RESULT);
    let json = fs::read_to_string(&path).map_err(|error| at(&path, &error))?;
    Report::from_json(&json).map_err(|error| at(&path, &error.into()))
}

/// The samples of a run; none if it has left none.
pub fn read_samples(dir: &Path) -> io::Result<Samples> {
    let path = dir.join(SAMPLES);
    match fs::read(&path) {
        Ok(csv) => Samples::from_csv(&csv).map_err(|error| at(&path, &error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Samples::default()),
        Err(error) => Err(at(&path, &error)),
    }
}

/// Writes `index.html`, one page with several reports and their samples, into a directory, which
/// it creates.
pub fn write_index(dir: &Path, runs: &[(Report, Samples)]) -> io::Result<()> {
    create(dir)?;
    write(dir.join("index.html"), page::index(runs)?)
}

fn create(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir).map_err(|error| at(dir, &error))
}

fn write(path: PathBuf, content: impl AsRef<[u8]>) -> io::Result<()> {
    fs::write(&path, content).map_err(|error| at(&path, &error))
}

/// The error with the path that it concerns.
fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{micro, ping_pong};

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_run_leaves_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("ping-pong/1");
        let (report, samples) = ping_pong();
        write_run(&dir, &report, &samples).unwrap();
        expect_test::expect![[r#"
            [
                "medians.svg",
                "report.html",
                "result.json",
                "samples.csv",
                "words-call.svg",
                "words-pair.svg",
                "words-reply-wait.svg",
            ]
        "#]]
        .assert_debug_eq(&names(&dir));
        let json = fs::read_to_string(dir.join("result.json")).unwrap();
        assert_eq!(Report::from_json(&json).unwrap(), report);
        let csv = fs::read_to_string(dir.join("samples.csv")).unwrap();
        assert_eq!(csv.lines().count(), 1 + 48 * 1000);
        assert_eq!(read_samples(&dir).unwrap(), samples);
    }

    #[test]
    fn a_run_that_is_not_whole_has_no_result() {
        let dir = tempfile::tempdir().unwrap();
        // What stands in the way ends it behind the first files, as a killed command does.
        fs::create_dir(dir.path().join("report.html")).unwrap();
        let (report, samples) = ping_pong();
        write_run(dir.path(), &report, &samples).unwrap_err();
        assert!(names(dir.path()).contains(&"samples.csv".to_string()));
        assert_eq!(read_report(dir.path()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn errors_name_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("taken");
        fs::write(&file, "").unwrap();
        let (report, samples) = micro();
        let error = write_run(&file, &report, &samples).unwrap_err();
        assert!(error.to_string().contains("taken: "), "{error}");
    }

    #[test]
    fn pages_refer_to_nothing_outside() {
        let dir = tempfile::tempdir().unwrap();
        let (report, samples) = ping_pong();
        write_run(dir.path(), &report, &samples).unwrap();
        write_index(dir.path(), &[(report, samples), micro()]).unwrap();
        for name in ["report.html", "index.html"] {
            let page = fs::read_to_string(dir.path().join(name)).unwrap();
            for reference in ["http:", "https:", "src=", "url(", "@import", "<link"] {
                assert!(!page.contains(reference), "{name} contains {reference}");
            }
        }
    }
}
