//! Archives and servers of files against models.

mod archives;
mod corrupt;
mod serving;
mod words;

use cpio::newc::{self, Builder};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Write;

/// Files by their paths; folders have no content.
type Tree = BTreeMap<String, Option<Vec<u8>>>;

/// Names that differ in what the order of paths depends on.
const NAMES: [&str; 8] = ["a", "a-b", "ab", "b", "b.c", "ü", "a b", "Z"];

/// A tree of some files and folders. What lies in a folder lies in one that is there.
fn tree() -> impl Strategy<Value = Tree> {
    let path = prop::collection::vec(prop::sample::select(&NAMES), 1..4);
    let content = prop::option::of(prop::collection::vec(any::<u8>(), 0..40));
    prop::collection::vec((path, content), 0..12).prop_map(|all| {
        let mut tree = Tree::new();
        for (names, content) in all {
            let folders = (1..names.len()).map(|end| names[..end].join("/"));
            let folders: Vec<String> = folders.collect();
            let is_file = |path: &String| matches!(tree.get(path), Some(Some(_)));
            let path = names.join("/");
            if !folders.iter().any(is_file) && !tree.contains_key(&path) {
                tree.extend(folders.into_iter().map(|folder| (folder, None)));
                tree.insert(path, content);
            }
        }
        tree
    })
}

/// An archive with these entries, in this order.
fn archive<'a>(entries: impl IntoIterator<Item = (&'a str, Option<&'a [u8]>)>) -> Vec<u8> {
    let mut archive = Vec::new();
    for (path, content) in entries {
        let mode = if content.is_some() { 0o100644 } else { 0o040755 };
        let content = content.unwrap_or_default();
        let mut entry = Builder::new(path).mode(mode).write(archive, content.len() as u32);
        entry.write_all(content).unwrap();
        archive = entry.finish().unwrap();
    }
    newc::trailer(archive).unwrap()
}

/// The archive of a tree.
fn packed(tree: &Tree) -> Vec<u8> {
    archive(tree.iter().map(|(path, content)| (path.as_str(), content.as_deref())))
}

/// What lies in a folder, in the order of names.
fn children<'a>(tree: &'a Tree, folder: &'a str) -> Vec<&'a str> {
    let inner = |path: &'a String| match path.rsplit_once('/') {
        Some((above, name)) => (above == folder).then_some(name),
        None => folder.is_empty().then_some(path.as_str()),
    };
    tree.keys().filter_map(inner).collect()
}
