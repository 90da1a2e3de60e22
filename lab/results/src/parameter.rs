//! Values of parameters: typed in rows, and spelt in their cases as words `NAME=VALUE`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use units::{NANOSECONDS, whole};

/// A value of a parameter. JSON has numbers for counts and strings for the others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// A number.
    Count(u64),
    /// A time in nanoseconds, which is spelt with a unit.
    Time(u64),
    /// A name, such as that of a locking.
    Name(String),
}

impl Value {
    /// The value that a text spells: digits are a count, digits and a unit a time, all else a name.
    pub fn parse(text: &str) -> Value {
        let time = || whole(text, &NANOSECONDS).map(Value::Time);
        let count = text.parse().ok().map(Value::Count);
        count.or_else(time).unwrap_or_else(|| Value::Name(text.to_string()))
    }

    /// The number of a count, or the nanoseconds of a time.
    pub fn number(&self) -> Option<u64> {
        match self {
            Value::Count(number) | Value::Time(number) => Some(*number),
            Value::Name(_) => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Count(count) => write!(f, "{count}"),
            Value::Time(time) => {
                let fits = NANOSECONDS.iter().rev().find(|(_, scale)| time % scale == 0);
                let (unit, scale) = fits.unwrap_or(&NANOSECONDS[0]);
                write!(f, "{}{unit}", time / scale)
            }
            Value::Name(name) => f.write_str(name),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Count(count) => serializer.serialize_u64(*count),
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Number(u64),
            Text(String),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Number(count) => Value::Count(count),
            Either::Text(text) => Value::parse(&text),
        })
    }
}

/// The parameters that a case spells, by name.
pub fn parameters(case: &str) -> BTreeMap<String, Value> {
    let words = case.split(' ').filter_map(|word| word.split_once('='));
    words.map(|(name, value)| (name.to_string(), Value::parse(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_typed_by_how_they_are_spelt() {
        for (text, value) in [
            ("50", Value::Count(50)),
            ("25us", Value::Time(25_000)),
            ("2s", Value::Time(2_000_000_000)),
            ("1600us", Value::Time(1_600_000)),
            ("big", Value::Name("big".into())),
            ("none-several", Value::Name("none-several".into())),
            ("us", Value::Name("us".into())),
            ("99999999999999999999s", Value::Name("99999999999999999999s".into())),
        ] {
            assert_eq!(Value::parse(text), value);
            assert_eq!(Value::parse(&value.to_string()), value, "spelt and read again");
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
        }
        assert_eq!(Value::Time(1_500_000).to_string(), "1500us");
    }

    #[test]
    fn a_case_has_its_parameters() {
        let expected = [
            ("cpus".to_string(), Value::Count(2)),
            ("locking".to_string(), Value::Name("big".into())),
            ("think".to_string(), Value::Count(500)),
        ];
        assert_eq!(parameters("locking=big think=500 cpus=2"), expected.into());
        let bounded = parameters("call, bounded threads=250");
        assert_eq!(bounded, [("threads".to_string(), Value::Count(250))].into());
        assert!(parameters("idle").is_empty());
    }
}
