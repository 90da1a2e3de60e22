//! Programs in C that use POSIX: threads, policies, clocks and message queues, by each compiler, in
//! a system with time slices and in one without.

use super::builds::Builds;
use super::c::{self, COMPILERS, STRICT};
use super::configuration::Configuration;
use super::findings::Findings;
use super::job::Job;
use super::suites;
use crate::cli::Group;
use crate::image::c::Compiler;
use crate::machine::EMULATOR;
use crate::scratch::Scratch;
use anyhow::Result;

/// The programs, each with its sources.
const PROGRAMS: [(&str, &[&str]); 2] = [
    (
        "posix.elf",
        &["posix.c", "posix_threads.c", "posix_policies.c", "posix_clocks.c", "posix_queues.c"],
    ),
    ("pointers.elf", &["pointers.c"]),
];
/// The systems, each with the file of its manifest, and CPUs.
const SYSTEMS: [(&str, &str, u32); 3] = [
    ("c-posix", "posix.toml", 2),
    ("c-posix-fifo", "posix-fifo.toml", 2),
    ("c-pointers", "pointers.toml", 1),
];

/// A job for each compiler.
pub fn jobs() -> Vec<Job> {
    let of = |name: &'static str| {
        let job = Job::new(Group::Target, format!("POSIX in C, by {name}"), move |findings| {
            runs(name, findings)
        });
        job.builds(Builds::usual()).seconds(4.0).class(c::class(name))
    };
    COMPILERS.map(of).into()
}

fn runs(name: &'static str, findings: &mut Findings) -> Result<()> {
    let compiler = Compiler::find(name)?;
    let place = Scratch::new()?;
    for (program, sources) in PROGRAMS {
        let mut compile = compiler.command();
        compile.args(STRICT).args(["-g", "-O2"]).args(compiler.compile_flags()?);
        compile.args(sources.iter().map(|source| c::path(source))).args(compiler.link_flags()?);
        c::done(compile.arg("-o").arg(place.path().join(program)))?;
    }
    for (system, manifest, cpus) in SYSTEMS {
        let (_, _, outcome) = c::run(place.path(), manifest, EMULATOR, None)?;
        let one = Configuration { cpus, ..Configuration::plain(EMULATOR, system) };
        suites::judge(findings, &one, &outcome);
    }
    Ok(())
}
