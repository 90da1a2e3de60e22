//! Words and numbers of a manifest, checked: names, ranges, sizes, durations and references.

use std::ops::RangeInclusive;

use abi::PAGE;
use abi::object::Resource;
use abi::reservation::LEAST_BUDGET;
use indexmap::IndexMap;
use toml::{Spanned, Value};

use crate::problem::{Problem, Source, Span, is_name, quote};
use crate::reservation;
use crate::schema::{Manifest, Number, Word};
use crate::sharing;
use crate::suggest::hint;
use crate::units;

/// Objects that a pool or a quota can have at most.
pub const MOST_OBJECTS: u64 = 1 << 20;
/// Bytes in the longest name of an object.
pub const LONGEST_NAME: usize = 31;
/// Bytes in the longest name of a domain, which the kernel keeps.
const LONGEST_DOMAIN_NAME: usize = 15;

/// A manifest's text with the names of its objects, to which words refer.
pub struct Values<'a> {
    /// The text.
    pub source: &'a Source,
    names: [(&'static str, Vec<&'a Word>); 10],
}

impl<'a> Values<'a> {
    /// The names of a manifest's objects.
    pub fn of(source: &'a Source, manifest: &'a Manifest) -> Values<'a> {
        let memories = manifest.memory.iter().map(|object| &object.name);
        // The registers of a device are memory.
        let devices = || manifest.device.iter().map(|object| &object.name);
        let names = [
            ("endpoint", manifest.endpoint.iter().map(|object| &object.name).collect()),
            ("notification", manifest.notification.iter().map(|object| &object.name).collect()),
            ("interrupt", manifest.interrupt.iter().map(|object| &object.name).collect()),
            ("timer", manifest.timer.iter().map(|object| &object.name).collect()),
            ("memory", memories.chain(devices()).collect()),
            ("device", devices().collect()),
            ("domain", manifest.domain.iter().map(|object| &object.get_ref().name).collect()),
            ("reservation", reservation::names(manifest)),
            ("mutex", manifest.mutex.iter().map(|object| &object.name).collect()),
            ("task", sharing::names(manifest)),
        ];
        Values { source, names }
    }

    /// What is wrong with the objects' names.
    pub fn wrong_names(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        // Devices are among the memories.
        for (kind, names) in self.names.iter().filter(|(kind, _)| *kind != "device") {
            let longest = if *kind == "domain" { LONGEST_DOMAIN_NAME } else { LONGEST_NAME };
            problems.extend(names.iter().filter_map(|name| self.name(name, longest).err()));
            problems.extend(repeated(names, |name| Some(name.get_ref())).map(|(_, again)| {
                let all = match *kind {
                    "mutex" => "mutexes".to_string(),
                    "memory" => "memories".to_string(),
                    kind => format!("{kind}s"),
                };
                let message = format!("two {all} are called {}", quote(again.get_ref()));
                self.problem(*again, message, "give each a name of its own")
            }));
        }
        problems
    }

    /// A problem with a value.
    pub fn problem<T>(
        &self,
        value: &Spanned<T>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        self.source.problem(&value.span(), message, help)
    }

    /// How many objects of a kind the manifest has.
    pub fn count(&self, kind: &'static str) -> usize {
        self.names.iter().find(|(other, _)| *other == kind).map_or(0, |(_, names)| names.len())
    }

    /// Index of the object of a kind that a word names.
    pub fn find(&self, kind: &'static str, word: &Word) -> Result<usize, Problem> {
        let names = self.names.iter().filter(|(other, _)| *other == kind);
        let names: Vec<&str> =
            names.flat_map(|(_, names)| names).map(|n| n.as_ref().as_str()).collect();
        let wanted = word.get_ref();
        names.iter().position(|name| name == wanted).ok_or_else(|| {
            let add = format!("add `[[{kind}]]` with `name = {wanted:?}`");
            let help = match hint(wanted, "the manifest has", &names) {
                _ if names.is_empty() => format!("the manifest has no {kind}: {add}"),
                meant if meant.starts_with("did") => meant,
                all => format!("{all}; or {add}"),
            };
            self.problem(word, format!("no {kind} is called {}", quote(wanted)), help)
        })
    }

    /// A name of at most `longest` bytes, fit for an environment key.
    pub fn name(&self, word: &Word, longest: usize) -> Result<String, Problem> {
        let name = word.get_ref();
        if name.is_empty() || name.len() > longest {
            let message = format!("the name {} is {} bytes long", quote(name), name.len());
            return Err(self.problem(
                word,
                message,
                format!("a name has 1 to {longest} bytes here"),
            ));
        }
        if !is_name(name) {
            let help = "use letters, digits, `-` and `_`";
            return Err(self.problem(word, format!("{} is not a name", quote(name)), help));
        }
        Ok(name.clone())
    }

    /// One of several words.
    pub fn one_of(&self, what: &str, word: &Word, words: &[&str]) -> Result<String, Problem> {
        let given = word.get_ref();
        if words.contains(&given.as_str()) {
            return Ok(given.clone());
        }
        let help = hint(given, &format!("a {what} is one of"), words);
        Err(self.problem(word, format!("there is no {what} {}", quote(given)), help))
    }

    /// A whole number within a range, or the default if the manifest has none.
    pub fn number(
        &self,
        number: &Option<Number>,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> Result<u64, Problem> {
        number.as_ref().map_or(Ok(default), |number| self.within(number, range))
    }

    /// A whole number within a range.
    pub fn within(&self, number: &Number, range: RangeInclusive<u64>) -> Result<u64, Problem> {
        let value = u64::try_from(*number.get_ref()).ok();
        value.filter(|value| range.contains(value)).ok_or_else(|| {
            let help = format!("give a whole number from {} to {}", range.start(), range.end());
            self.problem(number, format!("`{}` is out of range", number.get_ref()), help)
        })
    }

    /// A size in bytes: a multiple of the page within a range.
    pub fn size(&self, word: &Word, range: RangeInclusive<u64>) -> Result<u64, Problem> {
        let text = quote(word.get_ref());
        let Some(bytes) = units::size(word.get_ref()) else {
            let help = "a size is a whole number and K, M or G, for instance \"16K\"";
            return Err(self.problem(word, format!("{text} is not a size"), help));
        };
        if !bytes.is_multiple_of(PAGE) {
            let up = units::spell_size(bytes.next_multiple_of(PAGE));
            let help = format!("memory comes in pages of 4K: write {up:?}");
            return Err(self.problem(word, format!("{text} is not a multiple of 4K"), help));
        }
        if !range.contains(&bytes) {
            let [low, high] = [range.start(), range.end()].map(|end| units::spell_size(*end));
            let help = format!("give a size from {low:?} to {high:?}");
            return Err(self.problem(word, format!("{text} is out of range"), help));
        }
        Ok(bytes)
    }

    /// A duration in nanoseconds within a range.
    pub fn duration(&self, word: &Word, range: RangeInclusive<u64>) -> Result<u64, Problem> {
        let text = quote(word.get_ref());
        let Some(nanoseconds) = units::duration(word.get_ref()) else {
            let help = "a duration is a whole number and us, ms or s, say \"10ms\"";
            return Err(self.problem(word, format!("{text} is not a duration"), help));
        };
        if !range.contains(&nanoseconds) {
            let [low, high] = [range.start(), range.end()].map(|end| units::spell_duration(*end));
            let help = format!("give a duration from {low:?} to {high:?}");
            return Err(self.problem(word, format!("{text} is out of range"), help));
        }
        Ok(nanoseconds)
    }

    /// A budget up to `most`, not below the least one that the kernel accepts.
    pub fn budget(&self, word: &Word, most: u64) -> Result<u64, Problem> {
        let given = units::duration(word.get_ref()).filter(|budget| *budget < LEAST_BUDGET);
        match given {
            None => self.duration(word, LEAST_BUDGET..=most),
            Some(_) => {
                let message = format!(
                    "a budget of {} is used up by the switches to it and from it",
                    word.get_ref()
                );
                let help = format!("give it {:?} at least", units::spell_duration(LEAST_BUDGET));
                Err(self.problem(word, message, help))
            }
        }
    }

    /// What something costs, in nanoseconds: also in fractions, rounded up.
    pub fn cost(&self, word: &Word) -> Result<u64, Problem> {
        let cost = units::scaled(word.get_ref(), &units::NANOSECONDS).filter(|cost| *cost <= 1e9);
        cost.map(|cost| cost.ceil() as u64).ok_or_else(|| {
            let help = "write a number and ns, us or ms, up to a second, say \"1.5us\"";
            self.problem(word, format!("{} is not a cost", quote(word.get_ref())), help)
        })
    }

    /// A part of a CPU in millionths, up to all of it.
    pub fn percent(&self, at: &Span, text: &str) -> Result<u32, Problem> {
        let help = "write a part of the CPU up to \"100%\", say \"12.5%\"";
        let Some(millionths) = units::percent(text) else {
            let message = format!("{} is not a part of a CPU", quote(text));
            return Err(self.source.problem(at, message, help));
        };
        if millionths > abi::reservation::WHOLE {
            let message = format!("{} is more than the whole CPU", quote(text));
            return Err(self.source.problem(at, message, help));
        }
        Ok(millionths)
    }

    /// One line of text, be it written as a text, a number or a boolean.
    pub fn line(&self, value: &Spanned<Value>) -> Result<String, Problem> {
        let line = match value.get_ref() {
            Value::String(text) => text.clone(),
            Value::Integer(integer) => integer.to_string(),
            Value::Boolean(flag) => flag.to_string(),
            other => {
                let message = format!("an argument cannot be of type {}", other.type_str());
                return Err(self.problem(value, message, "write for instance \"text\" or 1000"));
            }
        };
        if line.contains(char::is_control) {
            let help = "a program reads its arguments line by line: write one line of text";
            return Err(self.problem(value, "an argument contains a control character", help));
        }
        Ok(line)
    }

    /// An amount of some resources, with where the manifest gives it.
    pub fn amounts(
        &self,
        given: &IndexMap<Word, Number>,
        range: RangeInclusive<u64>,
    ) -> Result<[Option<(u64, Span)>; Resource::COUNT], Problem> {
        let mut amounts = [const { None }; Resource::COUNT];
        let names = Resource::ALL.map(Resource::name);
        for (key, number) in given {
            let index = names.iter().position(|name| name == key.get_ref()).ok_or_else(|| {
                let message = format!("{} is not a key here", quote(key.get_ref()));
                self.problem(key, message, hint(key.get_ref(), "known keys", &names))
            })?;
            amounts[index] = Some((self.within(number, range.clone())?, number.span()));
        }
        Ok(amounts)
    }
}

/// The first item that has the same key as an earlier one, behind that one.
pub fn repeated<'a, T, K: PartialEq>(
    items: &'a [T],
    key: impl Fn(&'a T) -> Option<K>,
) -> Option<(&'a T, &'a T)> {
    items.iter().enumerate().find_map(|(index, item)| {
        let mine = key(item)?;
        let earlier = items[..index].iter().find(|other| key(other).as_ref() == Some(&mine))?;
        Some((earlier, item))
    })
}
