//! What a `tests.toml` may say.

use super::limits::Figure;
use crate::cli::Under;
use crate::failure::{did_you_mean, usage};
use crate::machine::Typed;
use crate::wanted::Wanted;
use crate::workspace;
use anyhow::Result;
use manifest::Source;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Spanned, Value};

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    #[serde(default)]
    pub test: Vec<Test>,
    /// What `run --input` types, where the file is for that alone.
    #[serde(default)]
    input: Vec<Typed>,
}

/// A `[[test]]`.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    pub name: String,
    pub machines: Option<Vec<String>>,
    #[serde(default)]
    pub args: BTreeMap<String, Value>,
    /// What goes wrong with devices.
    #[serde(default)]
    pub faults: BTreeMap<String, String>,
    /// Lines that have to be printed, in their order.
    #[serde(default)]
    pub console: Vec<Wanted>,
    /// What no line may have.
    #[serde(default)]
    pub never: Vec<Wanted>,
    /// What is typed.
    #[serde(default)]
    pub input: Vec<Typed>,
    #[serde(default)]
    pub status: u32,
    pub kernel: Option<String>,
    pub locking: Option<String>,
    pub cpus: Option<u32>,
    pub seeds: Option<u64>,
    pub chaos: Option<u64>,
    pub seconds: Option<u64>,
    latency: Option<Spanned<Value>>,
    #[serde(alias = "late")]
    misses: Option<Spanned<Value>>,
    overruns: Option<Spanned<Value>>,
    response: Option<Spanned<Value>>,
    jobs: Option<Spanned<Value>>,
    budgets: Option<Spanned<Value>>,
    heartbeats: Option<Spanned<Value>>,
}

impl Test {
    /// What limits it states, by figure.
    pub fn figures(&self) -> impl Iterator<Item = (Figure, &Spanned<Value>)> {
        let all = [
            (Figure::Latency, &self.latency),
            (Figure::Misses, &self.misses),
            (Figure::Overruns, &self.overruns),
            (Figure::Response, &self.response),
            (Figure::Jobs, &self.jobs),
            (Figure::Budgets, &self.budgets),
            (Figure::Heartbeats, &self.heartbeats),
        ];
        all.into_iter().filter_map(|(figure, value)| Some((figure, value.as_ref()?)))
    }

    /// Its arguments as the command line has them.
    pub fn arguments(&self) -> impl Iterator<Item = String> {
        self.args.iter().map(|(name, value)| match value.as_str() {
            Some(text) => format!("{name}={text}"),
            None => format!("{name}={value}"),
        })
    }

    /// What goes wrong with devices, as the command line has it.
    pub fn failing(&self) -> impl Iterator<Item = String> {
        self.faults.iter().map(|(device, fault)| format!("{device}={fault}"))
    }
}

/// Reads a file of tests.
pub fn read(path: &Path) -> Result<(Source, File)> {
    let name = workspace::shown(path).to_string();
    let text = fs_err::read_to_string(path).map_err(|error| usage(error.to_string()))?;
    let file = toml::from_str(&text).map_err(|error| usage(format!("{name}: {error}")))?;
    Ok((Source { name, text }, file))
}

/// What `--input` has typed, if it is given: the `input` of a file or, behind `#`, of a test in it.
pub fn typed(under: &Under) -> Result<Option<Vec<Typed>>> {
    let Some(given) = &under.input else { return Ok(None) };
    let (path, test) = match given.rsplit_once('#') {
        Some((path, test)) if !Path::new(given).is_file() => (path, Some(test)),
        _ => (given.as_str(), None),
    };
    let (_, file) = read(Path::new(path))?;
    let inputs = match test {
        None => file.input,
        Some(name) => {
            let names = file.test.iter().map(|test| test.name.clone()).collect::<Vec<_>>();
            let found = file.test.into_iter().find(|test| test.name == name);
            let hint = did_you_mean(name, names.iter().map(String::as_str));
            found.ok_or_else(|| usage(format!("{path} has no test `{name}`{hint}")))?.input
        }
    };
    if inputs.is_empty() {
        let example = "input = [{ after = \"ready\", type = \"status\" }]";
        return Err(usage(format!("--input {given} types nothing; write for example {example}")));
    }
    Ok(Some(inputs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_tests_is_read_strictly() {
        let read = |text: &str| toml::from_str::<File>(text).map(|file| file.test.len());
        assert_eq!(read("[[test]]\nname = \"it runs\"\n"), Ok(1));
        let error = read("[[test]]\nname = \"it runs\"\nconsol = []\n").unwrap_err().to_string();
        assert!(error.contains("unknown field `consol`") && error.contains("line 3"), "{error}");
        let wrong = "[[test]]\nname = \"x\"\nnever = [\n  \"no\",\n  { pattern = '+' },\n]\n";
        let error = read(wrong).err().unwrap().to_string();
        assert!(error.contains("line 5, column 15") && error.contains("'+'"), "{error}");
    }

    #[test]
    fn what_is_typed_comes_from_a_file_or_a_test_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("typed.toml");
        let entry = "input = [{ after = \"x\", type = \"one\" }]\n";
        let both = format!("{entry}[[test]]\nname = \"a test\"\n{}", entry.replace("one", "two"));
        fs_err::write(&path, both + "[[test]]\nname = \"dumb\"\n").unwrap();
        let of = |end: &str| {
            let input = Some(format!("{}{end}", path.display()));
            typed(&Under { input, ..Under::default() })
        };
        let line = |end: &str| of(end).unwrap().unwrap()[0].line.clone();
        assert_eq!((line(""), line("#a test")), ("one".to_string(), "two".to_string()));
        let said = |end: &str| of(end).unwrap_err().to_string();
        assert!(said("#a tets").ends_with("has no test `a tets`; did you mean `a test`?"));
        assert!(said("#dumb").contains("types nothing; write for example input = [{"));
        assert!(typed(&Under::default()).unwrap().is_none());
    }
}
