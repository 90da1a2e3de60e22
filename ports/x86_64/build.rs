//! Passes the linker script.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=link.ld");
    // A copy, since cargo keeps what is said here: where a checkout is moved to, it knows its own
    // folder.
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    let script = Path::new(&folder).join("link.ld");
    std::fs::copy("link.ld", &script).expect("the linker script can be copied");
    println!("cargo:rustc-link-arg-bins=-T{}", script.display());
}
