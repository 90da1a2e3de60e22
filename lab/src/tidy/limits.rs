//! Limits on size: columns, lines of a file, code lines of a function.

use super::{Finding, Source};
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::Visit;

const COLUMNS: usize = 100;
const FILE_LINES: usize = 600;
const FUNCTION_LINES: usize = 70;

/// Checks one file.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > COLUMNS {
            let what = format!("line of {columns} columns");
            let mend = format!("break it at {COLUMNS}");
            findings.push(Finding::new(&source.path, index + 1, what, &mend));
        }
    }
    let lines = source.text.lines().count();
    if lines > FILE_LINES {
        let what = format!("file of {lines} lines");
        let mend = format!("split it by idea; the limit is {FILE_LINES}");
        findings.push(Finding::new(&source.path, lines, what, &mend));
    }
    let mut functions = Functions { source, code: source.code_lines(), findings };
    functions.visit_file(&source.tree);
    functions.findings
}

struct Functions<'a> {
    source: &'a Source,
    code: BTreeSet<usize>,
    findings: Vec<Finding>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let start = signature.span().start().line;
        let end = block.span().end().line;
        let lines = self.code.range(start..=end).count();
        if lines > FUNCTION_LINES {
            let what = format!("function `{}` of {lines} code lines", signature.ident);
            let mend = format!("split it by idea; the limit is {FUNCTION_LINES}");
            self.findings.push(Finding::new(&self.source.path, start, what, &mend));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        syn::visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig, &function.block);
        syn::visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.measure(&function.sig, block);
        }
        syn::visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let source = Source::parse("a.rs", text).unwrap();
        check(&source).iter().map(Finding::to_string).collect()
    }

    fn function(lines: usize) -> String {
        // The signature and the brace are two of them.
        format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2))
    }

    #[test]
    fn a_line_may_have_100_columns() {
        assert!(findings(&format!("// {}\n", "é".repeat(97))).is_empty());
        let long = findings(&format!("\n// {}\n", "é".repeat(98)));
        assert_eq!(long, ["a.rs:2: line of 101 columns; break it at 100"]);
    }

    #[test]
    fn a_file_may_have_600_lines() {
        assert!(findings(&"//\n".repeat(600)).is_empty());
        let long = findings(&"//\n".repeat(601));
        assert_eq!(long, ["a.rs:601: file of 601 lines; split it by idea; the limit is 600"]);
    }

    #[test]
    fn a_function_may_have_70_code_lines() {
        assert!(findings(&function(70)).is_empty());
        let long = "function `f` of 71 code lines; split it by idea; the limit is 70";
        assert_eq!(findings(&function(71)), [format!("a.rs:1: {long}")]);
        let method = format!("impl A {{\n{}}}\n", function(71));
        assert_eq!(findings(&method), [format!("a.rs:2: {long}")]);
        let default = format!("trait A {{\n{}}}\n", function(71));
        assert_eq!(findings(&default), [format!("a.rs:2: {long}")]);
        let comments = function(70).replace("    g();\n", "    // why\n\n    g();\n");
        assert!(findings(&comments).is_empty());
    }
}
