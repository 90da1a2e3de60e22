//! Lays programs out as the packer of boot archives expects them, and lists them for machines that
//! run them in their own process.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// What a binary consists of besides comments: its program's function.
const ENTRY: [&str; 2] = ["rt::entry!(programs::", ");"];

/// The linker script.
const SCRIPT: &str = "../rt/link.ld";

fn main() {
    println!("cargo::rerun-if-changed={SCRIPT}");
    println!("cargo::rerun-if-changed=src/bin");
    let out = env::var("OUT_DIR").expect("cargo says");
    let out = Path::new(&out);
    // A copy, since cargo keeps what is said here: where a checkout is moved to, it knows its own
    // folder.
    let script = out.join("link.ld");
    fs::copy(SCRIPT, &script).expect("the linker script can be copied");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        for argument in ["-T", &script.display().to_string(), "-z", "max-page-size=4096"] {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
        // Only what is built for a debugger is not optimised.
        if env::var("OPT_LEVEL").as_deref() == Ok("0") {
            lay_out_apart();
        }
    }
    fs::write(out.join("programs.rs"), programs()).expect("cargo's folder can be written to");
}

/// Gives each program addresses of its own, from the second of these places on.
fn lay_out_apart() {
    const PLACE: u64 = 0x80_0000;
    for (path, place) in binaries().iter().zip(1..) {
        let (name, at) = (name(path), place * PLACE);
        println!("cargo::rustc-link-arg-bin={name}=--defsym=giusto_base={at:#x}");
    }
}

/// All binaries, in the order of their names.
fn binaries() -> Vec<PathBuf> {
    let files = fs::read_dir("src/bin").expect("there are binaries");
    let mut paths: Vec<_> = files.map(|file| file.expect("it is readable").path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).expect("it is named in ASCII")
}

/// The table of all binaries: names and functions.
fn programs() -> String {
    let row = |path: &Path| {
        let text = fs::read_to_string(path).expect("it is readable");
        let [begin, end] = ENTRY;
        let function = text.lines().find_map(|line| line.strip_prefix(begin)?.strip_suffix(end));
        let function = function.unwrap_or_else(|| panic!("{} has no `{begin}`", path.display()));
        let name = name(path);
        format!("    ({name:?}, crate::{function}),\n")
    };
    let rows: String = binaries().iter().map(|path| row(path)).collect();
    format!("&[\n{rows}]\n")
}
