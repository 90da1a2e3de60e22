//! Faults that no handler took, told in words: which program, where in its source, and why. The
//! kernel prints a line for each; the rest is known from the manifest and the executables.

use crate::image::Images;
use crate::machine::Outcome;
use crate::panics::Panics;
use crate::symbols;
use abi::PAGE;
use abi::message::{PANIC, PANIC_RANGE};
use manifest::{Domain, System, spell_size};
use object::{Object, ObjectSection};
use serde::Serialize;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use twin_protocol::{LOOPS, NO_REGISTER};

/// A thread that was stopped.
#[derive(Debug, Serialize)]
pub struct Fault {
    /// The name of its domain; of one that a program has made, behind that of the domain of the
    /// manifest that it is in, and `/`.
    pub domain: String,
    /// The name of the thread, if a program has given it one.
    pub thread: Option<String>,
    /// Whether the manifest says that this may happen, of the domain or the one that it is in.
    pub expected: bool,
    /// The program, where the manifest says.
    pub program: Option<String>,
    /// What happened.
    pub what: String,
    /// The functions that it stood in, the innermost inlined one first; in the simulation only if
    /// the host refused something.
    pub at: Vec<String>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "{}", self.what)?;
        self.at.iter().try_for_each(|place| writeln!(f, "  in {place}"))
    }
}

/// What is known of a fault: what the kernel prints of it, or a supervisor notes.
#[derive(Debug, PartialEq)]
pub struct Line<'a> {
    /// The name of its kind.
    pub kind: &'a str,
    /// The name of the domain.
    pub domain: &'a str,
    /// The name of the thread, if it has one.
    pub thread: Option<&'a str>,
    /// Its address or detail.
    pub detail: u64,
    /// The instruction pointer.
    pub at: u64,
}

impl Line<'_> {
    /// Who faulted, in words.
    fn who(&self) -> String {
        let made = self.domain.strip_suffix('/');
        let domain = match made {
            Some(outermost) => format!("a domain made by {outermost}"),
            None => self.domain.to_string(),
        };
        match self.thread {
            Some(thread) => format!("thread {thread} of {domain}"),
            None => domain,
        }
    }
}

/// The first page of a program.
const FIRST_PAGE: Range<u64> = manifest::PROGRAMS.start..manifest::PROGRAMS.start + PAGE;

/// What becomes of a thread whose fault no handler took, or that ends the run in a panic.
const ENDINGS: [&str; 2] = ["; no handler, thread suspended", "; the run ends"];

/// The faults that the console of a run tells of.
pub fn told(outcome: &Outcome, system: &System, images: &Images) -> Vec<Fault> {
    let console = &outcome.console;
    let panics = Panics::told(console, &outcome.memories, system);
    let lines = console.lines().filter_map(read);
    lines.map(|line| explained(&line, &panics, system, images)).collect()
}

/// Reads a line, in which a program may have written before.
fn read(line: &str) -> Option<Line<'_>> {
    let (_, facts) = line.trim_end().rsplit_once("fault: ")?;
    let facts = ENDINGS.iter().find_map(|ending| facts.strip_suffix(ending))?;
    let mut facts = facts.split(", ");
    let kind = facts.next()?;
    let mut fact = |name: &str| facts.next()?.strip_prefix(name)?.strip_prefix(' ');
    let number = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let (domain, thread) = (fact("domain")?, fact("thread")?);
    let thread = thread.split_once(' ').map(|(_index, name)| name);
    let (detail, _code) = (number(fact("detail")?)?, fact("code")?);
    Some(Line { kind, domain, thread, detail, at: number(fact("at")?)? })
}

/// A fault in words, with what programs have said of their panics.
pub fn explained(line: &Line, panics: &Panics, system: &System, images: &Images) -> Fault {
    let (outermost, made) = match line.domain.split_once('/') {
        Some((outermost, _)) => (outermost, true),
        None => (line.domain, false),
    };
    let outermost = system.domains.iter().find(|domain| domain.name == outermost);
    // What a domain that a program has made executes, nobody knows.
    let domain = outermost.filter(|_| !made);
    // In the simulation all programs are parts of one, and code that is not at a place of its own
    // stands in the first page of a domain's.
    let simulated = images.twin.as_ref().filter(|_| !FIRST_PAGE.contains(&line.at));
    let own = domain.and_then(|domain| images.programs.get(&domain.program));
    let executable = own.or(simulated);
    let is_panic = line.kind == "memory" && (PANIC..PANIC + PANIC_RANGE).contains(&line.detail);
    let what = if is_panic {
        let known = own.and_then(|file| location(file, line.detail - PANIC));
        let said = panics.last(line.domain, known.as_deref());
        panicked(&line.who(), known.as_deref(), said)
    } else {
        reason(line, domain)
    };
    let at = executable.filter(|_| !is_panic).map(|file| symbols::functions(file, line.at));
    Fault {
        domain: line.domain.to_string(),
        thread: line.thread.map(str::to_string),
        expected: outermost.is_some_and(|domain| domain.may_fault),
        program: domain.map(|domain| domain.program.clone()),
        what,
        at: at.unwrap_or_default(),
    }
}

/// A panic in words: reason and place, as far as they are known.
fn panicked(who: &str, known: Option<&str>, said: Option<(&str, &str)>) -> String {
    let (reason, place) = said.unwrap_or_default();
    match (reason, short(known.unwrap_or(place))) {
        ("", "") => format!("{who} panicked"),
        ("", place) => format!("{who} panicked at {place}"),
        (reason, "") => format!("{who} panicked: {reason}"),
        (reason, place) => format!("{who} panicked: {reason}, at {place}"),
    }
}

/// A place in a file outside of the work tree, by the end of its path alone.
fn short(place: &str) -> &str {
    let begin = place.rmatch_indices('/').nth(2).filter(|_| place.starts_with('/'));
    begin.map_or(place, |(at, _)| &place[at + 1..])
}

fn reason(line: &Line, domain: Option<&Domain>) -> String {
    let Line { kind, detail, at, .. } = line;
    let name = line.who();
    match (*kind, domain) {
        ("memory", Some(domain)) if domain.guards(*detail) => {
            let size = spell_size(domain.stack);
            format!("stack overflow of {name} ({size}; the guard page below it was reached)")
        }
        ("memory", _) if *detail < PAGE => {
            format!("{name} used a null pointer (address {detail:#x})")
        }
        ("memory", _) if detail == at => {
            format!("{name} jumped to address {at:#x}, where it may execute nothing")
        }
        ("memory", _) => {
            format!("{name} used address {detail:#x}, which is not mapped for that")
        }
        ("instruction", _) => format!("{name} executed what user mode may not"),
        ("arithmetic", _) => format!("{name} divided by zero, or the quotient did not fit"),
        ("other", _) if *detail == LOOPS => {
            format!("{name} ran on without a system call: a loop has to call giusto_work there")
        }
        ("other", _) if *detail == NO_REGISTER => {
            format!("{name} wrote to a device, but no register of 64 bits whole: use uint64_t")
        }
        _ => format!("{name} faulted: {kind}, {detail:#x}"),
    }
}

/// The source line that a place in an executable names, laid out as [`PANIC`] says.
fn location(executable: &Path, address: u64) -> Option<String> {
    let bytes = fs_err::read(executable).ok()?;
    let image = object::File::parse(&*bytes).ok()?;
    let at = |address: u64, length: usize| {
        image.sections().find_map(|section| {
            let offset = usize::try_from(address.checked_sub(section.address())?).ok()?;
            section.data().ok()?.get(offset..)?.get(..length)
        })
    };
    let fields = at(address, 24)?;
    let word = |from: usize| u64::from_le_bytes(fields[from..from + 8].try_into().expect("8"));
    let name = std::str::from_utf8(at(word(0), usize::try_from(word(8)).ok()?)?).ok()?;
    let [line, column] = [word(16) & 0xffff_ffff, word(16) >> 32];
    // What is no name of a source file is no place.
    let ending = Path::new(name).extension().filter(|_| !name.contains(char::is_control));
    let column = if column == 0 { String::new() } else { format!(":{column}") };
    ending.map(|_| format!("{}:{line}{column}", symbols::shortened(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Exit;

    const LINE: &str = "fault: memory, domain pump, thread 0x2, detail 0x10, code 0x4, \
                        at 0x2001f0; no handler, thread suspended\r";

    fn system() -> System {
        let text = "[system]\nname = \"plant\"\n\n[[domain]]\nname = \"pump\"\nprogram = \"echo\"\n\
                    priority = 1\nstack = \"8K\"\nthreads = 2\n";
        manifest::parse("plant.toml", text).unwrap()
    }

    fn tell(console: &str, system: &System) -> Vec<Fault> {
        let outcome = Outcome::made_up(Exit::Done(0), console);
        told(&outcome, system, &Images::default())
    }

    fn said(detail: u64) -> String {
        let line = Line { kind: "memory", domain: "pump", thread: None, detail, at: 0x20_0000 };
        explained(&line, &Panics::default(), &system(), &Images::default()).what
    }

    #[test]
    fn lines_are_read_and_nothing_else() {
        let line =
            Line { kind: "memory", domain: "pump", thread: None, detail: 0x10, at: 0x20_01f0 };
        assert_eq!(read(LINE), Some(line));
        assert_eq!(read("fault: memory, domain pump, at 0x10; no handler, thread suspended"), None);
        assert_eq!(read("pump: fault: memory"), None);
        assert!(read(&format!("working ... {LINE}")).is_some(), "behind a program's own words");
        let last = LINE.replace("no handler, thread suspended", "the run ends");
        assert_eq!(read(&last), read(LINE));
        assert_eq!(read(&LINE.replace("no handler, thread suspended", "it goes on")), None);
        let told = tell(&format!("one\n{LINE}\ntwo\n"), &system());
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].domain.as_str(), told[0].program.as_deref()), ("pump", Some("echo")));
    }

    #[test]
    fn the_page_below_a_stack_is_its_guard() {
        let top = manifest::STACKS;
        let overflow = "stack overflow of pump (8K; the guard page below it was reached)";
        // Two stacks of 8K, with a page below each.
        for detail in [0x2001, 0x3000, 0x5001, 0x6000].map(|below| top - below) {
            assert_eq!(said(detail), overflow, "{detail:#x}");
        }
        for detail in [0x2000, 0x3001, 0x5000, 0x6001].map(|below| top - below) {
            assert!(said(detail).starts_with("pump used address "), "{detail:#x}");
        }
    }

    #[test]
    fn a_panic_is_told_with_its_reason_and_its_place() {
        let panic = LINE.replace("detail 0x10", &format!("detail {PANIC:#x}"));
        let console =
            format!("fan: panicked at a.rs:1:1:\npump: panicked at b.rs:2:3:\nno\n{panic}");
        let told = tell(&console, &system());
        assert_eq!(told[0].what, "pump panicked: no, at b.rs:2:3");
        assert_eq!(panicked("pump", Some("c.rs:1"), None), "pump panicked at c.rs:1");
        assert_eq!(panicked("pump", None, Some(("no", ""))), "pump panicked: no");
        let long = "/home/me/projects/of/this/year/plant/pump/src/lib.rs:30:9";
        let told = panicked("pump", Some(long), Some(("too hot", "pump/src/lib.rs:30:9")));
        assert_eq!(told, "pump panicked: too hot, at pump/src/lib.rs:30:9");
    }

    #[test]
    fn what_programs_have_made_stands_behind_the_manifests_domain() {
        let of = |domain: &str, more: &str| {
            let line = LINE.replace("domain pump, thread 0x2", &format!("domain {domain}{more}"));
            tell(&line, &system()).remove(0)
        };
        let named = of("pump", ", thread 0x2 reader");
        assert_eq!(named.what, "thread reader of pump used a null pointer (address 0x10)");
        assert_eq!(
            (named.thread.as_deref(), named.program.as_deref()),
            (Some("reader"), Some("echo"))
        );
        let made = of("pump/helper", ", thread 0x2");
        assert_eq!(made.what, "pump/helper used a null pointer (address 0x10)");
        assert_eq!((made.program, made.expected), (None, false));
        let nameless = of("pump/", ", thread 0x2 reader").what;
        assert!(nameless.starts_with("thread reader of a domain made by pump used a null"));
        let text = "[system]\nname = \"plant\"\n\n[[domain]]\nname = \"pump\"\n\
                    program = \"echo\"\npriority = 1\nmay_fault = true\n";
        let admits = manifest::parse("plant.toml", text).unwrap();
        let line = LINE.replace("domain pump", "domain pump/helper");
        assert!(tell(&line, &admits)[0].expected);
    }

    #[test]
    fn addresses_tell_what_went_wrong() {
        assert_eq!(said(8), "pump used a null pointer (address 0x8)");
        assert!(said(0x20_0000).starts_with("pump jumped to address 0x200000"));
        assert_eq!(said(PANIC + 0x30_0000), "pump panicked", "without its executable");
        assert!(said(PANIC + PANIC_RANGE).starts_with("pump used address"));
    }
}
