//! Nothing but the ports knows a processor: no architecture is named and no assembly written
//! elsewhere.

use super::{Finding, Source};
use crate::machine::words;
use std::collections::HashSet;
use syn::visit::Visit;

/// Where they may stand: the ports, the user side's stubs, and the lab's description of machines.
const ALLOWED: [&str; 3] = ["ports/", "user/rt/src/arch/", "lab/src/machine/"];

const MEND: &str = "move it behind the port trait, under ports/ or user/rt/src/arch/";

/// Checks one file.
pub fn check(source: &Source) -> Vec<Finding> {
    if source.is_under(&ALLOWED) {
        return Vec::new();
    }
    let mut assembly = Assembly { path: &source.path, findings: named(source) };
    assembly.visit_file(&source.tree);
    assembly.findings
}

/// Words of a processor, comments and strings included; names of machines are data.
fn named(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    let known: HashSet<&str> = words::ARCHITECTURE.split(' ').collect();
    for (index, line) in source.text.lines().enumerate() {
        let mut line = line.to_lowercase();
        for name in words::MACHINES {
            line = line.replace(name, "");
        }
        let mut parts = line.split(|c: char| !c.is_ascii_alphanumeric());
        if let Some(word) = parts.find(|part| known.contains(part)) {
            let what = format!("names an architecture: `{word}`");
            findings.push(Finding::new(&source.path, index + 1, what, MEND));
        }
        if line.contains(words::CONDITION) {
            let what = format!("depends on the architecture: `{}`", words::CONDITION);
            findings.push(Finding::new(&source.path, index + 1, what, MEND));
        }
    }
    findings
}

struct Assembly<'a> {
    path: &'a str,
    findings: Vec<Finding>,
}

impl<'ast> Visit<'ast> for Assembly<'_> {
    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if let Some(last) = called.path.segments.last()
            && ["asm", "global_asm", "naked_asm"].iter().any(|name| last.ident == name)
        {
            let line = last.ident.span().start().line;
            self.findings.push(Finding::new(self.path, line, "inline assembly", MEND));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Source::parse(path, text).unwrap()).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_processor_is_named_in_ports_alone() {
        for word in words::ARCHITECTURE.split(' ') {
            let text = format!("fn f() {{}}\n// Reads {} first.\n", word.to_uppercase());
            assert_eq!(lines("kernel/src/ipc.rs", &text), [2], "{word}");
            assert!(lines("ports/a/src/main.rs", &text).is_empty());
        }
        let first = words::ARCHITECTURE.split(' ').next().unwrap();
        assert_eq!(lines("lab/src/a.rs", &format!("fn read_{first}() {{}}")), [1]);
    }

    #[test]
    fn the_name_of_a_machine_is_data() {
        let text = format!("const M: &str = \"{}\";\n", words::MACHINES[0]);
        assert!(lines("lab/src/experiment/micro.rs", &text).is_empty());
    }

    #[test]
    fn conditions_on_the_architecture_are_found() {
        let text = format!("#[cfg({} = \"any\")]\nfn f() {{}}\n", words::CONDITION);
        assert_eq!(lines("user/rt/src/lib.rs", &text), [1]);
        assert!(lines("user/rt/src/arch/mod.rs", &text).is_empty());
    }

    #[test]
    fn assembly_is_found_by_macro_and_not_by_text() {
        let text = "fn f() {\n    let a = \"asm!\";\n    core::arch::asm!(\"nop\");\n}\n";
        assert_eq!(lines("kernel/src/ipc.rs", text), [3]);
        assert_eq!(lines("kernel/src/ipc.rs", "global_asm!(\"\");"), [1]);
    }
}
