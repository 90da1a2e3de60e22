//! Unsafe code: where it may be, what must be said about it, and who must forbid it.

use super::dependencies::Root;
use super::{Finding, Source};
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Where unsafe code may be.
const ALLOWED: [&str; 8] = [
    "ports/",
    "kernel/src/access",
    "kernel/src/arena",
    "kernel/src/core",
    "kernel/src/entry",
    "kernel/tests/",
    "user/rt/src/arch/",
    "user/rt/src/shared",
];

/// Packages whose crates of a kind must forbid it. The programs' binaries are an entry point
/// that a macro of `rt` writes, which is why only their library is listed.
const FORBIDDEN: [(&str, &str); 12] = [
    ("abi", "lib"),
    ("cells", "lib"),
    ("locks", "lib"),
    ("policies", "lib"),
    ("programs", "lib"),
    ("lab", "bin"),
    ("manifest", "lib"),
    ("model", "lib"),
    ("results", "lib"),
    ("trace", "lib"),
    ("twin", "bin"),
    ("twin-protocol", "lib"),
];

/// Checks one file.
pub fn check(source: &Source) -> Vec<Finding> {
    let mut places = Places { lines: Vec::new() };
    places.visit_file(&source.tree);
    let allowed = source.is_under(&ALLOWED);
    let mut findings = Vec::new();
    for Place { line, needs_comment } in places.lines {
        if !allowed {
            let mend = "move it to a port, or to one of the few modules that may have it";
            findings.push(Finding::new(&source.path, line, "unsafe code", mend));
        } else if needs_comment && !explained(&source.text, line) {
            let mend = "say above it after `SAFETY:` why it is sound";
            findings.push(Finding::new(&source.path, line, "unexplained unsafe code", mend));
        }
    }
    findings
}

/// Checks that the crates that must forbid unsafe code do so.
pub fn check_roots(sources: &[Source], roots: &[Root]) -> Vec<Finding> {
    let must = roots
        .iter()
        .filter(|root| FORBIDDEN.contains(&(root.package.as_str(), root.kind.as_str())));
    must.filter_map(|root| {
        let source = sources.iter().find(|source| source.path == root.path)?;
        let mend = "write `#![forbid(unsafe_code)]` at its top";
        let what = "the crate does not forbid unsafe code";
        (!forbids(&source.tree)).then(|| Finding::new(&source.path, 1, what, mend))
    })
    .collect()
}

fn forbids(tree: &syn::File) -> bool {
    tree.attrs.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else { return false };
        list.path.is_ident("forbid") && list.tokens.to_string().contains("unsafe_code")
    })
}

/// Whether a comment with `SAFETY:` stands on the line, or above it in the same statement.
fn explained(text: &str, line: usize) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    if lines[line - 1].contains("SAFETY:") {
        return true;
    }
    for above in lines[..line - 1].iter().rev().map(|line| line.trim()) {
        let comment = above.starts_with("//");
        if comment && above.contains("SAFETY:") {
            return true;
        }
        if !comment && (above.is_empty() || above.ends_with([';', '{', '}'])) {
            return false;
        }
    }
    false
}

struct Place {
    line: usize,
    needs_comment: bool,
}

struct Places {
    lines: Vec<Place>,
}

impl Places {
    fn add(&mut self, span: impl Spanned, needs_comment: bool) {
        self.lines.push(Place { line: span.span().start().line, needs_comment });
    }
}

impl<'ast> Visit<'ast> for Places {
    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.add(block.unsafe_token, true);
        syn::visit::visit_expr_unsafe(self, block);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let Some(token) = item.unsafety {
            self.add(token, true);
        }
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        if let Some(token) = item.unsafety {
            self.add(token, false);
        }
        syn::visit::visit_item_trait(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if let Some(token) = signature.unsafety {
            self.add(token, false);
        }
        syn::visit::visit_signature(self, signature);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        self.add(item.abi.extern_token, false);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("unsafe") {
            self.add(attribute, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let source = Source::parse(path, text).unwrap();
        check(&source).iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
    }

    #[test]
    fn unsafe_code_has_its_places() {
        let seeds = [
            "fn f() { unsafe { g() } }",
            "unsafe fn f() {}",
            "unsafe impl Send for A {}",
            "unsafe trait T {}",
            "unsafe extern \"C\" { fn f(); }",
            "#[unsafe(no_mangle)] fn f() {}",
            "impl A { unsafe fn f(&self) {} }",
        ];
        for seed in seeds {
            assert_eq!(findings("kernel/src/ipc.rs", seed), ["1: unsafe code"], "{seed}");
        }
        assert!(findings("kernel/src/ipc.rs", "// unsafe\nfn f() { \"unsafe\"; }").is_empty());
        assert!(findings("kernel/src/arena.rs", seeds[1]).is_empty());
    }

    #[test]
    fn unsafe_code_is_explained() {
        let bare = "fn f() {\n    // SAFETY: of something else.\n    g();\n    unsafe { h() }\n}\n";
        assert_eq!(findings("ports/a/src/main.rs", bare), ["4: unexplained unsafe code"]);
        let good = bare.replace("    // SAFETY: of something else.\n", "");
        let good =
            good.replace("    unsafe", "    // SAFETY: nobody else\n    // has it.\n    unsafe");
        assert!(findings("ports/a/src/main.rs", &good).is_empty());
        let good = "fn f() {\n    // SAFETY: known.\n    let a =\n        unsafe { h() };\n}\n";
        assert!(findings("ports/a/src/main.rs", good).is_empty());
        assert_eq!(
            findings("kernel/src/access.rs", "unsafe impl Sync for A {}"),
            ["1: unexplained unsafe code"]
        );
    }

    #[test]
    fn crates_that_must_forbid_it_do() {
        let check = |text: &str, package: &str| {
            let source = Source::parse("a/src/lib.rs", text).unwrap();
            check_roots(&[source], &[Root::of(package, "lib", "a/src/lib.rs")]).len()
        };
        assert_eq!(check("#![forbid(unsafe_code)]", "abi"), 0);
        assert_eq!(check("#![deny(unsafe_code)]", "abi"), 1);
        assert_eq!(check("", "policies"), 1);
        assert_eq!(check("", "kernel"), 0);
    }
}
