//! Programs and manifests that the tests share.
#![allow(dead_code)] // Each test file uses its part.

use std::path::{Path, PathBuf};

/// A segment of a made-up program.
#[derive(Clone)]
pub struct Load {
    pub flags: u32,
    pub address: u64,
    pub data: Vec<u8>,
    pub memory: u64,
}

pub const EXECUTE: u32 = 1;
pub const WRITE: u32 = 2;
pub const READ: u32 = 4;

const EXECUTABLE: u16 = 2;
const LOAD: u32 = 1;

/// An ELF file of these segments, the first instruction at `entry`.
pub fn elf(entry: u64, loads: &[Load]) -> Vec<u8> {
    let headers = 64 + 56 * loads.len();
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0];
    file.resize(16, 0);
    file.extend(EXECUTABLE.to_le_bytes());
    file.extend([0, 0, 1, 0, 0, 0]);
    for word in [entry, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend([0; 4]);
    for half in [64u16, 56, loads.len() as u16, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    let mut offset = headers as u64;
    for load in loads {
        file.extend(LOAD.to_le_bytes());
        file.extend(load.flags.to_le_bytes());
        let length = load.data.len() as u64;
        for word in [offset, load.address, load.address, length, load.memory, 4096] {
            file.extend(word.to_le_bytes());
        }
        offset += length;
    }
    for load in loads {
        file.extend(&load.data);
    }
    file
}

pub const ENTRY: u64 = 0x20_1010;

/// The segments of a small program with constants, text, data and zeroed data.
pub fn segments() -> Vec<Load> {
    let load = |flags, address, length: usize, memory| Load {
        flags: READ | flags,
        address,
        data: (0..length).map(|byte| byte as u8).collect(),
        memory,
    };
    vec![
        load(0, 0x20_0000, 100, 100),
        load(EXECUTE, 0x20_1000, 5000, 5000),
        load(WRITE, 0x20_4000, 10, 9000),
    ]
}

/// A program that any name stands for.
pub fn program(_: &str) -> Result<Vec<u8>, String> {
    Ok(elf(ENTRY, &segments()))
}

/// The manifests of the project.
pub fn systems() -> Vec<PathBuf> {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says");
    let folder = Path::new(&own).join("../../systems");
    let entries = std::fs::read_dir(folder).expect("the systems folder exists");
    let paths = entries.map(|entry| entry.expect("it is readable").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 7, "there are systems");
    paths
}

/// A manifest that uses everything.
pub const RICH: &str = include_str!("../rich.toml");

/// A domain of an invented system.
#[derive(Clone, Copy, Debug)]
pub struct Invented {
    pub threads: u32,
    pub stack_pages: u64,
    pub priority: u8,
    pub quota: u64,
}

/// A manifest of these domains and of memory objects given by pages, wired together by
/// arbitrary bytes.
pub fn invent(domains: &[Invented], memories: &[u64], wiring: &[u8]) -> String {
    let mut text = "[system]\nname = \"invented\"\nmemory = \"1G\"\n[[endpoint]]\nname = \"e\"\n\
                    [[notification]]\nname = \"n\"\n"
        .to_string();
    for (index, pages) in memories.iter().enumerate() {
        text += &format!("[[memory]]\nname = \"m{index}\"\nsize = \"{}K\"\n", pages * 4);
    }
    for (index, domain) in domains.iter().enumerate() {
        let Invented { threads, stack_pages, priority, quota } = domain;
        let byte = |position: usize| usize::from(wiring[(index * 7 + position) % wiring.len()]);
        let map = |memory: usize| {
            let rights = ["r", "rw", "rx"][byte(memory) % 3];
            format!("{{ memory = \"m{memory}\", rights = \"{rights}\" }}")
        };
        let mapped = (0..memories.len()).filter(|memory| byte(*memory) % 2 == 0);
        let maps: Vec<String> = mapped.map(map).collect();
        let cap = |cap: usize| {
            let other = byte(cap) % domains.len();
            let target = match byte(cap + 1) % 5 {
                0 => "endpoint = \"e\", badge = 9".to_string(),
                1 => "notification = \"n\"".to_string(),
                2 => format!("domain = \"d{other}\""),
                3 => format!("thread = \"d{other}\""),
                _ => "console = true".to_string(),
            };
            format!("{{ name = \"c{cap}\", {target} }}")
        };
        let caps: Vec<String> = (0..byte(0) % 6).map(cap).collect();
        text += &format!(
            "[[domain]]\nname = \"d{index}\"\nprogram = \"p\"\npriority = {priority}\n\
             threads = {threads}\nstack = \"{}K\"\n\
             quota = {{ threads = {quota}, tables = {quota} }}\nmaps = [{}]\ncaps = [{}]\n",
            stack_pages * 4,
            maps.join(", "),
            caps.join(", ")
        );
    }
    text
}
