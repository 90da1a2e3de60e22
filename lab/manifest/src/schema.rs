//! What a manifest may say: tables, keys and their types. Numbers and words know their place in
//! the text; what they mean is checked by [`resolve`](crate::resolve).

use std::fmt;
use std::marker::PhantomData;

use indexmap::IndexMap;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use toml::{Spanned, Value};

/// A text.
pub type Word = Spanned<String>;
/// A whole number.
pub type Number = Spanned<i128>;

/// A whole manifest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Manifest {
    pub system: Spanned<General>,
    #[serde(default)]
    pub pools: IndexMap<Word, Number>,
    pub trace: Option<Trace>,
    #[serde(default)]
    pub endpoint: Vec<Endpoint>,
    #[serde(default)]
    pub notification: Vec<Notification>,
    #[serde(default)]
    pub interrupt: Vec<Interrupt>,
    #[serde(default)]
    pub timer: Vec<Timer>,
    #[serde(default)]
    pub memory: Vec<Memory>,
    #[serde(default)]
    pub device: Vec<Device>,
    pub plant: Option<Plant>,
    #[serde(default)]
    pub mutex: Vec<Mutex>,
    pub supervisor: Option<Supervisor>,
    pub control: Option<Control>,
    #[serde(default)]
    pub reservation: Vec<Spanned<Reservation>>,
    #[serde(default)]
    pub domain: Vec<Spanned<Domain>>,
    pub analysis: Option<Analysis>,
}

/// `[system]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct General {
    pub name: Word,
    pub about: Option<Spanned<Value>>,
    pub kernel: Option<Word>,
    pub memory: Option<Word>,
    pub tick: Option<Word>,
    pub timeslice: Option<Word>,
    pub cpus: Option<Number>,
    pub shared_priority: Option<Number>,
    pub default_classes: Option<Spanned<bool>>,
    pub locking: Option<Word>,
    pub lazy_dequeues: Option<Number>,
    pub preempt_chains: Option<bool>,
    pub inheritance: Option<Word>,
    pub max_latency: Option<Word>,
}

/// `[trace]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Trace {
    pub memory: Word,
    pub keep: Option<Word>,
}

/// `[[endpoint]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Endpoint {
    pub name: Word,
    pub notification: Option<Word>,
    #[serde(default)]
    pub serves: bool,
}

/// `[[notification]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Notification {
    pub name: Word,
}

/// `[[interrupt]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Interrupt {
    pub name: Word,
    pub irq: Option<Number>,
    pub device: Option<Word>,
    pub notification: Word,
    pub badge: Option<Number>,
    pub cpu: Option<Number>,
}

/// `[[timer]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Timer {
    pub name: Word,
    pub notification: Word,
    pub badge: Option<Number>,
}

/// `[[memory]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Memory {
    pub name: Word,
    pub size: Option<Word>,
    #[serde(default)]
    pub host: bool,
    pub files: Option<Spanned<Value>>,
    pub at: Option<Number>,
    pub cache: Option<Word>,
    pub port: Option<Number>,
    pub ports: Option<Number>,
}

/// `[[device]]`: what a program controls something by.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Device {
    pub name: Word,
    pub kind: Word,
    pub wire: Option<Word>,
    #[serde(default)]
    pub wires: Vec<Word>,
    #[serde(default)]
    pub parameters: IndexMap<Word, Spanned<Value>>,
    pub disk: Option<Disk>,
    pub forward: Option<Spanned<Vec<Number>>>,
}

/// What is on the disk of a block device.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Disk {
    pub size: Option<Word>,
    pub files: Option<Spanned<Value>>,
}

/// `[plant]`: what is controlled.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Plant {
    pub model: Spanned<Value>,
    #[serde(default)]
    pub parameters: IndexMap<Word, Spanned<Value>>,
}

/// `[[mutex]]`, for the analysis.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Mutex {
    pub name: Word,
    pub protocol: Option<Word>,
    pub ceiling: Option<Number>,
}

/// `[supervisor]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Supervisor {
    pub priority: Option<Number>,
    pub log_priority: Option<Number>,
    pub budget: Option<Word>,
    pub period: Option<Word>,
}

/// `[control]`: how the program runs that `run --control` adds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Control {
    pub priority: Option<Number>,
    pub poll: Option<Word>,
    pub budget: Option<Word>,
    pub period: Option<Word>,
}

/// `[analysis]`: what the kernel costs, and what is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Analysis {
    pub release: Option<Word>,
    pub context_switch: Option<Word>,
    pub timer_interrupt: Option<Word>,
    pub required: Option<bool>,
}

/// `[[reservation]]`, or the table of a domain's own one.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Reservation {
    pub name: Option<Word>,
    pub policy: Option<Word>,
    #[serde(rename = "in")]
    pub class: Option<Word>,
    pub cpu: Option<Number>,
    pub priority: Option<Number>,
    pub budget: Option<Word>,
    pub period: Option<Word>,
    pub server: Option<Word>,
    pub curve: Option<Spanned<WordOr<Bent>>>,
    pub share: Option<Spanned<WordOr<Bent>>>,
    pub major_frame: Option<Word>,
    pub windows: Option<Spanned<Vec<Spanned<Window>>>>,
    pub background: Option<Spanned<bool>>,
    pub deadline: Option<Word>,
    pub execution: Option<Word>,
    pub overrun: Option<Word>,
    pub miss: Option<Word>,
    pub monitor: Option<Spanned<WordOr<Monitor>>>,
    pub adaptive: Option<Spanned<Adaptive>>,
}

/// How a reservation's budget follows demand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Adaptive {
    pub importance: Number,
    pub every: Option<Number>,
    pub history: Option<Number>,
    pub least: Option<Word>,
}

/// What is signalled when a reservation misses a deadline or uses up its budget.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Monitor {
    pub notification: Word,
    pub missed: Option<Number>,
    pub overran: Option<Number>,
}

/// A service curve of two pieces.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Bent {
    pub m1: Word,
    pub d: Word,
    pub m2: Word,
}

/// An entry of `windows`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Window {
    pub offset: Word,
    pub duration: Word,
}

/// A text, or a table.
pub enum WordOr<T> {
    Word(String),
    Table(Box<T>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for WordOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WordOr<T>, D::Error> {
        struct Either<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = WordOr<T>;

            fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
                out.write_str("a text in double quotes or a table")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<WordOr<T>, E> {
                Ok(WordOr::Word(word.to_string()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WordOr<T>, A::Error> {
                let table = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(WordOr::Table(Box::new(table)))
            }
        }

        deserializer.deserialize_any(Either(PhantomData))
    }
}

/// `[[domain]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Domain {
    pub name: Word,
    pub program: Spanned<Value>,
    pub priority: Number,
    pub max_priority: Option<Number>,
    pub slots: Option<Number>,
    pub stack: Option<Word>,
    pub heap: Option<Word>,
    pub log: Option<Word>,
    pub threads: Option<Number>,
    pub cpu: Option<Number>,
    pub cpus: Option<Spanned<Vec<Number>>>,
    pub reservation: Option<Spanned<WordOr<Reservation>>>,
    pub execution: Option<Word>,
    pub period: Option<Word>,
    pub deadline: Option<Word>,
    #[serde(default)]
    pub sections: Vec<Spanned<Section>>,
    #[serde(default)]
    pub task: Vec<Spanned<Task>>,
    #[serde(default)]
    pub quota: IndexMap<Word, Number>,
    #[serde(default)]
    pub args: IndexMap<Word, Spanned<Value>>,
    pub fault_handler: Option<Word>,
    pub fault_badge: Option<Number>,
    #[serde(default)]
    pub may_fault: bool,
    pub restart: Option<Word>,
    pub at_most: Option<Number>,
    pub within: Option<Word>,
    #[serde(default)]
    pub depends: Vec<Word>,
    pub heartbeat: Option<Word>,
    pub told: Option<Spanned<Told>>,
    #[serde(default)]
    pub maps: Vec<Map>,
    #[serde(default)]
    pub caps: Vec<Spanned<Capability>>,
}

/// `[[domain.task]]`: a thread of a domain, for the analysis.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Task {
    pub name: Word,
    pub priority: Number,
    pub execution: Word,
    pub period: Word,
    pub deadline: Option<Word>,
    pub reservation: Option<Word>,
    #[serde(default)]
    pub sections: Vec<Spanned<Section>>,
}

/// An entry of `sections`. It names what is shared in one way.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Section {
    pub mutex: Option<Word>,
    pub mutexes: Option<Spanned<Vec<Word>>>,
    pub endpoint: Option<Word>,
    pub length: Word,
}

/// What is signalled when a domain was restarted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Told {
    pub notification: Word,
    pub badge: Option<Number>,
}

/// An entry of `maps`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Map {
    pub memory: Word,
    pub rights: Word,
}

/// An entry of `caps`. It names one object.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct Capability {
    pub name: Word,
    pub rights: Option<Spanned<Vec<Word>>>,
    pub badge: Option<Number>,
    pub endpoint: Option<Word>,
    pub notification: Option<Word>,
    pub interrupt: Option<Word>,
    pub timer: Option<Word>,
    pub memory: Option<Word>,
    pub domain: Option<Word>,
    pub thread: Option<Word>,
    pub reservation: Option<Word>,
    pub console: Option<Spanned<bool>>,
    pub system: Option<Spanned<bool>>,
    pub supervisor: Option<Spanned<bool>>,
}
