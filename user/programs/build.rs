//! Lays programs out as the packer of boot archives expects them.

fn main() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/link.ld");
    println!("cargo::rerun-if-changed={script}");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        for argument in ["-T", script, "-z", "max-page-size=4096"] {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
