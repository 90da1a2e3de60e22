//! Programs: what an ELF file puts where.

use abi::{PAGE, Rights};
use object::elf::{
    ET_EXEC, FileHeader64, PF_W, PF_X, PT_DYNAMIC, PT_INTERP, PT_LOAD, ProgramFlags,
    ProgramHeader64,
};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, FileKind};

use crate::layout::PROGRAMS;

/// A program ready to be put into memory.
pub struct Image {
    /// Address of its first instruction.
    pub entry: u64,
    /// What lies where, in the order of the file.
    pub segments: Vec<Segment>,
}

/// A range of a program's addresses with the same rights.
pub struct Segment {
    /// First address, page-aligned.
    pub address: u64,
    /// Length in pages.
    pub pages: u64,
    /// Read, and at most one of write and execute.
    pub rights: Rights,
    /// What it begins with; the rest is zero.
    pub bytes: Vec<u8>,
}

/// Why a file is no program: what is wrong with it and the mend.
pub type Refusal = (String, &'static str);

const LINK: &str = "link it as a static program with page-aligned segments, as rt's linker \
                    script does";

impl Image {
    /// A stand-in for a program that is not built yet: text, constants, data and relocated data,
    /// a quarter of a megabyte each.
    pub fn typical() -> Image {
        const PAGES: u64 = 64;
        let segment = |index| Segment {
            address: PROGRAMS.start + index * PAGES * PAGE,
            pages: PAGES,
            rights: Rights::READ,
            bytes: Vec::new(),
        };
        Image { entry: PROGRAMS.start, segments: (0..4).map(segment).collect() }
    }

    /// Reads an ELF file.
    pub fn read(file: &[u8]) -> Result<Image, Refusal> {
        match FileKind::parse(file) {
            Ok(FileKind::Elf64) => {}
            Ok(FileKind::Elf32) => return refuse("is a 32-bit program", LINK),
            _ => return refuse("is not an ELF file", "build it as one"),
        }
        let damaged = |_| ("is a damaged ELF file".to_string(), "build it again");
        let header = FileHeader64::<Endianness>::parse(file).map_err(damaged)?;
        let endian = header.endian().map_err(damaged)?;
        let program_headers = header.program_headers(endian, file).map_err(damaged)?;
        let dynamic = |header: &ProgramHeader64<Endianness>| {
            matches!(header.p_type(endian), PT_INTERP | PT_DYNAMIC)
        };
        if header.e_type(endian) != ET_EXEC || program_headers.iter().any(dynamic) {
            return refuse("is not linked statically at fixed addresses", LINK);
        }
        let mut segments: Vec<Segment> = Vec::new();
        for header in program_headers {
            if header.p_type(endian) == PT_LOAD && header.p_memsz(endian) > 0 {
                let segment = segment(header, endian, file)?;
                if let Some(other) = segments.iter().find(|other| overlap(other, &segment)) {
                    let [a, b] = [other.address, segment.address];
                    return refuse(format!("has overlapping segments at {a:#x} and {b:#x}"), LINK);
                }
                segments.push(segment);
            }
        }
        let entry = header.e_entry(endian);
        let executable = |segment: &Segment| segment.rights.contains(Rights::EXECUTE);
        if !segments.iter().any(|segment| executable(segment) && holds(segment, entry)) {
            return refuse(format!("begins at {entry:#x}, where it has no code"), LINK);
        }
        Ok(Image { entry, segments })
    }
}

fn segment(
    header: &ProgramHeader64<Endianness>,
    endian: Endianness,
    file: &[u8],
) -> Result<Segment, Refusal> {
    let (address, bytes) = (header.p_vaddr(endian), header.p_memsz(endian));
    let flags = header.p_flags(endian);
    let has = |flag: ProgramFlags| flags.0 & flag.0 != 0;
    if has(PF_W) && has(PF_X) {
        return refuse(format!("has a writable and executable segment at {address:#x}"), LINK);
    }
    if !address.is_multiple_of(PAGE) {
        return refuse(format!("has a segment at {address:#x}, which begins no page"), LINK);
    }
    let end = address.saturating_add(bytes);
    if address < PROGRAMS.start || end > PROGRAMS.end {
        let [low, high] = [PROGRAMS.start, PROGRAMS.end];
        let what = format!("has a segment at {address:#x}..{end:#x}, outside {low:#x}..{high:#x}");
        return refuse(what, LINK);
    }
    let data = header.data(endian, file).ok().filter(|data| data.len() as u64 <= bytes);
    let Some(data) = data else {
        return refuse(format!("lacks contents of its segment at {address:#x}"), "build it again");
    };
    let mut rights = Rights::READ;
    if has(PF_W) {
        rights = rights.or(Rights::WRITE);
    }
    if has(PF_X) {
        rights = rights.or(Rights::EXECUTE);
    }
    Ok(Segment { address, pages: bytes.div_ceil(PAGE), rights, bytes: data.to_vec() })
}

fn end(segment: &Segment) -> u64 {
    segment.address + segment.pages * PAGE
}

fn holds(segment: &Segment, address: u64) -> bool {
    (segment.address..end(segment)).contains(&address)
}

fn overlap(a: &Segment, b: &Segment) -> bool {
    a.address < end(b) && b.address < end(a)
}

fn refuse<T>(what: impl Into<String>, help: &'static str) -> Result<T, Refusal> {
    Err((what.into(), help))
}
