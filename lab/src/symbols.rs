//! Turns addresses, those of a kernel panic and of faults, into functions, files and lines.

use crate::workspace;
use addr2line::{Loader, demangle_auto};
use object::{Object, ObjectSection};
use std::borrow::Cow;
use std::path::Path;

/// What the kernel prints before the addresses.
const PREFIX: &str = "backtrace:";

/// The backtrace in a console text, a line for each function; empty if there is none. The kernel
/// shows all words on its stack that point to its code: those that follow no call are dropped, but
/// a function that had returned before may be among the rest. Addresses that cannot be resolved
/// stay numbers.
pub fn backtrace(kernel: &Path, console: &str) -> Vec<String> {
    let addresses = addresses(console);
    if addresses.is_empty() {
        return Vec::new();
    }
    let loader = match Loader::new(kernel) {
        Ok(loader) => loader,
        Err(error) => return vec![format!("no symbols in {}: {error}", kernel.display())],
    };
    let image = std::fs::read(kernel).unwrap_or_default();
    let image = object::File::parse(&*image).ok();
    let returns = |address: &u64| image.as_ref().is_none_or(|image| follows_call(image, *address));
    addresses.into_iter().filter(returns).flat_map(|address| frames(&loader, address)).collect()
}

/// The functions at an instruction of an executable, the innermost inlined one first; empty if it
/// is in none.
pub fn functions(executable: &Path, instruction: u64) -> Vec<String> {
    match Loader::new(executable) {
        Ok(loader) if loader.find_symbol(instruction).is_some() => frames(&loader, instruction + 1),
        _ => Vec::new(),
    }
}

/// Whether the instruction before an address is a call, as far as the image can tell.
fn follows_call(image: &object::File, address: u64) -> bool {
    let before = image.sections().find_map(|section| {
        let offset = usize::try_from(address.checked_sub(section.address())?).ok()?;
        section.data().ok()?.get(..offset)
    });
    let Some(before) = before else { return true };
    // Opcode 0xe8 with four bytes, or 0xff with 2 in the register field and up to five more.
    let direct = matches!(before, [.., 0xe8, _, _, _, _]);
    let indirect = |length: usize| match before.len().checked_sub(length).map(|at| &before[at..]) {
        Some([0xff, operand, ..]) => operand >> 3 & 7 == 2,
        _ => false,
    };
    direct || (2..=7).any(indirect)
}

/// The numbers after [`PREFIX`].
fn addresses(console: &str) -> Vec<u64> {
    let numbers = console.lines().filter_map(|line| line.trim().strip_prefix(PREFIX));
    let words = numbers.flat_map(str::split_whitespace);
    words.filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()).collect()
}

/// The functions at a return address, the innermost inlined one first.
fn frames(loader: &Loader, address: u64) -> Vec<String> {
    let mut shown = Vec::new();
    // The call is the instruction before the one that it returns to.
    let call = address.saturating_sub(1);
    // Debugging information may have lines alone.
    let symbol = || Some(demangle_auto(loader.find_symbol(call)?.into(), None).into_owned());
    if let Ok(mut frames) = loader.find_frames(call) {
        while let Ok(Some(frame)) = frames.next() {
            let name = frame.function.as_ref().and_then(|name| name.demangle().ok());
            let name = name.map(Cow::into_owned).or_else(symbol);
            let place = frame.location.and_then(|place| match place.line {
                // The compiler has merged what several lines end in.
                Some(0) => Some("code of several lines".to_string()),
                line => Some(format!("{}:{}", shortened(place.file?), line.unwrap_or_default())),
            });
            if name.is_some() || place.is_some() {
                let name = name.as_deref().unwrap_or("?");
                shown.push(format!("{name} at {}", place.as_deref().unwrap_or("?")));
            }
        }
    }
    if shown.is_empty() {
        shown.push(match symbol() {
            Some(symbol) => format!("{symbol} at {address:#x}"),
            None => format!("{address:#x}"),
        });
    }
    shown
}

/// A source path without what is the same for all: the work tree, or the compiler's own.
pub fn shortened(file: &str) -> &str {
    let library = || file.strip_prefix("/rustc/")?.split_once('/').map(|(_, rest)| rest);
    in_work_tree(file).or_else(library).unwrap_or(file)
}

/// A source path from the root of the work tree, if it is a file of that: as it is in what was
/// built here, or what it ends in.
pub fn in_work_tree(file: &str) -> Option<&str> {
    let root = workspace::root();
    let inside = file.strip_prefix(root.to_str()?).and_then(|rest| rest.strip_prefix('/'));
    let ends = file.match_indices('/').map(|(at, _)| &file[at + 1..]);
    let relative = Some(file).filter(|file| !file.starts_with('/'));
    let mut all = relative.into_iter().chain(ends);
    inside.or_else(|| all.find(|rest| rest.contains('/') && root.join(rest).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_from_the_console() {
        let console = "KERNEL PANIC: no\n  at a.rs:1\nbacktrace: 0xffffffff80001234 0x10 junk\n";
        assert_eq!(addresses(console), [0xffff_ffff_8000_1234, 0x10]);
        assert!(addresses("hello\n").is_empty());
    }

    #[test]
    fn this_program_knows_its_own_functions() {
        let here = std::env::current_exe().unwrap();
        let loader = Loader::new(&here).unwrap();
        let base = loader.relative_address_base();
        let text = object_symbol(&here, "addresses_are_read_from_the_console");
        let frames = frames(&loader, base + text + 2);
        let last = frames.last().unwrap();
        assert!(last.contains("addresses_are_read_from_the_console"), "{frames:?}");
        assert!(last.contains("symbols.rs:"), "{frames:?}");
    }

    #[test]
    fn what_follows_no_call_is_no_return_address() {
        let here = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let image = object::File::parse(&*here).unwrap();
        let text = image.section_by_name(".text").unwrap();
        let code = text.data().unwrap();
        let direct = code.windows(5).position(|bytes| bytes[0] == 0xe8).unwrap();
        assert!(follows_call(&image, text.address() + direct as u64 + 5));
        let plain = code.windows(8).position(|bytes| bytes.iter().all(|byte| *byte == 0xcc));
        assert!(!follows_call(&image, text.address() + plain.unwrap() as u64 + 7));
        assert!(follows_call(&image, u64::MAX), "nothing is known of it");
    }

    #[test]
    fn paths_are_shortened() {
        let kernel = workspace::root().join("kernel/src/ipc.rs");
        assert_eq!(shortened(kernel.to_str().unwrap()), "kernel/src/ipc.rs");
        assert_eq!(shortened("/rustc/59807/library/core/src/a.rs"), "library/core/src/a.rs");
        assert_eq!(shortened("/elsewhere/a.rs"), "/elsewhere/a.rs");
        assert_eq!(shortened("/a/moved/checkout/kernel/src/lib.rs"), "kernel/src/lib.rs");
        assert_eq!(shortened("/a/crate/src/lib.rs"), "/a/crate/src/lib.rs");
        assert_eq!(in_work_tree("kernel/src/lib.rs"), Some("kernel/src/lib.rs"));
        assert_eq!(in_work_tree("crate/src/lib.rs"), None);
    }

    #[test]
    fn what_has_no_symbol_stays_a_number() {
        let here = std::env::current_exe().unwrap();
        let shown = backtrace(&here, "backtrace: 0xfffffffffffffff0\n");
        assert_eq!(shown, ["0xfffffffffffffff0"]);
        let none = backtrace(Path::new("/nonexistent"), "backtrace: 0x10\n");
        assert!(none[0].starts_with("no symbols in /nonexistent"));
    }

    /// Address of the first function whose mangled name contains `name`.
    fn object_symbol(file: &Path, name: &str) -> u64 {
        use object::ObjectSymbol;
        let data = std::fs::read(file).unwrap();
        let file = object::File::parse(&*data).unwrap();
        let mut symbols = file.symbols();
        symbols.find(|symbol| symbol.name().is_ok_and(|n| n.contains(name))).unwrap().address()
    }
}
