//! What `check` says of a system: the verdict, what is wrong and where, and what it consists of.

use super::decided::Decided;
use super::latency::Latency;
use super::note::Note;
use crate::commands::wrapped;
use manifest::{Problem, Problems, System};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Lines that are shown unless all is asked for.
const SCREEN: usize = 24;
/// Lines of a screen that say what a system is.
const ABOUT: usize = 7;
/// Tasks that are shown on a screen.
const TASKS: usize = 8;

/// What there is to say of a system.
pub struct Page<'a> {
    /// The system.
    pub system: &'a System,
    /// Whether it fits, if it says anything of CPU time.
    pub decided: Option<&'a Decided>,
    /// How late its threads wake.
    pub latency: Option<&'a Latency>,
    /// What is to be known beside.
    pub notes: &'a [Note],
}

impl Page<'_> {
    /// Whether nothing is wrong with it, or what is wrong need not be right.
    pub fn is_accepted(&self) -> bool {
        self.late().is_none() && self.decided.is_none_or(Decided::is_accepted)
    }

    /// What cannot be held of the latency that is asked for.
    fn late(&self) -> Option<&Problem> {
        self.latency.and_then(Latency::problem)
    }

    /// The verdict in a sentence, with the lines that are to blame.
    fn headline(&self) -> String {
        let says = self
            .decided
            .map_or("is right: nothing in it has a deadline".into(), |decided| decided.says());
        let late = self.late().map_or("", |_| "; it cannot hold its `max_latency`");
        format!("{} {says}{late}{}", self.system.name, see(&self.system.source.name, &self.lines()))
    }

    /// The lines that are to blame.
    fn lines(&self) -> BTreeSet<u32> {
        let reasons = self.decided.map_or(Vec::new(), Decided::reasons);
        let lines = reasons.iter().filter_map(|reason| reason.line(&self.system.source));
        lines.chain(self.late().map(|late| late.line)).collect()
    }

    /// The verdict: whether it fits, each deadline, the latency, and what is missing.
    pub fn verdict(&self, all: bool) -> String {
        let most = if all { usize::MAX } else { TASKS };
        let deadlines = self.decided.map_or(String::new(), |decided| decided.deadlines(most));
        let gap = if deadlines.is_empty() { "" } else { "\n" };
        let latency = self.latency.map(Latency::says);
        let missing = self.decided.and_then(Decided::missing);
        let below = latency.into_iter().chain(missing).map(|text| wrapped(&text, "", ""));
        let below: String = below.collect();
        format!("{}{gap}{deadlines}\n{below}", wrapped(&self.headline(), "", ""))
    }

    /// What is wrong and what the system consists of: in the rest of a screen, or all of it.
    pub fn rest(&self, all: bool) -> String {
        let late = self.late().map_or(0, |late| late.to_string().lines().count());
        let used = self.verdict(all).lines().count() + late;
        let room = if all { usize::MAX } else { SCREEN.saturating_sub(used) };
        let findings = self.findings(room.saturating_sub(ABOUT));
        let room = room.saturating_sub(findings.lines().count());
        let name = &self.system.name;
        let about = wrapped(&format!("{name}: {}", self.system.about), "\n", "");
        if !all {
            let room = room.saturating_sub(about.lines().count() + 3);
            return format!("{findings}{about}{}All tables: --verbose\n", self.system.brief(room));
        }
        let latency = self.latency.map_or(String::new(), Latency::text);
        let decided = self.decided.map_or(String::new(), Decided::tables);
        format!("{findings}{about}{}{latency}{decided}", self.system.summary())
    }

    /// Why it does not fit, and what is likely not meant, each with its place: as many as have
    /// room, and one of each at least.
    fn findings(&self, room: usize) -> String {
        let reasons = self.decided.map_or(Vec::new(), Decided::reasons);
        let notes = self.decided.map_or(&[][..], Decided::notes);
        let notes: Vec<&Note> = notes.iter().chain(self.notes).collect();
        let source = &self.system.source;
        let mut text = String::new();
        for (kind, notes) in [("", reasons.iter().collect()), ("warning: ", notes)] {
            let mut left = notes.len();
            for shown in notes.iter().map(|note| note.shown(source, kind)) {
                if left < notes.len() && text.lines().count() + shown.lines().count() >= room {
                    break;
                }
                text += &shown;
                left -= 1;
            }
            if left > 0 {
                text += &format!("{}: {kind}{left} more by --verbose\n", source.name);
            }
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    /// The verdict for programs.
    pub fn document(&self) -> Value {
        let file = &self.system.source.name;
        document(self.is_accepted(), &self.headline(), file, &self.lines())
    }
}

/// The verdict on a manifest that is refused, in a sentence with the lines that are to blame.
pub fn refused(Problems(problems): &Problems) -> (String, Value) {
    let file = problems.first().map_or("", |problem| &problem.file);
    let lines = problems.iter().map(|problem| problem.line).filter(|line| *line > 0).collect();
    let says = format!("{file} is refused{}", see("it", &lines));
    let document = document(false, &says, file, &lines);
    (says, document)
}

/// The end of a sentence, with lines to look at.
fn see(file: &str, lines: &BTreeSet<u32>) -> String {
    let all: Vec<String> = lines.iter().map(u32::to_string).collect();
    match all.len() {
        0 => ".".to_string(),
        1 => format!(": see line {} of {file}.", all[0]),
        _ => format!(": see lines {} of {file}.", all.join(", ")),
    }
}

fn document(accepted: bool, says: &str, file: &str, lines: &BTreeSet<u32>) -> Value {
    json!({"accepted": accepted, "says": says, "file": file, "lines": lines})
}
