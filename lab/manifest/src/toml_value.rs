//! Typed access to TOML values that know where they stand and what they are called.

use std::ops::RangeInclusive;

use abi::PAGE;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{Problem, Source, Span, quote};
use crate::suggest::hint;
use crate::units;

/// A table of the manifest, all of whose keys are known.
pub struct Table<'a> {
    source: &'a Source,
    entries: &'a DeTable<'a>,
    /// Path of the table's key; empty for the whole manifest.
    pub key: String,
    /// Where it stands.
    pub span: Span,
}

impl<'a> Table<'a> {
    /// The whole manifest.
    pub fn whole(
        source: &'a Source,
        entries: &'a Spanned<DeTable<'a>>,
        known: &[&str],
    ) -> Result<Table<'a>, Problem> {
        let span = entries.span();
        let table = Table { source, entries: entries.get_ref(), key: String::new(), span };
        table.expect_keys(known)?;
        Ok(table)
    }

    fn expect_keys(&self, known: &[&str]) -> Result<(), Problem> {
        let mut keys = self.entries.keys().map(|key| key.get_ref().as_ref());
        let Some(key) = keys.find(|key| !known.contains(key)) else { return Ok(()) };
        let message = match self.key.as_str() {
            "" => format!("a manifest has no {}", quote(key)),
            table => format!("{} is not a key of {}", quote(key), quote(table)),
        };
        Err(self.key_problem(key, message, hint(key, "known keys", known)))
    }

    /// A problem with a key of the table.
    pub fn key_problem(&self, key: &str, message: String, help: impl Into<String>) -> Problem {
        let span = self.entries.get_key_value(key).map(|(key, _)| key.span());
        let span = span.unwrap_or(self.span.clone());
        self.source.problem(&span, &self.path(key), message, help)
    }

    fn path(&self, key: &str) -> String {
        if self.key.is_empty() { key.into() } else { format!("{}.{key}", self.key) }
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        let value = self.entries.get(key)?;
        Some(self.value(key, value))
    }

    /// The value of a key that has to be there; `help` says what to write.
    pub fn need(&self, key: &str, help: &str) -> Result<Value<'a>, Problem> {
        self.get(key).ok_or_else(|| {
            let message = format!("{} is missing", quote(key));
            self.source.problem(&self.span, &self.path(key), message, help)
        })
    }

    /// All keys with their values, in the order of the manifest.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        self.entries.iter().map(|(key, value)| {
            let key = key.get_ref().as_ref();
            (key, self.value(key, value))
        })
    }

    fn value(&self, key: &str, value: &'a Spanned<DeValue<'a>>) -> Value<'a> {
        let Table { source, .. } = *self;
        Value { source, key: self.path(key), value: value.get_ref(), span: value.span() }
    }

    /// The tables of a list such as `[[domain]]`; a missing list is an empty one.
    pub fn tables(&self, key: &str, known: &[&str]) -> Result<Vec<Table<'a>>, Problem> {
        let Some(list) = self.get(key) else { return Ok(Vec::new()) };
        if matches!(list.value, DeValue::Table(_)) {
            let help = format!("write `[[{key}]]` in place of `[{key}]`");
            return Err(list.problem(format!("{} is a list of tables", quote(key)), help));
        }
        list.items()?.into_iter().map(|item| item.table(known)).collect()
    }

    /// A problem with the table as a whole.
    pub fn problem(&self, message: impl Into<String>, help: impl Into<String>) -> Problem {
        self.source.problem(&self.span, &self.key, message, help)
    }
}

/// A value of the manifest.
pub struct Value<'a> {
    source: &'a Source,
    value: &'a DeValue<'a>,
    /// Path of the value's key.
    pub key: String,
    /// Where it stands.
    pub span: Span,
}

impl<'a> Value<'a> {
    /// A problem with this value.
    pub fn problem(&self, message: impl Into<String>, help: impl Into<String>) -> Problem {
        self.source.problem(&self.span, &self.key, message, help)
    }

    fn wrong_type(&self, wanted: &str, example: &str) -> Problem {
        let found = match self.value {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let name = self.key.rsplit('.').next().unwrap_or_default();
        let message = format!("{} has to be {wanted}, not {found}", quote(name));
        self.problem(message, format!("write {example}"))
    }

    /// The value as a text.
    pub fn text(&self) -> Result<&'a str, Problem> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type("a text", "it in double quotes")),
        }
    }

    /// The value as a name of at most `longest` bytes, fit for an environment key.
    pub fn name(&self, longest: usize) -> Result<&'a str, Problem> {
        let name = self.text()?;
        if name.is_empty() || name.len() > longest {
            let message = format!("the name {} is {} bytes long", quote(name), name.len());
            return Err(self.problem(message, format!("a name has 1 to {longest} bytes here")));
        }
        if !is_name(name) {
            let help = "use letters, digits, `-` and `_`";
            return Err(self.problem(format!("{} is not a name", quote(name)), help));
        }
        Ok(name)
    }

    /// The value as one of several words.
    pub fn one_of(&self, what: &str, words: &[&'static str]) -> Result<&'static str, Problem> {
        let word = self.text()?;
        words.iter().find(|candidate| **candidate == word).copied().ok_or_else(|| {
            let message = format!("there is no {what} {}", quote(word));
            self.problem(message, hint(word, &format!("a {what} is one of"), words))
        })
    }

    /// The value as a whole number within a range.
    pub fn number(&self, range: RangeInclusive<u64>) -> Result<u64, Problem> {
        let DeValue::Integer(integer) = self.value else {
            let example = format!("a number from {} to {}", range.start(), range.end());
            return Err(self.wrong_type("a whole number", &example));
        };
        let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
        let number = number.and_then(|number| u64::try_from(number).ok());
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let message = format!("{} is out of range", quote(&integer.to_string()));
            let help = format!("give a whole number from {} to {}", range.start(), range.end());
            self.problem(message, help)
        })
    }

    /// The value as a size in bytes: a multiple of the page within a range.
    pub fn size(&self, range: RangeInclusive<u64>) -> Result<u64, Problem> {
        let DeValue::String(text) = self.value else {
            return Err(self.wrong_type("a size", "a number and K, M or G, for instance \"16K\""));
        };
        let bytes = units::size(text).ok_or_else(|| {
            let message = format!("{} is not a size", quote(text));
            self.problem(message, "a size is a whole number and K, M or G, for instance \"16K\"")
        })?;
        let spelt = [*range.start(), *range.end()].map(units::spell_size);
        if !bytes.is_multiple_of(PAGE) {
            let help = format!(
                "memory comes in pages of 4K: write {:?}",
                units::spell_size(bytes.next_multiple_of(PAGE))
            );
            return Err(self.problem(format!("{} is not a multiple of 4K", quote(text)), help));
        }
        if !range.contains(&bytes) {
            let help = format!("give a size from {:?} to {:?}", spelt[0], spelt[1]);
            return Err(self.problem(format!("{} is out of range", quote(text)), help));
        }
        Ok(bytes)
    }

    /// The value as a duration in nanoseconds within a range.
    pub fn duration(&self, range: RangeInclusive<u64>) -> Result<u64, Problem> {
        let DeValue::String(text) = self.value else {
            return Err(
                self.wrong_type("a duration", "a number and us, ms or s, for instance \"10ms\"")
            );
        };
        let nanoseconds = units::duration(text).ok_or_else(|| {
            let message = format!("{} is not a duration", quote(text));
            self.problem(message, "a duration is a whole number and us, ms or s, say \"10ms\"")
        })?;
        if !range.contains(&nanoseconds) {
            let spelt = [*range.start(), *range.end()].map(units::spell_duration);
            let help = format!("give a duration from {:?} to {:?}", spelt[0], spelt[1]);
            return Err(self.problem(format!("{} is out of range", quote(text)), help));
        }
        Ok(nanoseconds)
    }

    /// The value as true or false.
    pub fn flag(&self) -> Result<bool, Problem> {
        match self.value {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.wrong_type("true or false", "true, without quotes")),
        }
    }

    /// The value as one line of text, be it written as a text, a number or a boolean.
    pub fn line(&self) -> Result<String, Problem> {
        let line = match self.value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(integer) => integer.to_string(),
            DeValue::Boolean(flag) => flag.to_string(),
            _ => {
                return Err(self
                    .wrong_type("a text, a number or a boolean", "for instance \"text\" or 1000"));
            }
        };
        if line.contains(char::is_control) {
            let help = "a program reads its arguments line by line: write one line of text";
            return Err(self.problem("an argument contains a control character", help));
        }
        Ok(line)
    }

    /// The value as a list.
    pub fn items(&self) -> Result<Vec<Value<'a>>, Problem> {
        let DeValue::Array(array) = self.value else {
            return Err(self.wrong_type("a list", "it in square brackets, for instance [\"send\"]"));
        };
        let item = |(index, value): (usize, &'a Spanned<DeValue<'a>>)| Value {
            source: self.source,
            key: format!("{}[{index}]", self.key),
            value: value.get_ref(),
            span: value.span(),
        };
        Ok(array.iter().enumerate().map(item).collect())
    }

    /// The value as a table with any keys.
    pub fn open_table(&self) -> Result<Table<'a>, Problem> {
        let DeValue::Table(entries) = self.value else {
            let top = !self.key.contains(['.', '[']);
            if top && matches!(self.value, DeValue::Array(_)) {
                let help = format!("write `[{0}]` in place of `[[{0}]]`", self.key);
                return Err(self.problem(format!("there is only one {}", quote(&self.key)), help));
            }
            return Err(self.wrong_type("a table", "it in braces, for instance { key = 1 }"));
        };
        let (key, span) = (self.key.clone(), self.span.clone());
        Ok(Table { source: self.source, entries, key, span })
    }

    /// The value as a table with known keys. If it has a name, so has its path.
    pub fn table(&self, known: &[&str]) -> Result<Table<'a>, Problem> {
        let mut table = self.open_table()?;
        if let Some(DeValue::String(name)) = table.entries.get("name").map(Spanned::get_ref)
            && is_name(name)
            && let Some((list, _)) = self.key.rsplit_once('[')
        {
            table.key = format!("{list}.{name}");
        }
        table.expect_keys(known)?;
        Ok(table)
    }
}

/// Whether a word consists of letters, digits, `-` and `_`.
pub fn is_name(word: &str) -> bool {
    let fits = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    !word.is_empty() && word.chars().all(fits)
}

/// A hint for a reference to something that the manifest does not define.
pub fn undefined(word: &str, kind: &str, names: &[&str]) -> String {
    if names.is_empty() {
        return format!("the manifest has no {kind}: add `[[{kind}]]` with `name = {word:?}`");
    }
    let hint = hint(word, "the manifest has", names);
    if hint.starts_with("did") { hint } else { format!("{hint}; or add `[[{kind}]]`") }
}
