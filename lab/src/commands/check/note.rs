//! Sentences about a system, each with the place in its manifest that it is about.

use super::decided::name;
use crate::commands::wrapped;
use manifest::{Source, Span, System};
use std::collections::BTreeMap;

/// A sentence and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What is to be known.
    pub text: String,
    /// Where the manifest has what it is about; empty: nowhere in particular.
    pub at: Span,
}

impl Note {
    /// A sentence about a place.
    pub fn new(at: &Span, text: impl Into<String>) -> Note {
        Note { text: text.into(), at: at.clone() }
    }

    /// The line of the place.
    pub fn line(&self, source: &Source) -> Option<u32> {
        (!self.at.is_empty()).then(|| source.line(&self.at))
    }

    /// Behind file and line, in lines that fit the terminal.
    pub fn shown(&self, source: &Source, kind: &str) -> String {
        let line = self.line(source).map_or(String::new(), |line| format!(":{line}"));
        wrapped(&format!("{}{line}: {kind}{}", source.name, self.text), "", "  ")
    }
}

/// The sentences alone.
pub fn texts(notes: &[Note]) -> Vec<&str> {
    notes.iter().map(|note| note.text.as_str()).collect()
}

/// Where the manifest has what reports name.
pub struct Places(BTreeMap<String, Span>);

impl Places {
    /// The places of domains, of their tasks and of reservations, the last ones first.
    pub fn of(system: &System) -> Places {
        let domains = system.domains.iter().flat_map(|domain| {
            let tasks = domain.tasks.iter().map(|task| task.name.clone());
            let names = [domain.name.clone(), format!("domain {}", domain.name)];
            names.into_iter().chain(tasks).map(|name| (name, domain.program_at.clone()))
        });
        let nodes = system.reservations.iter().map(|node| (node.name.clone(), node.at.clone()));
        Places(domains.chain(nodes).collect())
    }

    /// The place of what is at the end of a path; empty if it is none of the manifest's.
    pub fn at(&self, path: &str) -> Span {
        self.0.get(name(path)).cloned().unwrap_or_default()
    }
}
