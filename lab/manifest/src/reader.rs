//! From TOML to a [`Manifest`], or to all that is wrong with its keys and types.
//!
//! Serde ends at the first mistake. It is noted, the document is mended at that place so that
//! nothing else follows from it, and read again.

use std::borrow::Cow;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::problem::{Problem, Problems, Source, Span};
use crate::schema::Manifest;
use crate::suggest::nearest;

/// How often a document is mended at most.
const ATTEMPTS: usize = 100;

/// What stands for a value, by the type that serde expects.
const STAND_INS: [(&str, &str); 6] = [
    ("a string", "\"\""),
    ("i128", "0"),
    ("a boolean", "false"),
    ("a sequence", "[]"),
    ("a map", "{}"),
    ("a table", "{}"),
];

/// Reads a manifest.
pub fn read(source: &Source) -> Result<Manifest, Problems> {
    let document = DeTable::parse(&source.text).map_err(|error| source.no_toml(&error))?;
    let mut draft = Draft { document, next: source.text.len() + 1 };
    let mut problems: Vec<Problem> = Vec::new();
    for _ in 0..ATTEMPTS {
        let error = match Manifest::deserialize(Deserializer::from(draft.document.clone())) {
            Ok(manifest) if problems.is_empty() => return Ok(manifest),
            Ok(_) => break,
            Err(error) => error,
        };
        let span = error.span().unwrap_or(0..0);
        if span.end <= source.text.len() {
            problems.push(source.no_manifest(&error));
        }
        if !draft.mend(&span, error.message()) {
            break;
        }
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    Err(Problems(problems))
}

/// A document that is being mended.
struct Draft<'a> {
    document: Spanned<DeTable<'a>>,
    /// Where the next thing that is put in stands: behind the text, and each by itself.
    next: usize,
}

impl<'a> Draft<'a> {
    /// Takes a mistake out; whether that was possible.
    fn mend(&mut self, span: &Span, said: &str) -> bool {
        let words: Vec<&str> = said.split('`').skip(1).step_by(2).collect();
        let new = self.next..self.next + 1;
        self.next += 1;
        let document = self.document.get_mut();
        if said.starts_with("unknown field") {
            return tables(document, span, &mut |table, _| spell(table, span, &words[1..]));
        }
        if said.starts_with("missing field") {
            return tables(document, &(0..0), &mut |table, at| {
                let here = at == span && table.keys().all(|key| key.get_ref() != words[0]);
                if here {
                    let key = Spanned::new(new.clone(), Cow::Owned(words[0].to_string()));
                    table.insert(key, Spanned::new(new.clone(), DeValue::Boolean(false)));
                }
                here
            });
        }
        let stands_for = |what: &str| said.ends_with(&format!("expected {what}"));
        let Some((_, text)) = STAND_INS.iter().find(|(what, _)| stands_for(what)) else {
            return false;
        };
        let Ok(value) = DeValue::parse(text) else { return false };
        let value = Spanned::new(new, value.into_inner());
        replace(document, span, &value)
    }
}

/// Gives the key at a place the name that was meant, if the table has room for that, or takes it
/// out.
fn spell(table: &mut DeTable, span: &Span, known: &[&str]) -> bool {
    let Some(key) = table.keys().find(|key| key.span() == *span).cloned() else { return false };
    let Some(value) = table.remove(&key) else { return false };
    if let Some(meant) = nearest(key.get_ref(), known)
        && table.keys().all(|key| key.get_ref() != meant)
    {
        table.insert(Spanned::new(key.span(), Cow::Owned(meant.to_string())), value);
    }
    true
}

/// Shows all tables with their places until one was the right one; whether one was.
fn tables(
    table: &mut DeTable,
    at: &Span,
    is_it: &mut dyn FnMut(&mut DeTable, &Span) -> bool,
) -> bool {
    is_it(table, at) || table.iter_mut().any(|(_, value)| inner_tables(value, is_it))
}

fn inner_tables(
    value: &mut Spanned<DeValue>,
    is_it: &mut dyn FnMut(&mut DeTable, &Span) -> bool,
) -> bool {
    let at = value.span();
    match value.get_mut() {
        DeValue::Table(table) => tables(table, &at, is_it),
        DeValue::Array(items) => items.iter_mut().any(|item| inner_tables(item, is_it)),
        _ => false,
    }
}

/// Puts another value in the place of the one that stands there; whether there was one.
fn replace<'a>(table: &mut DeTable<'a>, span: &Span, new: &Spanned<DeValue<'a>>) -> bool {
    table.iter_mut().any(|(_, value)| replace_value(value, span, new))
}

fn replace_value<'a>(
    value: &mut Spanned<DeValue<'a>>,
    span: &Span,
    new: &Spanned<DeValue<'a>>,
) -> bool {
    if value.span() == *span {
        *value = new.clone();
        return true;
    }
    match value.get_mut() {
        DeValue::Table(table) => replace(table, span, new),
        DeValue::Array(items) => items.iter_mut().any(|item| replace_value(item, span, new)),
        _ => false,
    }
}
