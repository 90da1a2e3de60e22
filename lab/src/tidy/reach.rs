//! Dead files: a source that no crate reaches through its modules is never compiled.

use super::dependencies::Root;
use super::{Finding, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Checks that every source is reached from a crate root.
pub fn check(sources: &[Source], roots: &[Root]) -> Vec<Finding> {
    let trees = sources.iter().map(|source| (source.path.as_str(), &source.tree)).collect();
    let mut reach = Reach { trees, reached: BTreeSet::new() };
    for root in roots {
        reach.file(root.path.clone(), directory_of(&root.path));
    }
    let dead = sources.iter().filter(|source| !reach.reached.contains(&source.path));
    let mend = "declare it with `mod` or delete it";
    dead.map(|source| Finding::new(&source.path, 1, "no crate compiles this file", mend)).collect()
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

struct Reach<'a> {
    trees: BTreeMap<&'a str, &'a syn::File>,
    reached: BTreeSet<String>,
}

impl Reach<'_> {
    /// Follows the modules that a file declares; theirs lie in `modules`.
    fn file(&mut self, path: String, modules: &str) {
        if let Some(tree) = self.trees.get(path.as_str()).copied()
            && self.reached.insert(path.clone())
        {
            self.items(&tree.items, directory_of(&path), modules);
        }
    }

    /// Follows modules: their files lie beside this one for `#[path]`, and by name in `modules`.
    fn items(&mut self, items: &[syn::Item], own: &str, modules: &str) {
        for item in items {
            let syn::Item::Mod(module) = item else { continue };
            let inner = join(modules, &module.ident.to_string());
            if let Some((_, items)) = &module.content {
                self.items(items, &inner, &inner);
            } else if let Some(path) = path_attribute(&module.attrs) {
                let file = join(own, &path);
                self.file(file.clone(), directory_of(&file));
            } else {
                self.file(format!("{inner}.rs"), &inner);
                self.file(format!("{inner}/mod.rs"), &inner);
            }
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
        let roots: Vec<_> = roots
            .iter()
            .map(|path| [path, "a", "lib"].map(str::to_string))
            .map(|[path, package, kind]| Root { package, kind, path })
            .collect();
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
    fn a_file_that_no_module_declares_is_dead() {
        let files = [("a/src/lib.rs", "mod b;"), ("a/src/b.rs", ""), ("a/src/old.rs", "")];
        assert_eq!(dead(&files, &["a/src/lib.rs"]), ["a/src/old.rs"]);
        assert!(dead(&files, &["a/src/lib.rs", "a/src/old.rs"]).is_empty());
    }
}
