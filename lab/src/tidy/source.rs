//! A Rust source file, parsed.

use super::Finding;
use std::collections::BTreeSet;

/// A source file.
pub struct Source {
    /// Its path relative to the root of the work tree, with forward slashes.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its syntax tree.
    pub tree: syn::File,
}

impl Source {
    /// Parses a file.
    pub fn parse(path: &str, text: &str) -> Result<Source, Finding> {
        match syn::parse_file(text) {
            Ok(tree) => Ok(Source { path: path.to_string(), text: text.to_string(), tree }),
            Err(error) => {
                let line = error.span().start().line;
                Err(Finding::new(path, line, format!("not Rust: {error}"), "make it parse"))
            }
        }
    }

    /// Whether the file lies under one of these path prefixes.
    pub fn is_under(&self, prefixes: &[&str]) -> bool {
        prefixes.iter().any(|prefix| self.path.starts_with(prefix))
    }

    /// Numbers, from 1, of the lines that hold code: neither blank nor comment alone.
    pub fn code_lines(&self) -> BTreeSet<usize> {
        let mut in_block = false;
        let mut lines = BTreeSet::new();
        for (index, line) in self.text.lines().enumerate() {
            let line = line.trim();
            let starts_block = line.starts_with("/*");
            if !in_block && !starts_block && !line.is_empty() && !line.starts_with("//") {
                lines.insert(index + 1);
            }
            in_block = (in_block || starts_block) && !line.contains("*/");
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blank_lines_are_not_code() {
        let text = "//! Doc.\n\n/* a\n   b */\nfn f() {\n    // why\n    g(); // also\n}\n";
        let source = Source::parse("a.rs", text).unwrap();
        assert_eq!(source.code_lines(), BTreeSet::from([5, 7, 8]));
    }

    #[test]
    fn what_does_not_parse_is_a_finding_with_its_line() {
        let finding = Source::parse("a.rs", "fn f() {}\nfn {}\n").err().unwrap();
        assert_eq!((finding.file.as_str(), finding.line), ("a.rs", 2));
    }
}
