//! What is wrong with a manifest, and how it is shown.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Level, Origin, Renderer, Snippet};
use serde::Serialize;
use toml::de::{DeTable, DeValue};

use crate::suggest::hint;

/// A range of bytes in a manifest.
pub type Span = Range<usize>;

/// Columns that a shown problem fits in.
const COLUMNS: usize = 80;

/// Characters of a word that are quoted at most.
const LONGEST: usize = 60;

/// What to write where a key is missing or has a value of the wrong type, by the end of its path.
const EXAMPLES: [(&str, &str); 31] = [
    ("windows.offset", "offset = \"0ms\""),
    ("windows.duration", "duration = \"5ms\""),
    ("windows", "windows = [{ offset = \"0ms\", duration = \"5ms\" }]"),
    ("curve", "curve = \"20%\""),
    ("curve.m1", "curve = { m1 = \"50%\", d = \"10ms\", m2 = \"20%\" }"),
    ("curve.m2", "curve = { m1 = \"50%\", d = \"10ms\", m2 = \"20%\" }"),
    ("curve.d", "curve = { m1 = \"50%\", d = \"10ms\", m2 = \"20%\" }"),
    ("background", "background = true"),
    ("reservation", "reservation = \"NAME\""),
    ("system.memory", "memory = \"64M\""),
    ("memory", "memory = \"NAME\""),
    ("system", "[system]"),
    ("name", "name = \"NAME\""),
    ("program", "program = \"hello\""),
    ("priority", "priority = 100"),
    ("notification", "notification = \"NAME\""),
    ("irq", "irq = 4"),
    ("size", "size = \"64K\""),
    ("stack", "stack = \"16K\""),
    ("heap", "heap = \"64K\""),
    ("tick", "tick = \"1ms\""),
    ("timeslice", "timeslice = \"10ms\""),
    ("maps.rights", "rights = \"rw\""),
    ("rights", "rights = [\"send\"]"),
    ("cpus", "cpus = [0, 1]"),
    ("quota", "quota = { threads = 2 }"),
    ("args", "args = { rounds = 1000 }"),
    ("maps", "maps = [{ memory = \"NAME\", rights = \"rw\" }]"),
    ("caps", "caps = [{ name = \"NAME\", console = true }]"),
    ("console", "console = true"),
    ("host", "host = true"),
];

/// What serde calls the types that a manifest has.
const TYPES: [(&str, &str); 4] = [
    ("i128", "a whole number"),
    ("a string", "a text in double quotes"),
    ("a sequence", "a list in square brackets"),
    ("a map", "a table"),
];

/// A manifest's text, and what problems call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What problems call the manifest, usually its path.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// A problem at a place in the text.
    pub fn problem(
        &self,
        span: &Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        self.problem_of(self.key(span).unwrap_or_default(), span, message.into(), help.into())
    }

    /// The line of a place, from 1.
    pub fn line(&self, span: &Span) -> u32 {
        1 + self.text[..span.start].matches('\n').count() as u32
    }

    fn problem_of(&self, key: String, span: &Span, message: String, help: String) -> Problem {
        let before = &self.text[..span.start];
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        Problem {
            file: self.name.clone(),
            line: self.line(span),
            column: 1 + before[begin..].chars().count() as u32,
            key,
            message,
            help,
            place: Some(Box::new((self.clone(), span.clone()))),
        }
    }

    /// The problem with a text that is not TOML.
    pub(crate) fn no_toml(&self, error: &toml::de::Error) -> Problem {
        let message = format!("this is not TOML: {}", error.message().replace('\n', ", "));
        let help = "tables are `[name]` or `[[name]]`, keys are `key = value`, texts are quoted";
        self.problem(&error.span().unwrap_or(0..0), message, help)
    }

    /// The problem with TOML whose keys or types are not those of a manifest.
    pub(crate) fn no_manifest(&self, error: &toml::de::Error) -> Problem {
        let (span, said) = (error.span().unwrap_or(0..0), error.message());
        let words: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
        let key = self.key(&span).unwrap_or_default();
        if said.starts_with("unknown field") {
            let message = format!("{} is not a key here", quote(words[0]));
            return self.problem(&span, message, hint(words[0], "known keys", &words[1..]));
        }
        if said.starts_with("missing field") {
            let key = if span.is_empty() { words[0].into() } else { format!("{key}.{}", words[0]) };
            let message = format!("{} is missing", quote(words[0]));
            let help = example(&key);
            return self.problem_of(key, &span, message, help);
        }
        let header = self.text[span.clone()].trim_matches(['[', ']']).trim();
        if self.text[span.clone()].starts_with("[[") && span.end - span.start > 4 {
            let help = format!("write `[{header}]` in place of `[[{header}]]`");
            return self.problem(&span, format!("there is only one `{header}`"), help);
        }
        if said.ends_with("map, expected a sequence") && self.text[span.clone()].starts_with('[') {
            let help = format!("write `[[{header}]]` in place of `[{header}]`");
            return self.problem(&span, format!("`{header}` is a list of tables"), help);
        }
        let said = TYPES.iter().fold(said.to_string(), |said, (serde, ours)| {
            let end = format!("expected {serde}");
            said.strip_suffix(&end).map_or(said.clone(), |said| format!("{said}expected {ours}"))
        });
        self.problem(&span, said, example(&key))
    }

    /// The path of the innermost key at a place, with names in place of positions in lists.
    fn key(&self, span: &Span) -> Option<String> {
        let document = DeTable::parse(&self.text).ok()?;
        let mut found = Vec::new();
        in_table(document.get_ref(), "", span, &mut found);
        found.into_iter().min_by_key(|(length, _)| *length).map(|(_, path)| path)
    }
}

/// Collects the paths of all keys of a table that stand around a place, the inner ones first.
fn in_table(table: &DeTable, path: &str, span: &Span, found: &mut Vec<(usize, String)>) {
    for (key, value) in table {
        let name = key.get_ref();
        let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
        in_value(value.get_ref(), &value.span(), &path, span, found);
        around(&key.span(), &path, span, found);
    }
}

/// [`in_table`], for one value.
fn in_value(value: &DeValue, at: &Span, path: &str, span: &Span, found: &mut Vec<(usize, String)>) {
    match value {
        DeValue::Table(table) => in_table(table, path, span, found),
        DeValue::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let name = item.get_ref().get("name").and_then(|name| name.get_ref().as_str());
                let name = name.filter(|name| is_name(name));
                let path = name.map_or(format!("{path}[{index}]"), |name| format!("{path}.{name}"));
                in_value(item.get_ref(), &item.span(), &path, span, found);
            }
        }
        _ => {}
    }
    around(at, path, span, found);
}

fn around(outer: &Span, path: &str, inner: &Span, found: &mut Vec<(usize, String)>) {
    if outer.start <= inner.start && inner.end <= outer.end && !inner.is_empty() {
        found.push((outer.end - outer.start, path.into()));
    }
}

/// What to write for a key.
fn example(key: &str) -> String {
    // Positions and names in lists: `domain.server.maps[0].rights` ends like `maps.rights`.
    let key = key.replace(['[', ']'], "").replace(|char: char| char.is_ascii_digit(), "");
    let found = EXAMPLES.iter().find(|(end, _)| key == *end || key.ends_with(&format!(".{end}")));
    found.map_or("see docs/manifest.md".into(), |(_, line)| format!("write `{line}`"))
}

/// What is wrong with a manifest, where, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The manifest's name.
    pub file: String,
    /// Line, from 1; 0 if the problem is with the file as a whole.
    pub line: u32,
    /// Column in characters, from 1; 0 if the problem is with the file as a whole.
    pub column: u32,
    /// Path of the key, for instance `domain.server.priority`; empty if there is none.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
    /// The text with what is wrong in it, if it could be read.
    #[serde(skip)]
    place: Option<Box<(Source, Span)>>,
}

impl Problem {
    /// A problem with a file as a whole.
    pub fn of_file(name: &str, message: impl Into<String>, help: impl Into<String>) -> Problem {
        let (file, message, help) = (name.to_string(), message.into(), help.into());
        Problem { file, line: 0, column: 0, key: String::new(), message, help, place: None }
    }
}

impl fmt::Display for Problem {
    /// As rustc would show it.
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let options = textwrap::Options::new(COLUMNS - "   = note: ".len())
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let wrapped = |text: &str| textwrap::fill(text, &options);
        let key = format!("key {}", quote(&self.key));
        let [message, key, help] = [&self.message, &key, &self.help].map(|text| wrapped(text));
        let place: Element = match self.place.as_deref() {
            Some((source, span)) => Snippet::source(&source.text)
                .path(&self.file)
                .annotation(AnnotationKind::Primary.span(span.clone()))
                .into(),
            None => Origin::path(&self.file).into(),
        };
        let key = (!self.key.is_empty()).then(|| Level::NOTE.message(&key).into());
        let elements = [place].into_iter().chain(key).chain([Level::HELP.message(&help).into()]);
        let report = Level::ERROR.primary_title(&message).elements(elements);
        out.write_str(&Renderer::plain().term_width(COLUMNS).render(&[report]))
    }
}

/// Everything that was found wrong with a manifest, at least one problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problems(pub Vec<Problem>);

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        Problems(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let shown: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        out.write_str(&shown.join("\n\n"))
    }
}

/// Whether a word consists of letters, digits, `-` and `_`.
pub(crate) fn is_name(word: &str) -> bool {
    let fits = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    !word.is_empty() && word.chars().all(fits)
}

/// A word of the manifest as a message quotes it, cut where it is long.
pub(crate) fn quote(word: &str) -> String {
    let printable = word.replace(char::is_control, "?");
    match printable.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}...`", &printable[..end]),
        None => format!("`{printable}`"),
    }
}
