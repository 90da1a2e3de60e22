//! The manifest's keys: each one that `lab/manifest` reads is on a page, in the section of its
//! table, and each one that a table of keys lists is read. One that must be given is `needed`.

use super::Finding;
use anyhow::{Context, Result};
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Where the keys are declared, and the structure of a whole manifest.
const SCHEMA: &str = "lab/manifest/src/schema.rs";
const WHOLE: &str = "Manifest";
/// The pages that have them.
const PAGES: [&str; 4] =
    ["docs/manifest.md", "docs/devices.md", "docs/supervisor.md", "docs/live.md"];
/// A default that says that there is none.
const NEEDED: &str = "needed";

/// A key of a structure.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    /// The structure that its value is, if it is one.
    inner: Option<String>,
    is_needed: bool,
}

/// The keys of each structure.
type Schema = BTreeMap<String, BTreeMap<String, Key>>;

/// What pages say of one structure.
#[derive(Default)]
struct Described {
    /// Words of code in its sections.
    words: BTreeSet<String>,
    rows: Vec<Row>,
}

/// A row of a table of keys.
struct Row {
    page: &'static str,
    line: usize,
    keys: Vec<String>,
    default: Option<String>,
}

/// What pages say of each structure.
type Pages = BTreeMap<String, Described>;

/// Checks the pages of the work tree at `root`.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let schema = schema(&fs::read_to_string(root.join(SCHEMA))?)?;
    let mut pages = Pages::new();
    for page in PAGES {
        describe(page, &fs::read_to_string(root.join(page))?, &schema, &mut pages);
    }
    Ok(compare(&schema, &pages))
}

/// The structures of a source.
fn schema(source: &str) -> Result<Schema> {
    let items = syn::parse_file(source)?.items;
    let structures = items.into_iter().filter_map(|item| match item {
        syn::Item::Struct(one) => Some(one),
        _ => None,
    });
    let structures: Vec<_> = structures.collect();
    let is_structure = |name: &String| structures.iter().any(|one| one.ident == name);
    let mut schema = Schema::new();
    for one in &structures {
        let mut keys = BTreeMap::new();
        for field in &one.fields {
            let name = field.ident.as_ref().context("keys have names")?.to_string();
            let serde = field.attrs.iter().map(serde).collect::<String>();
            let renamed = serde.split_once("rename = \"").and_then(|(_, to)| to.split('"').next());
            let types = identifiers(&field.ty);
            let is_optional = types.first().is_some_and(|outer| outer == "Option");
            let is_needed = !is_optional && !serde.contains("default");
            let inner = types.into_iter().find(is_structure);
            keys.insert(renamed.unwrap_or(&name).to_string(), Key { inner, is_needed });
        }
        schema.insert(one.ident.to_string(), keys);
    }
    Ok(schema)
}

/// The text of an attribute for serde.
fn serde(attribute: &syn::Attribute) -> String {
    match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("serde") => list.tokens.to_string(),
        _ => String::new(),
    }
}

/// The identifiers of a type, the outermost one first.
fn identifiers(of: &syn::Type) -> Vec<String> {
    let syn::Type::Path(path) = of else { return Vec::new() };
    let Some(last) = path.path.segments.last() else { return Vec::new() };
    let mut all = vec![last.ident.to_string()];
    if let syn::PathArguments::AngleBracketed(inner) = &last.arguments {
        for argument in &inner.args {
            if let syn::GenericArgument::Type(of) = argument {
                all.extend(identifiers(of));
            }
        }
    }
    all
}

/// The structure that code in a text names, as `[[domain.task]]` and `caps` do.
fn named(text: &str, schema: &Schema) -> Option<String> {
    let structure = |code: &str| {
        let name = code.trim_matches(['[', ']']).rsplit('.').next()?;
        let mut keys = schema.values().flatten().filter(|(key, _)| *key == name);
        keys.find_map(|(_, key)| key.inner.clone())
    };
    codes(text).find_map(structure)
}

/// Parts of a text that are code.
fn codes(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Words that can be keys.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Collects what a page says. A section, a table or a row that names a structure is about it.
fn describe(page: &'static str, text: &str, schema: &Schema, pages: &mut Pages) {
    let mut sections: Vec<(usize, Option<String>)> = Vec::new();
    let (mut head, mut owner, mut is_example): (Vec<&str>, Option<String>, bool) =
        Default::default();
    for (line, number) in text.lines().zip(1..) {
        is_example ^= line.starts_with("```");
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if is_example {
            continue;
        } else if level > 0 {
            sections.retain(|(outer, _)| *outer < level);
            sections.push((level, named(line, schema)));
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let section = || sections.iter().rev().find_map(|(_, name)| name.clone());
        if !line.starts_with('|') {
            head.clear();
            owner = section();
        } else if head.is_empty() {
            owner = named(cells[1], schema).or_else(section);
            head = cells;
            continue;
        } else if head[1] == "table" || head[1] == "section" {
            owner = named(cells[1], schema).or(owner);
        }
        let Some(owner) = &owner else { continue };
        let described = pages.entry(owner.clone()).or_default();
        described.words.extend(codes(line).flat_map(words).map(String::from));
        let column = |is_it: fn(&str) -> bool| head.iter().position(|cell| is_it(cell));
        if let Some(key) = column(|cell| cell == "key" || cell.starts_with("key of ")) {
            let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
            let first = |code| words(code).next().filter(|word| code.starts_with(word));
            let keys = codes(cell(key)).filter_map(first).map(String::from).collect();
            let default = column(|cell| cell == "default").map(|at| cell(at).to_string());
            described.rows.push(Row { page, line: number, keys, default });
        }
    }
}

fn compare(schema: &Schema, pages: &Pages) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, keys) in schema.iter().filter(|(name, _)| *name != WHOLE) {
        // A structure without a section of its own is described where its key is.
        let holds = |keys: &BTreeMap<String, Key>| {
            keys.values().any(|key| key.inner.as_ref() == Some(name))
        };
        let around = schema.iter().filter(|(_, keys)| holds(keys)).map(|(outer, _)| outer);
        let own: Vec<&Described> = match pages.get(name) {
            Some(own) => vec![own],
            None => around.filter_map(|outer| pages.get(outer)).collect(),
        };
        for key in keys.keys().filter(|key| own.iter().all(|it| !it.words.contains(*key))) {
            let what = format!("the key `{key}` of `{name}` in {SCHEMA} is not described");
            findings.push(Finding::new(PAGES[0], 1, what, "write what it means"));
        }
        for row in pages.get(name).into_iter().flat_map(|own| &own.rows) {
            findings.extend(row.keys.iter().filter_map(|key| wrong(row, key, keys.get(key))));
        }
    }
    findings
}

/// What is wrong with a key in a row.
fn wrong(row: &Row, name: &str, key: Option<&Key>) -> Option<Finding> {
    let is_needed = row.default.as_ref().map(|default| default == NEEDED);
    let (what, mend) = match key {
        None => ("is not in the schema", "take the row out, or name the key as it is read"),
        Some(key) if key.is_needed && is_needed == Some(false) => {
            ("must be given", "write `needed` for its default")
        }
        Some(_) => return None,
    };
    Some(Finding::new(row.page, row.line, format!("the key `{name}` {what}"), mend))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "struct Manifest { system: Spanned<General>, #[serde(default)]\n\
        domain: Vec<Spanned<Domain>> }\n\
        struct General { name: Word, tick: Option<Word> }\n\
        struct Domain { #[serde(rename = \"in\")] class: Word, told: Option<Told> }\n\
        struct Told { badge: Number }";
    const PAGE: &str = "## `[system]`\n\n| key | default |\n|---|---|\n| `name` | needed |\n\
        | `tick` | \"1ms\" |\n\n## Others\n\n| table | key | default |\n|---|---|---|\n\
        | `[[domain]]` | `in` | needed |\n| | `told` | `{ badge = 1 }` |\n";

    fn said(page: &str) -> Vec<String> {
        let (schema, mut pages) = (schema(SOURCE).unwrap(), Pages::new());
        describe(PAGES[0], page, &schema, &mut pages);
        compare(&schema, &pages).iter().map(|it| format!("{}: {}", it.line, it.what)).collect()
    }

    #[test]
    fn keys_and_pages_correspond() {
        assert!(said(PAGE).is_empty(), "{:?}", said(PAGE));
        let of_other_page = PAGE.replace("| table | key |", "| key of `[[domain]]` | - |");
        assert!(said(&of_other_page.replace("| `[[domain]]` | `in` |", "| `in` | |")).is_empty());
    }

    #[test]
    fn what_does_not_correspond_is_found() {
        let not = |key: &str, of: &str| {
            format!("1: the key `{key}` of `{of}` in {SCHEMA} is not described")
        };
        let misspelt = PAGE.replace("`tick`", "`tack`");
        let unknown = "6: the key `tack` is not in the schema";
        assert_eq!(said(&misspelt), [not("tick", "General"), unknown.to_string()]);
        let fewer = PAGE.replace("badge = 1", "1");
        assert_eq!(said(&fewer), [not("badge", "Told")]);
        let optional = PAGE.replace("`name` | needed", "`name` | none");
        assert_eq!(said(&optional), ["5: the key `name` must be given"]);
    }
}
