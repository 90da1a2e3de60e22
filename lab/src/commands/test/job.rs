//! What the list of checks consists of: jobs, each of which runs by itself.

use super::builds::Builds;
use super::findings::Findings;
use crate::cli::{self, Group};
use anyhow::Result;
use std::fmt;

/// When a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// With `--quick` already.
    Quick,
    /// Unless less is asked for.
    Usual,
    /// With `--deep`.
    Deep,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Class::Quick => "quick",
            Class::Usual => "usual",
            Class::Deep => "deep",
        })
    }
}

/// What a job does: it records findings, or fails as a whole.
pub type Work = Box<dyn FnOnce(&mut Findings) -> Result<()> + Send>;

/// One line of the list.
pub struct Job {
    /// Its group.
    pub group: Group,
    /// Its name.
    pub name: String,
    /// When it runs.
    pub class: Class,
    /// What it builds before it runs.
    pub builds: Builds,
    /// Whether it runs a system, so that its name is a configuration.
    pub configuration: bool,
    /// Whether no other job may run beside it.
    pub alone: bool,
    /// Seconds that it takes about, unless an earlier run says better.
    pub seconds: f64,
    work: Work,
}

impl Job {
    /// A job of the usual class that builds nothing.
    pub fn new(
        group: Group,
        name: impl Into<String>,
        work: impl FnOnce(&mut Findings) -> Result<()> + Send + 'static,
    ) -> Job {
        Job {
            group,
            name: name.into(),
            class: Class::Usual,
            builds: Builds::Nothing,
            configuration: false,
            alone: false,
            seconds: 2.0,
            work: Box::new(work),
        }
    }

    /// The same in a class.
    pub fn class(self, class: Class) -> Job {
        Job { class, ..self }
    }

    /// The same, which builds something.
    pub fn builds(self, builds: Builds) -> Job {
        Job { builds, ..self }
    }

    /// The same, counted as a configuration of a system.
    pub fn configuration(self) -> Job {
        Job { configuration: true, ..self }
    }

    /// The same, with no other job beside it.
    pub fn alone(self) -> Job {
        Job { alone: true, ..self }
    }

    /// The same, which takes about so long.
    pub fn seconds(self, seconds: f64) -> Job {
        Job { seconds, ..self }
    }

    /// `group: name`, which filters look at.
    pub fn title(&self) -> String {
        title(self.group, &self.name)
    }

    /// Does it.
    pub fn work(self, findings: &mut Findings) -> Result<()> {
        (self.work)(findings)
    }
}

/// How a job is called on the command line.
pub fn title(group: Group, name: &str) -> String {
    format!("{}: {name}", group.name())
}

/// Which jobs were asked for.
pub struct Choice<'a> {
    names: &'a [String],
    groups: &'a [Group],
    quick: bool,
    deep: bool,
}

impl<'a> Choice<'a> {
    /// What the command line says.
    pub fn new(test: &'a cli::Test) -> Choice<'a> {
        let cli::Test { names, only: groups, quick, deep, .. } = test;
        Choice { names, groups, quick: *quick, deep: *deep }
    }

    /// Whether a group is wanted.
    pub fn wants(&self, group: Group) -> bool {
        self.groups.is_empty() || self.groups.contains(&group)
    }

    /// Whether a title is wanted.
    pub fn names(&self, title: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| title.contains(name.as_str()))
    }

    /// Whether it is what a change must pass: all that is not for `--deep`.
    pub fn is_whole(&self) -> bool {
        self.names.is_empty() && self.groups.is_empty() && !self.quick && !self.deep
    }

    /// The names that were asked for.
    pub fn asked(&self) -> &[String] {
        self.names
    }

    /// Whether jobs of a class may be among those that are chosen.
    pub fn may_take(&self, class: Class) -> bool {
        let by_name = !self.names.is_empty() && !self.quick;
        by_name || self.takes(class)
    }

    fn takes(&self, class: Class) -> bool {
        match (self.quick, self.deep) {
            (true, _) => class == Class::Quick,
            (_, true) => class == Class::Deep,
            _ => class <= Class::Usual,
        }
    }

    /// Keeps the jobs that were asked for, in their order. A name of what only
    /// `--deep` runs chooses that.
    pub fn choose(&self, jobs: Vec<Job>) -> Vec<Job> {
        let named = |job: &Job| self.wants(job.group) && self.names(&job.title());
        let mut named: Vec<Job> = jobs.into_iter().filter(named).collect();
        let any = named.iter().any(|job| self.takes(job.class));
        let by_name = !self.names.is_empty() && !self.quick && !any;
        named.retain(|job| by_name || self.takes(job.class));
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(test: &cli::Test) -> Vec<String> {
        let job = |group, name: &str, class| Job::new(group, name, |_| Ok(())).class(class);
        let jobs = vec![
            job(Group::Tidy, "rules", Class::Quick),
            job(Group::Target, "hello", Class::Usual),
            job(Group::Target, "hello on 64 CPUs", Class::Deep),
            job(Group::Search, "seeds", Class::Deep),
        ];
        Choice::new(test).choose(jobs).into_iter().map(|job| job.name).collect()
    }

    #[test]
    fn jobs_are_chosen_by_class_group_and_name() {
        let test = cli::Test::default;
        assert_eq!(chosen(&test()), ["rules", "hello"]);
        assert!(Choice::new(&test()).is_whole());
        assert_eq!(chosen(&cli::Test { quick: true, ..test() }), ["rules"]);
        assert_eq!(chosen(&cli::Test { deep: true, ..test() }), ["hello on 64 CPUs", "seeds"]);
        let named = |name: &str| cli::Test { names: vec![name.to_string()], ..test() };
        let quick = cli::Test { quick: true, ..test() };
        assert!([quick, named("hello")].iter().all(|test| !Choice::new(test).is_whole()));
        assert_eq!(chosen(&named("hello")), ["hello"]);
        assert_eq!(chosen(&named("search: ")), ["seeds"], "by name, also what is deep");
        assert_eq!(chosen(&cli::Test { quick: true, ..named("seeds") }), [""; 0]);
        let only = cli::Test { only: vec![Group::Target], ..named("rules") };
        assert_eq!(chosen(&only), [""; 0]);
    }
}
