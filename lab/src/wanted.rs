//! Lines of a console as tests name them: by their text, or by a pattern.

use regex::Regex;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::fmt;

/// A line that is wanted, or not.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// By its text.
    Text(String),
    /// By a pattern that it has.
    Pattern(Regex),
}

impl Wanted {
    /// Whether it is this line: as a text the whole of it.
    pub fn is(&self, line: &str) -> bool {
        match self {
            Wanted::Text(text) => line == text,
            Wanted::Pattern(pattern) => pattern.is_match(line),
        }
    }

    /// Whether this line has it.
    pub fn is_in(&self, line: &str) -> bool {
        match self {
            Wanted::Text(text) => line.contains(text.as_str()),
            Wanted::Pattern(pattern) => pattern.is_match(line),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Wanted::Text(text) => write!(f, "`{text}`"),
            Wanted::Pattern(pattern) => write!(f, "a line with the pattern '{pattern}'"),
        }
    }
}

impl<'de> Deserialize<'de> for Wanted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Wanted, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// Reads `"a text"` and `{ pattern = '^a pattern$' }`.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Wanted;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a text, or { pattern = '^a regular expression$' }")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Wanted, E> {
        Ok(Wanted::Text(text.to_string()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Wanted, A::Error> {
        let mut pattern = None;
        while let Some(key) = map.next_key::<String>()? {
            if key != "pattern" {
                return Err(Error::unknown_field(&key, &["pattern"]));
            }
            pattern = Some(map.next_value::<Pattern>()?.0);
        }
        pattern.map(Wanted::Pattern).ok_or_else(|| Error::missing_field("pattern"))
    }
}

/// A regular expression, which is compiled where its place in the text is known.
struct Pattern(Regex);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pattern, D::Error> {
        let text = String::deserialize(deserializer)?;
        let last = |error: regex::Error| {
            let said = error.to_string();
            let why = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
            Error::custom(format!("'{text}' is no regular expression: {why}"))
        };
        Regex::new(&text).map(Pattern).map_err(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Line {
        line: Wanted,
    }

    fn read(text: &str) -> Result<Wanted, toml::de::Error> {
        toml::from_str::<Line>(text).map(|line| line.line)
    }

    #[test]
    fn a_line_is_named_by_text_or_pattern() {
        let text = read("line = \"2 degrees\"").unwrap();
        assert!(text.is("2 degrees") && !text.is("12 degrees") && text.is_in("12 degrees"));
        let pattern = read(r"line = { pattern = '^\d+ degrees' }").unwrap();
        assert!(pattern.is("12 degrees, power 3") && !pattern.is("no degrees"));
        assert!(!pattern.is_in("at 12 degrees"));
        assert_eq!(pattern.to_string(), r"a line with the pattern '^\d+ degrees'");
    }

    #[test]
    fn a_wrong_pattern_is_told_at_its_line() {
        let said = |text: &str| read(text).unwrap_err().to_string();
        let wrong = said("\n\nline = { pattern = '(degrees' }");
        assert!(wrong.contains("line 3, column 20"), "{wrong}");
        assert!(wrong.contains("'(degrees' is no regular expression: unclosed group"), "{wrong}");
        assert!(said("line = { patern = 'x' }").contains("unknown field `patern`"));
        assert!(said("line = {}").contains("missing field `pattern`"));
        assert!(said("line = 3").contains("expected a text, or { pattern"));
    }
}
