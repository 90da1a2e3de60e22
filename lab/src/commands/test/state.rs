//! What is kept between runs in the build directory: how long jobs take, and which of a deep run
//! are done.

use super::findings::Run;
use super::job::Job;
use crate::durations::{Durations, write};
use crate::workspace;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Where a file of this kind lies.
pub fn path(name: &str) -> PathBuf {
    workspace::build_directory().join("test").join(name)
}

/// How long jobs took when they last ran, by title.
pub fn durations() -> Durations {
    Durations::load(path("durations.json"))
}

/// How long a job will take about.
pub fn expected(durations: &Durations, job: &Job) -> f64 {
    durations.of(&job.title()).unwrap_or(job.seconds)
}

/// The jobs of a long run that passed, for one state of the source.
#[derive(Serialize, Deserialize)]
pub struct Progress {
    source: String,
    passed: Vec<Run>,
    #[serde(skip)]
    file: PathBuf,
}

impl Progress {
    /// What a file says of this state of the source, or a new beginning.
    pub fn load(file: &Path, source: &str, restart: bool) -> Progress {
        let text = fs::read_to_string(file).unwrap_or_default();
        let known = serde_json::from_str(&text).ok();
        let usable = |known: &Progress| known.source == source && !restart;
        let passed = known.filter(usable).map(|known| known.passed).unwrap_or_default();
        Progress { source: source.to_string(), passed, file: file.to_path_buf() }
    }

    /// How many jobs passed before.
    pub fn passed(&self) -> usize {
        self.passed.len()
    }

    /// The runs of those jobs that passed before, and the other jobs.
    pub fn split(&self, jobs: Vec<Job>) -> (Vec<Run>, Vec<Job>) {
        let before = |job: &Job| self.passed.iter().find(|run| run.title() == job.title());
        let (mut done, mut open) = (Vec::new(), Vec::new());
        for job in jobs {
            match before(&job) {
                Some(run) => done.push(run.clone()),
                None => open.push(job),
            }
        }
        (done, open)
    }

    /// Notes a job that ran; one that failed runs again. What cannot be written down is done again.
    pub fn note(&mut self, run: &Run) {
        if run.failure().is_none() {
            self.passed.push(run.clone());
            let text = serde_json::to_string(self).expect("runs have string keys");
            if let Err(error) = write(&self.file, &text) {
                eprintln!("this run could not be resumed: {error:#}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Group;
    use crate::commands::test::findings::Finding;

    fn run(name: &str, failure: Option<&str>) -> Run {
        let failure = failure.map(str::to_string);
        let findings = vec![Finding { check: name.to_string(), failure, broken: false }];
        let (group, name) = (Group::Search, name.to_string());
        Run { group, name, configuration: false, seconds: 4.0, findings }
    }

    fn jobs() -> Vec<Job> {
        ["a", "b", "c"].map(|name| Job::new(Group::Search, name, |_| Ok(()))).into()
    }

    #[test]
    fn a_run_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep.json");
        let mut first = Progress::load(&file, "commit 1", false);
        assert_eq!(first.split(jobs()).1.len(), 3);
        first.note(&run("a", None));
        first.note(&run("b", Some("no")));
        let names = |source: &str, restart: bool| {
            let (done, open) = Progress::load(&file, source, restart).split(jobs());
            let open: Vec<String> = open.into_iter().map(|job| job.name).collect();
            (done.len(), open.join(" "))
        };
        assert_eq!(names("commit 1", false), (1, "b c".to_string()), "what failed runs again");
        assert_eq!(names("commit 2", false), (0, "a b c".to_string()));
        assert_eq!(names("commit 1", true), (0, "a b c".to_string()));
        fs::write(&file, "spoilt").unwrap();
        assert_eq!(names("commit 1", false), (0, "a b c".to_string()));
    }

    #[test]
    fn what_took_long_is_expected_to_take_long() {
        let mut durations = Durations::default();
        let job = &jobs()[0];
        assert_eq!(expected(&durations, job), job.seconds);
        durations.note(job.title(), 4.0);
        assert_eq!(expected(&durations, job), 4.0);
    }
}
