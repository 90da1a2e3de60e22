//! The order of the kernel's modules: each uses modules of lower lines alone, so that the core can
//! be read from the bottom to the top. The order stands in ARCHITECTURE.md, and only there.

use super::{Finding, Source};
use anyhow::{Context, Result};
use fs_err as fs;
use std::path::Path;
use syn::visit::Visit;

/// What stands before the order in ARCHITECTURE.md.
const MARK: &str = "<!-- not run: the order of modules, which tidy checks -->";
/// Where the modules are.
const FOLDER: &str = "kernel/src/";

const MEND: &str = "move what is used to a lower module; the order stands in ARCHITECTURE.md";

/// The lines of the order, from the top.
pub struct Order(Vec<Vec<String>>);

impl Order {
    /// Reads the order in the work tree at `root`.
    pub fn read(root: &Path) -> Result<Order> {
        Order::parse(&fs::read_to_string(root.join("ARCHITECTURE.md"))?)
    }

    fn parse(text: &str) -> Result<Order> {
        let block = text.split_once(MARK).and_then(|(_, rest)| rest.split("```").nth(1));
        let block = block.context("ARCHITECTURE.md has no order of the kernel's modules")?;
        let modules = |line: &str| line.split(", ").map(|name| name.trim().to_string()).collect();
        Ok(Order(block.lines().skip(1).filter(|line| !line.is_empty()).map(modules).collect()))
    }

    fn line(&self, module: &str) -> Option<usize> {
        self.0.iter().position(|line| line.iter().any(|name| name == module))
    }

    /// Checks one file.
    pub fn check(&self, source: &Source) -> Vec<Finding> {
        let Some(module) = module(&source.path) else { return Vec::new() };
        let Some(own) = self.line(module) else {
            let what = format!("module `{module}` has no place in the order of modules");
            return vec![Finding::new(&source.path, 1, what, "give it one in ARCHITECTURE.md")];
        };
        let mut uses = Uses::default();
        uses.visit_file(&source.tree);
        let back = |(used, _): &(String, usize)| {
            used != module && self.line(used).is_some_and(|line| line <= own)
        };
        let finding = |(used, line): (String, usize)| {
            let what = format!("`{module}` uses `{used}`, which is not below it");
            Finding::new(&source.path, line, what, MEND)
        };
        uses.0.into_iter().filter(back).map(finding).collect()
    }
}

/// The kernel's module that a file is part of, if any: `lib.rs` is all of them.
fn module(path: &str) -> Option<&str> {
    let module = path.strip_prefix(FOLDER)?.split('/').next()?.trim_end_matches(".rs");
    (module != "lib").then_some(module)
}

/// The modules that a file names by `crate::`, with the lines.
#[derive(Default)]
struct Uses(Vec<(String, usize)>);

impl Uses {
    fn add(&mut self, module: &syn::Ident) {
        self.0.push((module.to_string(), module.span().start().line));
    }

    /// What stands behind `crate::` in a `use`.
    fn add_tree(&mut self, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => self.add(&path.ident),
            syn::UseTree::Name(name) => self.add(&name.ident),
            syn::UseTree::Rename(name) => self.add(&name.ident),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(tree)),
            syn::UseTree::Glob(_) => {}
        }
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_use_path(&mut self, path: &'ast syn::UsePath) {
        if path.ident == "crate" {
            self.add_tree(&path.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.first().is_some_and(|first| first.ident == "crate")
            && let Some(module) = path.segments.get(1)
        {
            self.add(&module.ident);
        }
        syn::visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let order = format!("before\n{MARK}\n```text\nipc, manage\nentry\naccess, cost\n```\n");
        let source = Source::parse(path, text).unwrap();
        let found = Order::parse(&order).unwrap().check(&source);
        found.iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
    }

    #[test]
    fn what_is_lower_may_be_used() {
        let text = "use crate::{access::Ref, entry};\nfn f() { crate::cost::step() }";
        assert_eq!(findings("kernel/src/ipc/plan.rs", text), [""; 0]);
        assert_eq!(findings("kernel/src/ipc/mod.rs", "use crate::ipc::plan;"), [""; 0]);
        assert_eq!(findings("kernel/src/lib.rs", "use crate::ipc::plan;"), [""; 0]);
        assert_eq!(findings("locks/src/lib.rs", "use crate::ipc::plan;"), [""; 0]);
    }

    #[test]
    fn what_is_above_or_beside_may_not() {
        let above = findings("kernel/src/entry/mod.rs", "use crate::{access, ipc::plan};");
        assert_eq!(above, ["1: `entry` uses `ipc`, which is not below it"]);
        let beside = findings("kernel/src/manage/mod.rs", "\nfn f(a: crate::ipc::Plan) {}");
        assert_eq!(beside, ["2: `manage` uses `ipc`, which is not below it"]);
    }

    #[test]
    fn a_module_without_a_place_is_found() {
        assert_eq!(findings("kernel/src/new.rs", "").len(), 1);
        assert!(Order::parse("no order").is_err());
    }
}
