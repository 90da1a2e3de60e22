//! The command `c`.

use clap::Args;

pub const EXAMPLES: &str = "\
Examples:
  cc $(./giusto c --cflags) main.c $(./giusto c --libs) -o main.elf
  clang $(./giusto c --cflags --cc clang) -c -O2 main.c
  PKG_CONFIG_PATH=$(./giusto c --pkg-config) pkg-config --cflags giusto
  ./giusto c --json";

/// What to print; without any, the flags for compiling and linking in one go.
#[derive(Debug, Args)]
pub struct C {
    /// Print the flags for compiling.
    #[arg(long, conflicts_with_all = ["pkg_config", "header"])]
    pub cflags: bool,
    /// Print the flags for linking, which go behind the program's own files.
    #[arg(long, conflicts_with_all = ["pkg_config", "header"])]
    pub libs: bool,
    /// Print the folder of giusto.pc, for pkg-config.
    #[arg(long, conflicts_with = "header")]
    pub pkg_config: bool,
    /// Print giusto/abi.h as it is made from the crate `abi`.
    #[arg(long)]
    pub header: bool,
    /// The compiler.
    #[arg(long, value_name = "CC", default_value = "cc")]
    pub cc: String,
}
