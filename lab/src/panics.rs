//! What programs have said of their panics: in their logs or what stands in for those, whose lines
//! begin with the reason and end in a short place, and on the console, where a program in Rust or C
//! says first where.

use crate::logs;
use manifest::System;
use std::collections::BTreeMap;

/// What the log's line of a panic begins with.
const LOGGED: &str = "panicked: ";

/// Behind the name of a domain, what the console's line of a panic begins with.
const PRINTED: &str = ": panicked at ";

/// Stands in the log behind a reason that had no room.
const CUT: &str = "...";

/// A panic as its program has told it.
#[derive(Debug, PartialEq)]
struct Panic {
    domain: String,
    reason: String,
    /// Where; in a log the end of its path.
    place: String,
}

/// The panics of a run.
#[derive(Debug, Default)]
pub struct Panics {
    logged: Vec<Panic>,
    printed: Vec<Panic>,
}

impl Panics {
    /// Those of which logs and a console tell.
    pub fn told(console: &str, memories: &BTreeMap<String, Vec<u8>>, system: &System) -> Panics {
        let lines = logs::read_panics(memories, system);
        let logged = lines.into_iter().filter_map(|line| {
            let (reason, place) = line.text.strip_prefix(LOGGED)?.rsplit_once(", at ")?;
            let (reason, place) = (reason.to_string(), place.to_string());
            Some(Panic { domain: line.domain, reason, place })
        });
        Panics { logged: logged.collect(), printed: printed(console) }
    }

    /// The last panic of a domain, at a place if that is known: why, and where as precisely as the
    /// program has said.
    pub fn last(&self, domain: &str, place: Option<&str>) -> Option<(&str, &str)> {
        let meant =
            |panic: &&Panic| panic.domain == domain && place.is_none_or(|place| panic.is_at(place));
        let logged = self.logged.iter().rev().find(meant);
        let printed = self.printed.iter().rev().find(meant);
        match (logged, printed) {
            // On the console a reason is whole, but others may write between its lines.
            (Some(logged), Some(printed)) if printed.completes(logged) => {
                Some((&printed.reason, &printed.place))
            }
            (Some(logged), Some(printed)) if printed.is_at(&logged.place) => {
                Some((&logged.reason, &printed.place))
            }
            (Some(said), _) | (None, Some(said)) => Some((&said.reason, &said.place)),
            (None, None) => None,
        }
    }
}

impl Panic {
    /// Whether it may have been at a place, of which either may be the end alone.
    fn is_at(&self, place: &str) -> bool {
        self.place.ends_with(place) || place.ends_with(&self.place)
    }

    /// Whether this is what another would have said with more room.
    fn completes(&self, logged: &Panic) -> bool {
        let cut = logged.reason.strip_suffix(CUT);
        self.is_at(&logged.place) && cut.is_some_and(|begun| self.reason.starts_with(begun))
    }
}

/// The panics that a console tells of.
fn printed(console: &str) -> Vec<Panic> {
    let mut lines = console.lines().peekable();
    let mut panics = Vec::new();
    while let Some(line) = lines.next() {
        let Some((domain, place)) = line.split_once(PRINTED) else { continue };
        let Some(place) = place.trim_end().strip_suffix(':') else { continue };
        // Another program's panic may stand between.
        let reason = lines.next_if(|line| !line.contains(PRINTED)).unwrap_or_default();
        let reason = reason.trim().to_string();
        // Behind the first line of a reason, as of a comparison, others are indented.
        let more = std::iter::from_fn(|| lines.next_if(|line| line.starts_with(' ')));
        let reason = more.fold(reason, |reason, line| format!("{reason}; {}", line.trim()));
        panics.push(Panic { domain: domain.to_string(), reason, place: place.to_string() });
    }
    panics
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panic(domain: &str, reason: &str, place: &str) -> Panic {
        let [domain, reason, place] = [domain, reason, place].map(str::to_string);
        Panic { domain, reason, place }
    }

    #[test]
    fn a_console_tells_reason_and_place() {
        let console = "fan: panicked at a.rs:1:1:\r\npump: panicked at b.rs:2:3:\nno\n\
                       x: panicked at c.rs:1:\nassertion failed\n  left: 1\n right: 2\nx\n";
        let expected = [
            panic("fan", "", "a.rs:1:1"),
            panic("pump", "no", "b.rs:2:3"),
            panic("x", "assertion failed; left: 1; right: 2", "c.rs:1"),
        ];
        assert_eq!(printed(console), expected);
    }

    #[test]
    fn the_whole_reason_is_taken_and_the_whole_place() {
        let mut panics = Panics {
            logged: vec![
                panic("pump", "older", "src/b.rs:1:1"),
                panic("pump", "it is far too...", "src/b.rs:2:3"),
            ],
            printed: vec![panic("pump", "it is far too hot", "plant/src/b.rs:2:3")],
        };
        let whole = Some(("it is far too hot", "plant/src/b.rs:2:3"));
        assert_eq!(panics.last("pump", None), whole);
        assert_eq!(panics.last("pump", Some("/x/plant/src/b.rs:2:3")), whole);
        let older = Some(("older", "src/b.rs:1:1"));
        assert_eq!(panics.last("pump", Some("plant/src/b.rs:1:1")), older);
        assert_eq!(panics.last("fan", None), None);
        panics.printed[0].reason = "fan: all is well".to_string();
        let mixed = Some(("it is far too...", "plant/src/b.rs:2:3"));
        assert_eq!(panics.last("pump", None), mixed, "another program's line is no reason");
    }
}
