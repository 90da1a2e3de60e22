//! `c`: how programs in C are compiled and linked.

use super::print_json;
use crate::failure::Verdict;
use crate::image::c::Compiler;
use crate::{output, tidy, workspace};
use anyhow::Result;
use clap::Args;
use serde_json::json;

/// Examples.
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

/// Prints what was asked for; both lists of flags by default.
pub fn c(asked: &C, as_json: bool) -> Result<Verdict> {
    if asked.header {
        let text = tidy::header::text(workspace::root())?;
        if as_json {
            print_json(&json!({"path": tidy::header::PATH, "text": text}));
        } else {
            output::line(text.trim_end());
        }
        return Ok(Verdict::Held);
    }
    let compiler = Compiler::find(&asked.cc)?;
    if as_json {
        print_json(&json!({"cc": asked.cc, "cflags": compiler.compile_flags()?,
            "libs": compiler.link_flags()?, "pkg_config": compiler.package()?}));
        return Ok(Verdict::Held);
    }
    if asked.pkg_config {
        output::line(compiler.package()?.display());
        return Ok(Verdict::Held);
    }
    let both = asked.cflags == asked.libs;
    let mut words = Vec::new();
    if asked.cflags || both {
        words.extend(compiler.compile_flags()?);
    }
    if asked.libs || both {
        words.extend(compiler.link_flags()?);
    }
    output::line(words.join(" "));
    Ok(Verdict::Held)
}
