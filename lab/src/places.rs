//! What programs keep mutexes and conditions in: shared memories, as the manifest places them, and
//! static variables, by the symbols of the programs.

use crate::image::Images;
use ::trace::Place;
use addr2line::demangle_auto;
use manifest::System;
use object::{Object, ObjectSymbol, SymbolKind};
use std::path::Path;

/// The shared memories of all domains.
pub fn shared(system: &System) -> Vec<Place> {
    let of = |(number, domain)| {
        manifest::mapped(system, domain).map(move |(name, address, bytes)| {
            let name = name.to_string();
            Place { domain: number, address, bytes, name }
        })
    };
    system.domains.iter().enumerate().flat_map(of).collect()
}

/// The static variables of all domains, whose programs are files with symbols.
pub fn statics(system: &System, images: &Images) -> Vec<Place> {
    let of = |(number, domain): (usize, &manifest::Domain)| {
        let variables = images.programs.get(&domain.program).and_then(|path| variables(path));
        let placed = move |(address, bytes, name)| Place { domain: number, address, bytes, name };
        variables.into_iter().flatten().map(placed)
    };
    system.domains.iter().enumerate().flat_map(of).collect()
}

/// The variables of a program: address, bytes, and the name without what the compiler adds.
fn variables(path: &Path) -> Option<Vec<(u64, u64, String)>> {
    let data = std::fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let is_variable =
        |symbol: &object::Symbol| symbol.kind() == SymbolKind::Data && symbol.size() > 0;
    let variables = file.symbols().filter(is_variable).filter_map(|symbol| {
        let name = demangle_auto(symbol.name().ok()?.into(), None);
        Some((symbol.address(), symbol.size(), plain(&name).to_string()))
    });
    Some(variables.collect())
}

/// A demangled name without its hash.
fn plain(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            path
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_no_part_of_a_name() {
        assert_eq!(plain("robot::BUS::h0123456789abcdef"), "robot::BUS");
        assert_eq!(plain("robot::hearts"), "robot::hearts");
        assert_eq!(plain("table"), "table");
    }

    #[test]
    fn shared_memories_are_where_programs_find_them() {
        let system = crate::systems::load("shared-bus").unwrap();
        let all = shared(&system);
        let place = all.iter().find(|place| place.name == "shared").expect("it is there");
        assert_eq!((place.domain, place.address), (0, manifest::MAPS));
        assert!(place.bytes >= 4096);
    }

    #[test]
    fn variables_are_found_by_the_symbols() {
        static OWN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
        OWN.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let all = variables(&std::env::current_exe().unwrap()).expect("it is a program");
        assert!(all.iter().any(|(_, bytes, name)| *bytes == 8 && name.ends_with("::OWN")));
    }
}
