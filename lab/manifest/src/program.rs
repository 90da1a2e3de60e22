//! The program of a domain: a name, a crate, sources in C or an ELF file.

use toml::{Spanned, Table, Value};

use crate::problem::{Problem, quote};
use crate::suggest::hint;
use crate::system::Origin;
use crate::values::{LONGEST_NAME, Values};

/// The function of a crate that does not say.
const ENTRY: &str = "main";

/// How a program is given.
const HELP: &str =
    "write \"NAME\", { crate = \"FOLDER\" }, { c = [\"FILE\"] } or { elf = \"FILE\" }";

/// The keys of a program from elsewhere.
const KEYS: [&str; 5] = ["crate", "entry", "c", "flags", "elf"];

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
    if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let help = hint(key, "keys here are", &KEYS);
        return Err(values.problem(
            given,
            format!("{} is not a key of a program", quote(key)),
            help,
        ));
    }
    let list = |key: &str, what: &str| {
        let message = || format!("`{key}` of this program is no list of {what}");
        words(table.get(key)).ok_or_else(|| values.problem(given, message(), HELP))
    };
    let (sources, flags) = (list("c", "files")?, list("flags", "flags")?);
    match (text("crate")?, text("entry")?, text("elf")?, sources, flags) {
        (Some(folder), entry, None, None, None) => {
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
        (None, None, Some(file), None, None) => {
            Ok((format!("elf {file}"), Origin::Elf(file.into())))
        }
        (None, None, None, Some(sources), flags) if !sources.is_empty() => {
            let flags = flags.unwrap_or_default();
            let all = sources.iter().chain(&flags).map(|word| match word.contains(' ') {
                true => format!(" {word:?}"),
                false => format!(" {word}"),
            });
            Ok((format!("c{}", all.collect::<String>()), Origin::C { sources, flags }))
        }
        _ => Err(values.problem(given, "a program has one origin", HELP)),
    }
}

/// The words of a list; `Some(None)`: there is no such list, `None`: it is something else.
fn words(given: Option<&Value>) -> Option<Option<Vec<String>>> {
    let Some(given) = given else { return Some(None) };
    let word = |word: &Value| word.as_str().filter(|word| is_path(word)).map(String::from);
    given.as_array()?.iter().map(word).collect::<Option<Vec<_>>>().map(Some)
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_control)
}

fn is_identifier(word: &str) -> bool {
    let mut letters = word.chars();
    let first = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_');
    first && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use crate::Origin;

    fn read(program: &str) -> Result<(String, Origin), String> {
        let text = format!(
            "[system]\nname = \"s\"\n[[domain]]\nname = \"d\"\npriority = 1\nprogram = {program}\n"
        );
        let system = crate::parse("s.toml", &text);
        let mut system = system.map_err(|problems| problems.to_string())?;
        let domain = system.domains.remove(0);
        Ok((domain.program, domain.origin))
    }

    #[test]
    fn sources_in_c_are_files_and_flags() {
        let c = |sources: &[&str], flags: &[&str]| {
            let [sources, flags] =
                [sources, flags].map(|all| all.iter().map(|word| word.to_string()).collect());
            Origin::C { sources, flags }
        };
        let one = read("{ c = [\"a.c\"] }").unwrap();
        assert_eq!(one, ("c a.c".to_string(), c(&["a.c"], &[])));
        let more = read("{ c = [\"a.c\", \"b.c\"], flags = [\"-DX\"] }").unwrap();
        assert_eq!(more, ("c a.c b.c -DX".to_string(), c(&["a.c", "b.c"], &["-DX"])));
        let [blank, two] =
            ["[\"a b\"]", "[\"a\", \"b\"]"].map(|it| read(&format!("{{ c = {it} }}")));
        assert_ne!(blank.unwrap().0, two.unwrap().0);
        for (wrong, said) in [
            ("{ c = \"a.c\" }", "`c` of this program is no list of files"),
            ("{ c = [\"a.c\"], flags = \"-DX\" }", "`flags` of this program is no list of flags"),
            ("{ c = [] }", "a program has one origin"),
            ("{ c = [\"a.c\"], elf = \"a\" }", "a program has one origin"),
            ("{ flags = [\"-DX\"] }", "a program has one origin"),
            ("{ cc = [\"a.c\"] }", "`cc` is not a key of a program"),
        ] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains(said), "{wrong}: {error}");
        }
    }
}
