//! Task sets of other tools, which become systems: workloads of rt-app, and task sets of SimSo.

mod build;
mod events;
mod partition;
mod rt_app;
mod simso;

use crate::set::{Object, Operand, TaskSet};
use crate::system::{Run, manifest};
use manifest::{Problem, Problems, Source, Span};
use std::collections::BTreeMap;
use std::path::Path;

/// Nanoseconds of a unit of an imported set.
const UNIT: u64 = 1_000;
/// The most characters of the name of a task: domains are called as their tasks.
const LONGEST_NAME: usize = 15;
/// Names that a system has beside those of tasks.
const TAKEN: [&str; 5] = ["console", "system", "tasks", "rtsim-end", "shared-objects"];

/// A task set of another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The manifest of the system that it becomes.
    pub manifest: String,
    /// What is not as in the file, a line each, with the line of the file.
    pub notes: Vec<String>,
}

/// Turns a file of rt-app (JSON with comments) or SimSo (XML) into the manifest of a system.
///
/// # Errors
///
/// All that cannot be had, where it is, and what to do about it.
pub fn import(source: &Source) -> Result<Imported, Problems> {
    let mut reader = Reader::new(source);
    let first = source.text.chars().find(|char| !char.is_whitespace() && *char != '\u{feff}');
    let read = match first == Some('<') {
        true => simso::read(&mut reader),
        false => rt_app::read(&mut reader),
    };
    let read = read.map_err(|problem| reader.problems.push(problem)).ok();
    let Some((set, run)) = read.filter(|_| reader.problems.is_empty()) else {
        return Err(Problems(reader.problems));
    };
    let whole = |why: String, help: &str| Problems::from(Problem::of_file(&source.name, why, help));
    let text = manifest(&set, run).map_err(|why| whole(why, "change the file there"))?;
    // What no line of the file alone says, such as more than all of a CPU.
    manifest::parse(&source.name, &text).map_err(|problems| {
        let [first, ..] = &problems.0[..] else { return problems };
        whole(format!("the system would be wrong: {}", first.message), &first.help)
    })?;
    let mut notes = reader.notes;
    notes.sort_by_key(|(line, _)| *line);
    let notes: Vec<String> =
        notes.iter().map(|(line, what)| format!("{}:{line}: {what}", source.name)).collect();
    let head: String = notes.iter().map(|note| format!("# {note}\n")).collect();
    let head = format!("# Imported from {}.\n{head}\n", source.name);
    Ok(Imported { manifest: head + &text, notes })
}

/// What both formats are read with.
struct Reader<'s> {
    source: &'s Source,
    problems: Vec<Problem>,
    /// With their lines.
    notes: Vec<(usize, String)>,
    /// Objects by their names in the file and their kinds, which are used as operands.
    objects: Vec<(String, Object)>,
    /// The objects of the system.
    made: Vec<(String, Object)>,
    /// Names of tasks and objects that are used, each once.
    names: BTreeMap<String, ()>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s Source) -> Reader<'s> {
        let names = TAKEN.into_iter().map(|name| (name.to_string(), ())).collect();
        let (problems, notes) = (Vec::new(), Vec::new());
        let (objects, made) = (Vec::new(), Vec::new());
        Reader { source, problems, notes, objects, made, names }
    }

    /// A problem with this part of the file.
    fn problem(&self, at: &Span, what: impl Into<String>, help: &str) -> Problem {
        self.source.problem(at, what, help)
    }

    /// Notes that this part of the file cannot be had; reading goes on, to find all such parts.
    fn refuse(&mut self, at: &Span, what: impl Into<String>, help: &str) {
        let problem = self.problem(at, what, help);
        self.problems.push(problem);
    }

    /// Says what is not as this part of the file says, each thing once.
    fn note(&mut self, at: &Span, what: impl Into<String>) {
        let what = what.into();
        if self.notes.iter().all(|(_, other)| *other != what) {
            let line = 1 + self.source.text[..at.start].matches('\n').count();
            self.notes.push((line, what));
        }
    }

    /// A name of the system for one of the file: no longer, of the characters that names have, and
    /// used once.
    fn name(&mut self, of_file: &str, at: &Span) -> String {
        let fits = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
        let clean: String = of_file.chars().map(|it| if fits(it) { it } else { '-' }).collect();
        let clean = if clean.is_empty() { "task".to_string() } else { clean };
        let with = |end: &str| {
            let room = LONGEST_NAME - end.len();
            clean.chars().take(room).collect::<String>() + end
        };
        let mut name = with("");
        for number in 2.. {
            if !self.names.contains_key(&name) {
                break;
            }
            name = with(&format!("-{number}"));
        }
        self.names.insert(name.clone(), ());
        if name != of_file {
            self.note(at, format!("`{of_file}` is called `{name}`"));
        }
        name
    }

    /// An object of a kind, by its name in the file; the first use makes it.
    fn object(&mut self, of_file: &str, kind: Object, at: &Span) -> Operand {
        let key = (of_file.to_string(), kind);
        let found = self.objects.iter().position(|other| *other == key);
        let object = found.unwrap_or_else(|| {
            let name = self.name(of_file, at);
            if self.made.len() == abi::rtsim::OBJECTS {
                self.refuse(at, "these are more objects than 64", "leave some out");
            }
            self.objects.push(key);
            self.made.push((name, kind));
            self.made.len() - 1
        });
        Operand { object, through: false }
    }

    /// The system's name: that of the file, without what names do not have.
    fn system(&self) -> String {
        let stem = Path::new(&self.source.name).file_stem().map(|it| it.to_string_lossy());
        let fits = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
        let name: String =
            stem.unwrap_or_default().chars().filter(|it| fits(*it)).take(31).collect();
        if name.is_empty() { "imported".to_string() } else { name }
    }
}

/// A task set and how it runs.
type Read = (TaskSet, Run);

#[cfg(test)]
mod tests;
