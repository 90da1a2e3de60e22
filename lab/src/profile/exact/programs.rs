//! Whose the code of programs is. All programs lie at the same addresses; what they consist of
//! tells them apart, page by page.

use super::Code;
use crate::image::Images;
use crate::profile::UNKNOWN;
use crate::profile::symbols::Symbols;
use anyhow::Result;
use manifest::System;
use object::{Object, ObjectSegment};
use std::collections::BTreeMap;

/// A program of a system.
pub struct Program {
    /// The domain that runs it, or its own name if several do.
    name: String,
    /// Its memory, by its first address.
    segments: Vec<(u64, Vec<u8>)>,
    symbols: Symbols,
}

/// The programs of a system.
///
/// # Errors
/// A program's file is none.
pub fn load(images: &Images, system: &System) -> Result<Vec<Program>> {
    let mut programs = Vec::new();
    for (name, path) in &images.programs {
        let domains: Vec<_> = system.domains.iter().filter(|one| one.program == *name).collect();
        let name = match domains[..] {
            [] => continue,
            [domain] => &domain.name,
            _ => name,
        };
        let data = fs_err::read(path)?;
        let file = object::File::parse(&*data)?;
        let segment = |one: object::Segment| Ok((one.address(), one.data()?.to_vec()));
        let segments = file.segments().map(segment).collect::<Result<_>>()?;
        programs.push(Program { name: name.clone(), segments, symbols: Symbols::load(path)? });
    }
    Ok(programs)
}

impl Program {
    fn holds(&self, code: &Code) -> bool {
        self.segments.iter().any(|(start, bytes)| {
            let from = code.address.checked_sub(*start).and_then(|from| usize::try_from(from).ok());
            from.and_then(|from| bytes.get(from..)).is_some_and(|it| it.starts_with(&code.bytes))
        })
    }
}

/// The program and the function of each instruction, with the instruction. What is in several
/// programs is of all of them.
pub fn attributed<'a>(
    programs: &'a [Program],
    codes: impl IntoIterator<Item = &'a Code>,
) -> Vec<(String, String, &'a Code)> {
    let mut pages: BTreeMap<u64, Vec<&Code>> = BTreeMap::new();
    codes.into_iter().for_each(|code| pages.entry(code.page).or_default().push(code));
    let mut all = Vec::new();
    for codes in pages.into_values() {
        let holds = |program: &&Program| codes.iter().all(|code| program.holds(code));
        let holders: Vec<&Program> = programs.iter().filter(holds).collect();
        let names: Vec<&str> = holders.iter().map(|program| program.name.as_str()).collect();
        let name = if names.is_empty() { UNKNOWN.to_string() } else { names.join(" or ") };
        let function = |code: &Code| {
            let first = holders.first().and_then(|program| program.symbols.find(code.address));
            first.unwrap_or(UNKNOWN).to_string()
        };
        all.extend(codes.iter().map(|&code| (name.clone(), function(code), code)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_of_the_programs_that_have_all_of_their_code() {
        let program = |name: &str, bytes: &[u8]| Program {
            name: name.to_string(),
            segments: vec![(100, bytes.to_vec())],
            symbols: Symbols::default(),
        };
        let programs = [program("a", &[1, 2, 3, 4]), program("b", &[1, 2, 9, 4])];
        let code =
            |page, address, bytes: &[u8]| Code { address, page, bytes: bytes.to_vec(), count: 1 };
        let codes = [
            code(1, 100, &[1, 2]),
            code(2, 100, &[1]),
            code(2, 102, &[9, 4]),
            code(3, 102, &[3]),
            code(4, 103, &[4, 5]),
            code(5, 99, &[0]),
        ];
        let found = attributed(&programs, &codes);
        let names: Vec<_> =
            found.iter().map(|(name, _, code)| (code.page, name.as_str())).collect();
        let none = UNKNOWN;
        let expected = [(1, "a or b"), (2, "b"), (2, "b"), (3, "a"), (4, none), (5, none)];
        assert_eq!(names, expected);
    }
}
