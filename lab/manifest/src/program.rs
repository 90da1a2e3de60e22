//! The program of a domain: a name, a crate or an ELF file.

use toml::{Spanned, Table, Value};

use crate::problem::{Problem, quote};
use crate::suggest::hint;
use crate::system::Origin;
use crate::values::{LONGEST_NAME, Values};

/// The function of a crate that does not say.
const ENTRY: &str = "main";

/// How a program is given.
const HELP: &str = "write \"NAME\", { crate = \"FOLDER\" } or { elf = \"FILE\" }";

/// Reads the value of `program`: what the program is called, and where it comes from. Names of
/// programs from elsewhere hold a space, which Giusto's own do not.
pub fn read(values: &Values, given: &Spanned<Value>) -> Result<(String, Origin), Problem> {
    match given.get_ref() {
        Value::String(name) => {
            let word = Spanned::new(given.span(), name.clone());
            Ok((values.name(&word, LONGEST_NAME)?, Origin::Giusto))
        }
        Value::Table(table) => from_elsewhere(values, given, table),
        _ => Err(values.problem(given, "this is no program", HELP)),
    }
}

fn from_elsewhere(
    values: &Values,
    given: &Spanned<Value>,
    table: &Table,
) -> Result<(String, Origin), Problem> {
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) if is_path(text) => Ok(Some(text.as_str())),
        Some(_) => {
            Err(values.problem(given, format!("`{key}` of this program is not a path"), HELP))
        }
    };
    if let Some(key) = table.keys().find(|key| !["crate", "entry", "elf"].contains(&key.as_str())) {
        let help = hint(key, "keys here are", &["crate", "entry", "elf"]);
        return Err(values.problem(
            given,
            format!("{} is not a key of a program", quote(key)),
            help,
        ));
    }
    match (text("crate")?, text("entry")?, text("elf")?) {
        (Some(folder), entry, None) => {
            let entry = entry.unwrap_or(ENTRY);
            if !entry.split("::").all(is_identifier) {
                let message = format!("{} is not the path of a function", quote(entry));
                let help = "name a function of the crate, for instance entry = \"sensor::main\"";
                return Err(values.problem(given, message, help));
            }
            let name = match entry {
                ENTRY => format!("crate {folder}"),
                _ => format!("crate {folder} {entry}"),
            };
            Ok((name, Origin::Crate { folder: folder.into(), entry: entry.into() }))
        }
        (None, None, Some(file)) => Ok((format!("elf {file}"), Origin::Elf(file.into()))),
        _ => Err(values.problem(given, "a program has one origin", HELP)),
    }
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_control)
}

fn is_identifier(word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
    first && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}
