//! Right manifests with wrong programs.

use expect_test::expect_file;
use manifest::{Problems, pack, parse};

use super::support::{self, EXECUTE, Load, READ, WRITE};
use super::{GOOD, Golden};

fn packing(text: &str, programs: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Problems {
    let system = parse("good.toml", text).expect("the manifest is right");
    pack(&system, programs, 0).expect_err("the program is wrong")
}

fn refusal(file: Vec<u8>) -> Problems {
    packing(GOOD, &|_| Ok(file.clone()))
}

/// A program with further segments.
fn with(loads: &[Load]) -> Vec<u8> {
    support::elf(support::ENTRY, &[support::segments(), loads.to_vec()].concat())
}

fn load(flags: u32, address: u64) -> Load {
    Load { flags, address, data: vec![0], memory: 1 }
}

#[test]
fn files_that_are_no_programs() {
    let mut golden = Golden::default();
    golden.shown("a file that cannot be read", &packing(GOOD, &|_| Err("no such file".into())));
    golden.shown("a script", &refusal(b"#!/bin/sh".to_vec()));
    let mut small = with(&[]);
    small[4] = 1;
    golden.shown("a 32-bit program", &refusal(small));
    let mut relocatable = with(&[]);
    relocatable[16] = 3;
    golden.shown("a shared object", &refusal(relocatable));
    golden.check(expect_file!["golden/files_that_are_no_programs.txt"]);
}

#[test]
fn segments_that_do_not_fit() {
    let mut golden = Golden::default();
    for (title, load) in [
        ("writable and executable", load(READ | WRITE | EXECUTE, 0x30_0000)),
        ("not aligned", load(READ, 0x30_0001)),
        ("too low", load(READ, 0x10_0000)),
        ("too high", load(READ, 0x5000_0000)),
        ("around the end", load(READ, u64::MAX - 0xfff)),
        ("over another segment", load(READ, 0x20_2000)),
        ("more data than memory", Load { data: vec![0; 2], ..load(READ, 0x30_0000) }),
        ("larger than the machine", Load { memory: 70 << 20, ..load(READ, 0x30_0000) }),
    ] {
        golden.shown(title, &refusal(with(&[load])));
    }
    golden.check(expect_file!["golden/segments_that_do_not_fit.txt"]);
}

#[test]
fn programs_without_a_beginning() {
    let mut golden = Golden::default();
    let file = support::elf(0x20_0000, &support::segments());
    golden.shown("beginning outside the text", &refusal(file));
    golden.check(expect_file!["golden/programs_without_a_beginning.txt"]);
}

#[test]
fn programs_that_break_off() {
    let whole = with(&[]);
    let system = parse("good.toml", GOOD).expect("the manifest is right");
    let packed = |length| pack(&system, &|_| Ok(whole[..length].to_vec()), 0);
    assert!(packed(whole.len()).is_ok());
    // The headers end before byte 300; what follows is contents.
    for length in (0..300).chain((300..whole.len()).step_by(13)) {
        assert!(packed(length).is_err(), "only {length} bytes");
    }
}

#[test]
fn pools_that_only_the_programs_show_to_be_too_small() {
    let mut golden = Golden::default();
    let text = GOOD.replace("threads = 10", "mappings = 14");
    let loads: Vec<Load> = (0..8).map(|index| load(READ, 0x40_0000 + (index << 12))).collect();
    golden.shown("eight more segments than reckoned", &packing(&text, &|_| Ok(with(&loads))));
    golden.check(expect_file!["golden/pools_that_only_the_programs_show_to_be_too_small.txt"]);
}
