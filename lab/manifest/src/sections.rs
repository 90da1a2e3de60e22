//! The named objects of a manifest: first all their names, so that references can be resolved.

use crate::problem::{Problem, quote};
use crate::toml_value::{Table, Value, undefined};

/// All objects of one kind.
pub struct Section<'a> {
    kind: &'static str,
    /// Their tables.
    pub tables: Vec<Table<'a>>,
    /// Their names, in the same order.
    pub names: Vec<&'a str>,
}

impl<'a> Section<'a> {
    /// The objects of the list `kind`, whose names differ and have at most `longest` bytes.
    pub fn read(
        root: &Table<'a>,
        kind: &'static str,
        longest: usize,
        known: &[&str],
    ) -> Result<Section<'a>, Problem> {
        let tables = root.tables(kind, known)?;
        let mut names: Vec<&str> = Vec::new();
        for table in &tables {
            let value = table.need("name", &format!("give the {kind} a `name`"))?;
            let name = value.name(longest)?;
            if names.contains(&name) {
                let message = format!("two {kind}s are called {}", quote(name));
                return Err(value.problem(message, "give each a name of its own"));
            }
            names.push(name);
        }
        Ok(Section { kind, tables, names })
    }

    /// Index of the object that a value names.
    pub fn find(&self, value: &Value) -> Result<usize, Problem> {
        let word = value.text()?;
        self.names.iter().position(|name| *name == word).ok_or_else(|| {
            let message = format!("no {} is called {}", self.kind, quote(word));
            value.problem(message, undefined(word, self.kind, &self.names))
        })
    }
}

/// All objects of a manifest.
pub struct Sections<'a> {
    /// `[[endpoint]]`.
    pub endpoints: Section<'a>,
    /// `[[notification]]`.
    pub notifications: Section<'a>,
    /// `[[interrupt]]`.
    pub interrupts: Section<'a>,
    /// `[[timer]]`.
    pub timers: Section<'a>,
    /// `[[memory]]`.
    pub memories: Section<'a>,
    /// `[[domain]]`.
    pub domains: Section<'a>,
    /// How many CPUs the domains have to choose from.
    pub cpus: u32,
}

/// Bytes in the longest name of an object.
pub const LONGEST_NAME: usize = 31;
/// Bytes in the longest name of a domain, which the kernel keeps.
pub const LONGEST_DOMAIN_NAME: usize = 15;

impl<'a> Sections<'a> {
    /// Reads every object's name.
    pub fn read(root: &Table<'a>, cpus: u32) -> Result<Sections<'a>, Problem> {
        let objects = |kind, known: &[&str]| Section::read(root, kind, LONGEST_NAME, known);
        Ok(Sections {
            endpoints: objects("endpoint", &["name", "notification"])?,
            notifications: objects("notification", &["name"])?,
            interrupts: objects("interrupt", &["name", "line", "notification", "badge"])?,
            timers: objects("timer", &["name", "notification", "badge"])?,
            memories: objects("memory", &["name", "size", "host"])?,
            domains: Section::read(root, "domain", LONGEST_DOMAIN_NAME, &crate::domain::KEYS)?,
            cpus,
        })
    }
}
