//! What is wrong with a manifest, and how it is shown.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// A range of bytes in a manifest.
pub type Span = Range<usize>;

/// Columns that a shown problem fits in.
const COLUMNS: usize = 100;
/// Characters of the offending line that are shown at most.
const EXCERPT: usize = 80;

/// A manifest's text, and what problems call it.
#[derive(Clone, Debug)]
pub struct Source {
    /// What problems call the manifest, usually its path.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// The text under this name.
    pub fn new(name: &str, text: &str) -> Source {
        Source { name: name.into(), text: text.into() }
    }

    /// A problem at a place in the text.
    pub fn problem(
        &self,
        span: &Span,
        key: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        let start = self.boundary(span.start);
        let begin = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_text = self.text[begin..].lines().next().unwrap_or("");
        let end = self.boundary(span.end).clamp(start, (begin + line_text.len()).max(start));
        let line = 1 + self.text[..begin].matches('\n').count();
        let column = self.text[begin..start].chars().count();
        let width = self.text[start..end].chars().count().max(1);
        Problem {
            file: self.name.clone(),
            line: line as u32,
            column: 1 + column as u32,
            key: cut(key, EXCERPT),
            message: message.into(),
            help: help.into(),
            excerpt: excerpt(line, line_text, column, width).into(),
        }
    }

    /// The nearest character boundary at or before a byte offset.
    fn boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
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
    /// Path of the key, for instance `domain.server.priority`; empty where no key is to blame.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
    #[serde(skip)]
    excerpt: Box<str>,
}

impl Problem {
    /// A problem with the file as a whole.
    pub fn of_file(name: &str, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem {
            file: name.into(),
            line: 0,
            column: 0,
            key: String::new(),
            message: message.into(),
            help: help.into(),
            excerpt: "".into(),
        }
    }
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let margin = " ".repeat(if self.line == 0 { 1 } else { self.line.to_string().len() });
        out.write_str(&wrapped("error: ", &self.message))?;
        if self.line == 0 {
            write!(out, "\n{margin}--> {}", self.file)?;
        } else {
            write!(out, "\n{margin}--> {}:{}:{}", self.file, self.line, self.column)?;
            write!(out, "\n{margin} |\n{}", self.excerpt)?;
        }
        for (label, text) in [("key", &self.key), ("help", &self.help)] {
            if !text.is_empty() {
                write!(out, "\n{}", wrapped(&format!("{margin} = {label}: "), text))?;
            }
        }
        Ok(())
    }
}

/// The offending line with carets under the offending characters.
fn excerpt(line: usize, text: &str, column: usize, width: usize) -> String {
    let shown: Vec<char> =
        text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    // A place far to the right is shown with a little of what is before it.
    let far = column + width.min(EXCERPT / 2) > EXCERPT;
    let first = if far { column.saturating_sub(EXCERPT / 4) } else { 0 };
    let last = shown.len().min(first + EXCERPT);
    let window: String = shown[first.min(last)..last].iter().collect();
    let [before, after] = [first > 0, last < shown.len()].map(|cut| if cut { "..." } else { "" });
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let indent = " ".repeat(before.len() + column - first);
    let carets = "^".repeat(width.clamp(1, EXCERPT.saturating_sub(column - first).max(1)));
    let numbered = format!("{number} | {before}{window}{after}");
    format!("{}\n{margin} | {indent}{carets}", numbered.trim_end())
}

/// Text broken at spaces so that it fits, its further lines indented to the first.
fn wrapped(label: &str, text: &str) -> String {
    let indent = " ".repeat(label.chars().count());
    let mut lines = label.to_string();
    let mut used = indent.len();
    for (index, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && used + 1 + length > COLUMNS {
            lines += "\n";
            lines += &indent;
            used = indent.len();
        } else if index > 0 {
            lines += " ";
            used += 1;
        }
        lines += word;
        used += length;
    }
    lines
}

/// At most `limit` characters of a text.
fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}

/// A word of the manifest as a message quotes it.
pub(crate) fn quote(word: &str) -> String {
    let printable: String =
        word.chars().map(|char| if char.is_control() { '?' } else { char }).collect();
    format!("`{}`", cut(&printable, 40))
}
