//! A reader of protobuf files that shares nothing with the writer: the wire format by hand, and
//! the public schema as a table. What the schema does not have fails.
//!
//! The table is taken from `protos/perfetto/trace/perfetto_trace.proto` of Perfetto.

/// How a field is encoded and what it holds.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Varint,
    Fixed64,
    Text,
    Message(&'static str),
}

use Kind::{Fixed64, Message as Of, Text, Varint};

/// Message, number, name and kind of each field.
const SCHEMA: &[(&str, u64, &str, Kind)] = &[
    ("Trace", 1, "packet", Of("TracePacket")),
    ("TracePacket", 8, "timestamp", Varint),
    ("TracePacket", 10, "trusted_packet_sequence_id", Varint),
    ("TracePacket", 11, "track_event", Of("TrackEvent")),
    ("TracePacket", 12, "interned_data", Of("InternedData")),
    ("TracePacket", 13, "sequence_flags", Varint),
    ("TracePacket", 58, "timestamp_clock_id", Varint),
    ("TracePacket", 60, "track_descriptor", Of("TrackDescriptor")),
    ("InternedData", 1, "event_categories", Of("EventCategory")),
    ("InternedData", 2, "event_names", Of("EventName")),
    ("InternedData", 3, "debug_annotation_names", Of("DebugAnnotationName")),
    ("EventName", 1, "iid", Varint),
    ("EventName", 2, "name", Text),
    ("DebugAnnotationName", 1, "iid", Varint),
    ("DebugAnnotationName", 2, "name", Text),
    ("TrackEvent", 4, "debug_annotations", Of("DebugAnnotation")),
    ("TrackEvent", 9, "type", Varint),
    ("TrackEvent", 10, "name_iid", Varint),
    ("TrackEvent", 11, "track_uuid", Varint),
    ("TrackEvent", 22, "categories", Text),
    ("TrackEvent", 23, "name", Text),
    ("TrackEvent", 30, "counter_value", Varint),
    ("TrackEvent", 47, "flow_ids", Fixed64),
    ("TrackEvent", 48, "terminating_flow_ids", Fixed64),
    ("DebugAnnotation", 1, "name_iid", Varint),
    ("DebugAnnotation", 3, "uint_value", Varint),
    ("DebugAnnotation", 4, "int_value", Varint),
    ("DebugAnnotation", 6, "string_value", Text),
    ("DebugAnnotation", 10, "name", Text),
    ("TrackDescriptor", 1, "uuid", Varint),
    ("TrackDescriptor", 2, "name", Text),
    ("TrackDescriptor", 3, "process", Of("ProcessDescriptor")),
    ("TrackDescriptor", 4, "thread", Of("ThreadDescriptor")),
    ("TrackDescriptor", 5, "parent_uuid", Varint),
    ("TrackDescriptor", 8, "counter", Of("CounterDescriptor")),
    ("ProcessDescriptor", 1, "pid", Varint),
    ("ProcessDescriptor", 6, "process_name", Text),
    ("ThreadDescriptor", 1, "pid", Varint),
    ("ThreadDescriptor", 2, "tid", Varint),
    ("ThreadDescriptor", 5, "thread_name", Text),
    ("CounterDescriptor", 1, "type", Varint),
    ("CounterDescriptor", 3, "unit", Varint),
    ("CounterDescriptor", 6, "unit_name", Text),
];

/// The value of a field.
#[derive(Debug)]
pub(super) enum Value {
    Number(u64),
    Text(String),
    Message(Message),
}

impl Value {
    pub(super) fn message(&self) -> &Message {
        match self {
            Value::Message(message) => message,
            other => panic!("{other:?} is no message"),
        }
    }

    pub(super) fn number(&self) -> u64 {
        match self {
            Value::Number(number) => *number,
            other => panic!("{other:?} is no number"),
        }
    }
}

/// A message: names and values of its fields in their order.
#[derive(Debug)]
pub(super) struct Message(Vec<(&'static str, Value)>);

impl Message {
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter(move |(field, _)| *field == name).map(|(_, value)| value)
    }

    pub(super) fn one<'a>(&'a self, name: &'a str) -> Option<&'a Value> {
        let mut all = self.all(name);
        let one = all.next();
        assert!(all.next().is_none(), "{name} occurs twice");
        one
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.one(name).map(Value::number)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.one(name).map(|value| match value {
            Value::Text(text) => text.clone(),
            other => panic!("{other:?} is no text"),
        })
    }
}

/// Reads a message of a kind.
pub(super) fn read(kind: &str, bytes: &[u8]) -> Message {
    let (mut at, mut fields) = (0, Vec::new());
    while at < bytes.len() {
        let key = varint(bytes, &mut at);
        let found = SCHEMA.iter().find(|(of, number, ..)| *of == kind && *number == key >> 3);
        let Some(&(_, _, name, field)) = found else {
            panic!("{kind} has no field {}", key >> 3);
        };
        let value = match (key & 7, field) {
            (0, Varint) => Value::Number(varint(bytes, &mut at)),
            (1, Fixed64) => {
                let (number, _) = bytes[at..].split_first_chunk().expect("eight bytes");
                at += 8;
                Value::Number(u64::from_le_bytes(*number))
            }
            (2, Text | Of(_)) => {
                let length = varint(bytes, &mut at) as usize;
                let inner = &bytes[at..at + length];
                at += length;
                match field {
                    Of(kind) => Value::Message(read(kind, inner)),
                    _ => Value::Text(String::from_utf8(inner.to_vec()).expect("UTF-8")),
                }
            }
            (wire, _) => panic!("{kind}.{name} has wire type {wire}"),
        };
        fields.push((name, value));
    }
    Message(fields)
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}
