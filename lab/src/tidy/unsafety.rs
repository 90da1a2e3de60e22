//! Unsafe code: where it may be, and which crates must forbid it. Clippy wants it explained
//! (`undocumented_unsafe_blocks`).

use super::dependencies::Root;
use super::{Finding, Source};
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Where unsafe code may be.
const ALLOWED: [&str; 9] = [
    "lab/exact/",
    "ports/",
    "kernel/src/access",
    "kernel/src/arena",
    "kernel/src/entry",
    "kernel/src/events",
    "kernel/tests/",
    "user/rt/src/arch/",
    "user/rt/src/shared",
];

/// Packages whose crates of a kind must forbid it.
const FORBIDDEN: [(&str, &str); 24] = [
    ("abi", "lib"),
    ("cells", "lib"),
    ("locks", "lib"),
    ("policies", "lib"),
    ("section", "proc-macro"),
    ("programs", "lib"),
    ("files", "lib"),
    ("ring", "lib"),
    ("network", "lib"),
    ("sockets", "lib"),
    ("service", "lib"),
    ("service-macro", "proc-macro"),
    ("supervision", "lib"),
    ("supervisor", "lib"),
    ("sync", "lib"),
    ("lab", "bin"),
    ("analysis", "lib"),
    ("devices", "lib"),
    ("manifest", "lib"),
    ("model", "lib"),
    ("results", "lib"),
    ("trace", "lib"),
    ("twin", "bin"),
    ("twin-protocol", "lib"),
];

/// Checks one file.
pub fn check(source: &Source) -> Vec<Finding> {
    if source.is_under(&ALLOWED) {
        return Vec::new();
    }
    let mut places = Places(Vec::new());
    places.visit_file(&source.tree);
    let mend = "move it to a port, or to one of the few modules that may have it";
    let finding = |line| Finding::new(&source.path, line, "unsafe code", mend);
    places.0.into_iter().map(finding).collect()
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

/// The lines with unsafe code.
struct Places(Vec<usize>);

impl Places {
    fn add(&mut self, span: impl Spanned) {
        self.0.push(span.span().start().line);
    }
}

impl<'ast> Visit<'ast> for Places {
    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.add(block.unsafe_token);
        syn::visit::visit_expr_unsafe(self, block);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        item.unsafety.into_iter().for_each(|token| self.add(token));
        syn::visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        item.unsafety.into_iter().for_each(|token| self.add(token));
        syn::visit::visit_item_trait(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        signature.unsafety.into_iter().for_each(|token| self.add(token));
        syn::visit::visit_signature(self, signature);
    }

    fn visit_item_foreign_mod(&mut self, item: &'ast syn::ItemForeignMod) {
        self.add(item.abi.extern_token);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("unsafe") {
            self.add(attribute);
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
    fn crates_that_must_forbid_it_do() {
        let check = |text: &str, package: &str| {
            let source = Source::parse("a/src/lib.rs", text).unwrap();
            let [package, kind, path] = [package, "lib", "a/src/lib.rs"].map(str::to_string);
            check_roots(&[source], &[Root { package, kind, path }]).len()
        };
        assert_eq!(check("#![forbid(unsafe_code)]", "abi"), 0);
        assert_eq!(check("#![deny(unsafe_code)]", "abi"), 1);
        assert_eq!(check("", "policies"), 1);
        assert_eq!(check("", "kernel"), 0);
    }
}
