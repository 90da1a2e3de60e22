//! Dead files: a source that no crate reaches through its modules is never compiled.

use super::dependencies::Root;
use super::{Finding, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Checks that every source is reached from a crate root.
pub fn check(sources: &[Source], roots: &[Root]) -> Vec<Finding> {
    let by_path: BTreeMap<&str, &Source> =
        sources.iter().map(|source| (source.path.as_str(), source)).collect();
    let mut reached = BTreeSet::new();
    for root in roots {
        let directory = directory_of(&root.path);
        visit(&by_path, &root.path, directory, &mut reached);
    }
    let dead = sources.iter().filter(|source| !reached.contains(&source.path));
    dead.map(|source| {
        Finding::new(
            &source.path,
            1,
            "no crate compiles this file",
            "declare it with `mod` or delete it",
        )
    })
    .collect()
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Follows the modules that `path` declares; they lie in `directory`.
fn visit(
    sources: &BTreeMap<&str, &Source>,
    path: &str,
    directory: &str,
    reached: &mut BTreeSet<String>,
) {
    let Some(source) = sources.get(path) else { return };
    if !reached.insert(path.to_string()) {
        return;
    }
    let at = Place { own: directory_of(path), modules: directory };
    follow(sources, &source.tree.items, at, reached);
}

/// Where module files are looked for: beside the file for `#[path]`, and by name.
#[derive(Clone, Copy)]
struct Place<'a> {
    own: &'a str,
    modules: &'a str,
}

fn follow(
    sources: &BTreeMap<&str, &Source>,
    items: &[syn::Item],
    at: Place<'_>,
    reached: &mut BTreeSet<String>,
) {
    for item in items {
        let syn::Item::Mod(module) = item else { continue };
        let inner = join(at.modules, &module.ident.to_string());
        if let Some((_, items)) = &module.content {
            follow(sources, items, Place { own: &inner, modules: &inner }, reached);
        } else if let Some(path) = path_attribute(&module.attrs) {
            let file = join(at.own, &path);
            visit(sources, &file, directory_of(&file), reached);
        } else {
            visit(sources, &format!("{inner}.rs"), &inner, reached);
            visit(sources, &format!("{inner}/mod.rs"), &inner, reached);
        }
    }
}

/// Joins paths and resolves `..`.
fn join(directory: &str, path: &str) -> String {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| {
        let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
        let syn::Expr::Lit(literal) = &pair.value else { return None };
        match &literal.lit {
            syn::Lit::Str(path) if pair.path.is_ident("path") => Some(path.value()),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(files: &[(&str, &str)], roots: &[&str]) -> Vec<String> {
        let sources: Vec<_> =
            files.iter().map(|(path, text)| Source::parse(path, text).unwrap()).collect();
        let roots: Vec<_> = roots.iter().map(|path| Root::of("a", "lib", path)).collect();
        check(&sources, &roots).into_iter().map(|finding| finding.file).collect()
    }

    #[test]
    fn modules_are_followed_in_every_spelling() {
        let files = [
            ("a/src/lib.rs", "mod b; mod c; mod d { mod e; } #[path = \"x/y.rs\"] mod z;"),
            ("a/src/b.rs", "mod inner;"),
            ("a/src/b/inner.rs", ""),
            ("a/src/c/mod.rs", "mod inner; #[path = \"../other.rs\"] mod other;"),
            ("a/src/c/inner.rs", ""),
            ("a/src/other.rs", ""),
            ("a/src/d/e.rs", ""),
            ("a/src/x/y.rs", ""),
        ];
        assert!(dead(&files, &["a/src/lib.rs"]).is_empty());
    }

    #[test]
    fn a_file_that_nobody_declares_is_dead() {
        let files = [("a/src/lib.rs", "mod b;"), ("a/src/b.rs", ""), ("a/src/old.rs", "")];
        assert_eq!(dead(&files, &["a/src/lib.rs"]), ["a/src/old.rs"]);
        assert!(dead(&files, &["a/src/lib.rs", "a/src/old.rs"]).is_empty());
    }
}
