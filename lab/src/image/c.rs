//! Programs in C: how a compiler is told to make them, and the library that they link.

use super::kept;
use crate::failure::usage;
use crate::progress::Step;
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use fs_err as fs;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use walkdir::WalkDir;

/// The library's folder, from the root of the work tree.
const FOLDER: &str = "user/c";
/// The linker script of all programs.
const SCRIPT: &str = "user/rt/link.ld";
/// The library's file.
const LIBRARY: &str = "libgiusto.a";
/// What pkg-config reads.
const PACKAGE: &str = "giusto.pc";

/// How code is made. The kernel saves all registers, vectors included, and uses no stack of the
/// program's. There is no thread-local storage, so the stack protector's word is a global one.
const CODE: [&str; 6] = [
    "-ffreestanding",
    "-fno-pic",
    "-fno-pie",
    "-fno-asynchronous-unwind-tables",
    "-fstack-protector-strong",
    "-mstack-protector-guard=global",
];
/// What else the library is compiled with.
const OWN: [&str; 8] = [
    "-std=c11",
    "-O2",
    "-g",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-ffunction-sections",
    "-fdata-sections",
];
/// How a program is linked, before the script and the library.
const LINK: [&str; 5] = [
    "-nostdlib",
    "-static",
    "-Wl,-z,max-page-size=4096",
    "-Wl,--build-id=none",
    "-Wl,--gc-sections",
];

/// A compiler for C.
pub struct Compiler {
    program: String,
    version: String,
}

impl Compiler {
    /// The compiler that is called so.
    pub fn find(program: &str) -> Result<Compiler> {
        let said = Command::new(program).arg("--version").output();
        let said = said.ok().filter(|said| said.status.success()).ok_or_else(|| {
            let package = if program == "cc" { "gcc libc6-dev" } else { program };
            usage(format!("there is no compiler `{program}`; run: apt-get install {package}"))
        })?;
        let version = String::from_utf8_lossy(&said.stdout).into_owned();
        Ok(Compiler { program: program.to_string(), version })
    }

    /// The compiler as a command.
    pub fn command(&self) -> Command {
        Command::new(&self.program)
    }

    /// What a program is compiled with: our headers, the compiler's own, and no others.
    pub fn compile_flags(&self) -> Result<Vec<String>> {
        let mut flags = CODE.map(String::from).to_vec();
        flags.push("-nostdinc".to_string());
        let own = self.file("-print-file-name=include")?;
        for folder in [workspace::root().join(FOLDER).join("include"), own] {
            flags.extend(["-isystem".to_string(), word(&folder)?]);
        }
        Ok(flags)
    }

    /// What a program is linked with. The library is built if it is not there.
    pub fn link_flags(&self) -> Result<Vec<String>> {
        self.linked_with(&self.build()?)
    }

    fn linked_with(&self, folder: &Path) -> Result<Vec<String>> {
        let script = word(&workspace::root().join(SCRIPT))?;
        // The compiler's own library has what it calls itself, such as division of 128 bits.
        let own = word(&self.file("-print-libgcc-file-name")?)?;
        let mut flags = LINK.map(String::from).to_vec();
        flags.extend(["-T".to_string(), script, word(&folder.join(LIBRARY))?, own]);
        Ok(flags)
    }

    /// The folder of the file for pkg-config.
    pub fn package(&self) -> Result<PathBuf> {
        self.build()
    }

    /// A file of the compiler's.
    fn file(&self, question: &str) -> Result<PathBuf> {
        let said = self.command().arg(question).output()?;
        let path = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
        path.exists().then_some(path).ok_or_else(|| {
            usage(format!(
                "`{} {question}` names no file: give a compiler, such as cc or clang",
                self.program
            ))
        })
    }

    /// Builds the library, unless this compiler has built this source; returns its folder.
    fn build(&self) -> Result<PathBuf> {
        let store = workspace::build_directory().join("c");
        let folder = store.join(format!("{:016x}", self.hash()?));
        if folder.join(LIBRARY).is_file() {
            return Ok(folder);
        }
        fs::create_dir_all(&store)?;
        let lock = File::create(store.join("lock"))?;
        lock.lock()?;
        if !folder.join(LIBRARY).is_file() {
            let step = Step::start(format!("building {LIBRARY} by {}", self.program));
            // A command that was killed has left a part of it.
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir_all(&folder)?;
            fs::write(folder.join(PACKAGE), self.package_text(&folder)?)?;
            self.make(&folder)?;
            drop(step);
            kept::forget_old(&store)?;
        }
        Ok(folder)
    }

    /// Compiles all sources; the library appears when it is whole.
    fn make(&self, folder: &Path) -> Result<()> {
        let place = tempfile::tempdir_in(folder)?;
        let own = format!("-ffile-prefix-map={}/=", workspace::root().display());
        let mut compile = self.command();
        compile.current_dir(place.path()).args(OWN).args(self.compile_flags()?);
        done(compile.arg(own).arg("-c").args(sources()?))?;
        let mut pack = Command::new("ar");
        pack.current_dir(place.path()).args(["rcsD", LIBRARY]);
        for entry in fs::read_dir(place.path())? {
            pack.arg(entry?.file_name());
        }
        done(&mut pack)?;
        Ok(fs::rename(place.path().join(LIBRARY), folder.join(LIBRARY))?)
    }

    /// The file for pkg-config.
    fn package_text(&self, folder: &Path) -> Result<String> {
        let [compile, link] = [self.compile_flags()?, self.linked_with(folder)?];
        Ok(format!(
            "Name: giusto\nDescription: Programs for Giusto in C\nVersion: {}\n\
             Cflags: {}\nLibs: {}\n",
            env!("CARGO_PKG_VERSION"),
            compile.join(" "),
            link.join(" ")
        ))
    }

    /// What the library is made from.
    fn hash(&self) -> Result<u64> {
        let mut hasher = DefaultHasher::new();
        (&self.program, &self.version, CODE, OWN, LINK, workspace::root()).hash(&mut hasher);
        for path in files("")? {
            (&path, fs::read(&path)?).hash(&mut hasher);
        }
        Ok(hasher.finish())
    }
}

/// The library's sources.
pub fn sources() -> Result<Vec<PathBuf>> {
    let mut files = files("src")?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    Ok(files)
}

/// All files below a folder of the library's, in order.
fn files(folder: &str) -> Result<Vec<PathBuf>> {
    let walk = WalkDir::new(workspace::root().join(FOLDER).join(folder)).sort_by_file_name();
    let mut files = Vec::new();
    for entry in walk {
        let entry = entry?;
        files.extend(entry.file_type().is_file().then(|| entry.into_path()));
    }
    Ok(files)
}

/// A path as one word of a command line, which `$(...)` splits at blanks.
fn word(path: &Path) -> Result<String> {
    let text = path.to_str().context("a path is no text")?;
    if text.contains(char::is_whitespace) {
        bail!("{text} holds a blank, at which a shell splits what this prints: move it");
    }
    Ok(text.to_string())
}

/// Runs a tool to its end.
fn done(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let said = command.output().with_context(|| format!("cannot run {name}"))?;
    ensure!(said.status.success(), "{name} failed:\n{}", String::from_utf8_lossy(&said.stderr));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_told_with_what_to_install() {
        let error = Compiler::find("no-such-compiler").err().unwrap();
        assert!(error.is::<crate::failure::Usage>());
        let said = "there is no compiler `no-such-compiler`; run: apt-get install no-such-compiler";
        assert_eq!(error.to_string(), said);
    }

    #[test]
    fn paths_are_words() {
        assert_eq!(word(Path::new("/a/b")).unwrap(), "/a/b");
        assert!(word(Path::new("/a b/c")).unwrap_err().to_string().starts_with("/a b/c holds"));
    }
}
