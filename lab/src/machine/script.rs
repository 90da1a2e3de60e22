//! What is typed at the console because of what is printed there: one line after the other.

use super::console::END_OF_INPUT;
use crate::wanted::Wanted;
use serde::Deserialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A line to type.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Typed {
    /// The line that has to be printed before, since the one before was typed; none: it is typed
    /// with the one before, or at the beginning.
    pub after: Option<Wanted>,
    /// What is typed, without its end.
    #[serde(rename = "type")]
    pub line: String,
}

/// What is typed in a run, and how far that is.
#[derive(Debug)]
pub struct Script {
    inputs: Vec<Typed>,
    /// How many have been typed.
    typed: usize,
    /// What follows the last one.
    end: &'static [u8],
}

/// A script that the machine follows, whose end its owner looks at.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Mutex<Script>>);

impl Shared {
    /// These lines, each in its turn.
    pub fn new(inputs: &[Typed]) -> Shared {
        Shared::of(Script { inputs: inputs.to_vec(), typed: 0, end: &[] })
    }

    /// A text at the beginning, and then the end of input.
    pub fn text(text: &str) -> Shared {
        let lines = text.lines().map(|line| Typed { after: None, line: line.to_string() });
        Shared::of(Script { inputs: lines.collect(), typed: 0, end: &[END_OF_INPUT] })
    }

    fn of(script: Script) -> Shared {
        Shared(Arc::new(Mutex::new(script)))
    }

    /// Access to it.
    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Script {
    /// What is typed before anything was printed.
    pub fn begin(&mut self) -> Vec<u8> {
        self.type_from(self.typed)
    }

    /// What is typed because this line was printed.
    pub fn hear(&mut self, line: &str) -> Vec<u8> {
        match self.inputs.get(self.typed).and_then(|input| input.after.as_ref()) {
            Some(after) if after.is_in(line.trim_end()) => self.type_from(self.typed + 1),
            _ => Vec::new(),
        }
    }

    /// Whether all is typed.
    pub fn is_done(&self) -> bool {
        self.typed == self.inputs.len()
    }

    /// What was never typed, in words.
    pub fn left(&self) -> Option<String> {
        let input = self.inputs.get(self.typed)?;
        let (number, line) = (self.typed + 1, &input.line);
        let after = input.after.as_ref().map_or(String::new(), |after| match after {
            Wanted::Text(_) => format!(": no line had {after} by then"),
            Wanted::Pattern(_) => format!(": there was not {after} by then"),
        });
        Some(format!("input {number}, `{line}`, was not typed{after}"))
    }

    /// Types the inputs up to this one, and those that wait for no line.
    fn type_from(&mut self, next: usize) -> Vec<u8> {
        let waits = |input: &Typed| input.after.is_some();
        let end = self.inputs[next..].iter().position(waits).map(|at| next + at);
        let end = end.unwrap_or(self.inputs.len());
        let mut text = Vec::new();
        for input in &self.inputs[self.typed..end] {
            text.extend_from_slice(input.line.as_bytes());
            text.push(b'\n');
        }
        self.typed = end;
        if self.is_done() {
            text.extend_from_slice(std::mem::take(&mut self.end));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(inputs: &[(Option<&str>, &str)]) -> Shared {
        let typed = |(after, line): &(Option<&str>, &str)| Typed {
            after: after.map(|text| Wanted::Text(text.to_string())),
            line: line.to_string(),
        };
        Shared::new(&inputs.iter().map(typed).collect::<Vec<_>>())
    }

    #[test]
    fn lines_are_typed_in_order_each_after_its_own() {
        let shared = script(&[(Some("ready"), "status"), (None, "go"), (Some("ready"), "halt")]);
        let mut script = shared.script();
        assert_eq!(script.begin(), b"");
        assert_eq!(script.hear("not yet"), b"");
        assert_eq!(script.hear("it is ready\r"), b"status\ngo\n");
        assert!(!script.is_done());
        let left = "input 3, `halt`, was not typed: no line had `ready` by then";
        assert_eq!(script.left().as_deref(), Some(left));
        assert_eq!(script.hear("ready again"), b"halt\n");
        assert!(script.is_done() && script.left().is_none());
        assert_eq!(script.hear("ready"), b"");
    }

    #[test]
    fn what_waits_for_nothing_is_typed_at_the_beginning() {
        let shared = script(&[(None, "one"), (Some("x"), "two")]);
        assert_eq!(shared.script().begin(), b"one\n");
        assert_eq!(Shared::text("a\nb\n").script().begin(), b"a\nb\n\x04");
    }
}
