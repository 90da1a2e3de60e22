//! `c`: how programs in C are compiled and linked.

use super::print_json;
use crate::cli;
use crate::failure::Verdict;
use crate::image::c::Compiler;
use crate::{output, tidy, workspace};
use anyhow::Result;
use serde_json::json;

/// Prints what was asked for; both lists of flags by default.
pub fn c(asked: &cli::C, as_json: bool) -> Result<Verdict> {
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
