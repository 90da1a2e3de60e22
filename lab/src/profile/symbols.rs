//! Whose an address is: the rule of S0-43 over the symbols of an ELF file.

use anyhow::{Context, Result};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use std::path::Path;

/// How far behind an assembly symbol, which has no size, code is still taken for its own.
const REACH: u64 = 256;

/// A function, or what assembly code calls one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Symbol {
    start: u64,
    /// 0: an assembly symbol.
    size: u64,
    name: String,
}

/// The symbols of one file's code.
#[derive(Debug, Default)]
pub struct Symbols {
    /// By start; of those with the same one, assembly comes first.
    all: Vec<Symbol>,
}

impl Symbols {
    /// Reads a file's symbols.
    pub fn load(path: &Path) -> Result<Symbols> {
        let read = || -> Result<Symbols> {
            let data = std::fs::read(path)?;
            let file = object::File::parse(&*data)?;
            let code = |symbol: &object::Symbol| {
                let section = file.section_by_index(symbol.section_index()?).ok()?;
                let kind = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Label)
                    || symbol.size() == 0 && symbol.kind() == SymbolKind::Unknown;
                (kind && section.kind() == SectionKind::Text).then_some(())
            };
            let symbols = file.symbols().filter(|symbol| code(symbol).is_some());
            let read = symbols.filter_map(|symbol| {
                let name = addr2line::demangle_auto(symbol.name().ok()?.into(), None);
                Some(Symbol {
                    start: symbol.address(),
                    size: symbol.size(),
                    name: name.into_owned(),
                })
            });
            Ok(Symbols::new(read.collect()))
        };
        read().with_context(|| format!("cannot read the symbols of {}", path.display()))
    }

    fn new(mut all: Vec<Symbol>) -> Symbols {
        all.sort_by_key(|symbol| (symbol.start, symbol.size));
        Symbols { all }
    }

    /// The function that an address belongs to: the one whose extent holds it, or the assembly
    /// symbol just before it, if that is near.
    pub fn find(&self, at: u64) -> Option<&str> {
        let before = &self.all[..self.all.partition_point(|symbol| symbol.start <= at)];
        let last = before.last()?;
        let start = last.start;
        let same = before.iter().rev().take_while(|symbol| symbol.start == start);
        let sized = same.clone().find(|symbol| at - start < symbol.size);
        let assembly = || same.clone().find(|symbol| symbol.size == 0 && at - start < REACH);
        // An assembly symbol inside a function is a label of it.
        let around = || {
            let labels = before.iter().rev().skip_while(|symbol| symbol.size == 0);
            labels.take(1).find(|symbol| at - symbol.start < symbol.size)
        };
        sized.or_else(around).or_else(assembly).map(|symbol| symbol.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbols(all: &[(u64, u64, &str)]) -> Symbols {
        let symbol = |&(start, size, name): &(u64, u64, &str)| {
            let name = name.to_string();
            Symbol { start, size, name }
        };
        Symbols::new(all.iter().map(symbol).collect())
    }

    #[test]
    fn a_function_owns_its_extent_and_no_more() {
        let symbols = symbols(&[(100, 10, "a"), (120, 5, "b")]);
        assert_eq!(symbols.find(99), None);
        assert_eq!(symbols.find(100), Some("a"));
        assert_eq!(symbols.find(109), Some("a"));
        assert_eq!(symbols.find(110), None, "a function has a size, so what follows is unknown");
        assert_eq!(symbols.find(124), Some("b"));
        assert_eq!(symbols.find(125), None);
    }

    #[test]
    fn assembly_owns_what_follows_closely() {
        let symbols = symbols(&[(100, 0, "entry"), (1000, 20, "c"), (1010, 0, "label")]);
        assert_eq!(symbols.find(100), Some("entry"));
        assert_eq!(symbols.find(100 + REACH - 1), Some("entry"));
        assert_eq!(symbols.find(100 + REACH), None, "too far behind it");
        assert_eq!(symbols.find(1015), Some("c"), "a label inside a function");
        assert_eq!(symbols.find(1021), Some("label"), "the last symbol is assembly");
    }

    #[test]
    fn a_section_mark_does_not_hide_the_function_that_starts_there() {
        let symbols = symbols(&[(100, 0, "__text"), (100, 50, "first")]);
        assert_eq!(symbols.find(100), Some("first"));
        assert_eq!(symbols.find(149), Some("first"));
    }

    #[test]
    fn this_program_has_symbols() {
        let symbols = Symbols::load(&std::env::current_exe().unwrap()).unwrap();
        assert!(symbols.all.iter().any(|symbol| symbol.name.contains("this_program_has_symbols")));
        assert!(Symbols::load(Path::new("/nonexistent")).is_err());
    }
}
