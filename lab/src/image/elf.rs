//! What the lab reads from a kernel image, and sets in a program.

use anyhow::{Context, Result};
use object::read::elf::ProgramHeader;
use object::{Object, ObjectSegment, ObjectSymbol};
use std::ops::Range;
use std::path::Path;

/// The physical address of a static in a kernel image, by its symbol.
pub fn static_address(kernel: &Path, name: &str) -> Result<u64> {
    let data = std::fs::read(kernel)
        .with_context(|| format!("cannot read the kernel image {}", kernel.display()))?;
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&*data)?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    let at = symbol.with_context(|| format!("the kernel image does not define {name}"))?.address();
    let endian = file.endian();
    let segment = file.elf_program_headers().iter().find_map(|header| {
        let offset = at.checked_sub(header.p_vaddr(endian))?;
        (offset < header.p_memsz(endian)).then(|| header.p_paddr(endian) + offset)
    });
    segment.with_context(|| format!("{name} lies in no segment of the kernel image"))
}

/// The addresses that a program takes.
pub fn addresses(program: &Path) -> Result<Range<u64>> {
    let data = std::fs::read(program)
        .with_context(|| format!("cannot read the program {}", program.display()))?;
    let file = object::File::parse(&*data)?;
    let segments = || file.segments().map(|segment| (segment.address(), segment.size()));
    let first = segments().map(|(at, _)| at).min();
    let end = segments().map(|(at, bytes)| at + bytes).max();
    Ok(first.unwrap_or_default()..end.unwrap_or_default())
}

/// What a static of a kernel image is when it is loaded, by its symbol.
pub fn static_contents(kernel: &Path, name: &str) -> Result<Vec<u8>> {
    let data = std::fs::read(kernel)
        .with_context(|| format!("cannot read the kernel image {}", kernel.display()))?;
    let file = object::File::parse(&*data)?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    let symbol = symbol.with_context(|| format!("the kernel image does not define {name}"))?;
    let (at, bytes) = (symbol.address(), symbol.size());
    let found = file.segments().find_map(|segment| segment.data_range(at, bytes).ok().flatten());
    let found = found.with_context(|| format!("{name} is not in the kernel image's file"))?;
    Ok(found.to_vec())
}

/// Sets a static word of an executable file, by its symbol. One without such a static stays as it
/// is.
pub fn set_static(file: &mut [u8], name: &str, value: u64) {
    let place = object::File::parse(&*file).ok().and_then(|parsed| {
        let at = parsed.symbols().find(|symbol| symbol.name() == Ok(name))?.address();
        parsed.segments().find_map(|segment| {
            let (first, bytes) = segment.file_range();
            let offset = at.checked_sub(segment.address())?;
            (offset + size_of::<u64>() as u64 <= bytes).then_some((first + offset) as usize)
        })
    });
    if let Some(word) = place.and_then(|at| file.get_mut(at..at + size_of::<u64>())) {
        word.copy_from_slice(&value.to_le_bytes());
    }
}

/// The ends of the code that stays after boot.
const TEXT: [&str; 2] = ["__text", "__text_end"];

/// Bytes of machine code that stays after boot, in a kernel image.
pub fn text_bytes(kernel: &Path) -> Result<u64> {
    let data = std::fs::read(kernel)
        .with_context(|| format!("cannot read the kernel image {}", kernel.display()))?;
    let file = object::File::parse(&*data)?;
    let address = |name: &str| {
        let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
        symbol.map(|symbol| symbol.address())
    };
    let [start, end] = TEXT.map(address);
    let bytes = start.zip(end).and_then(|(start, end)| end.checked_sub(start));
    bytes.with_context(|| format!("the kernel image does not define {}", TEXT.join(" and ")))
}
