//! Packets in the making: one sequence, in which names are written once.

use super::schema::{
    Data, DebugAnnotation, INCREMENTAL_STATE_CLEARED, InternedData, InternedName,
    NEEDS_INCREMENTAL_STATE, PACKET, TracePacket, TrackDescriptor, TrackEvent, Type, Value,
};
use std::collections::HashMap;

/// The only sequence of packets.
const SEQUENCE: u32 = 1;

/// An event that is about to be written.
pub(super) struct Draft {
    event: TrackEvent,
    name: Option<String>,
    arguments: Vec<(&'static str, Value)>,
}

impl Draft {
    fn new(kind: Type, track: u64, name: Option<String>) -> Draft {
        let event = TrackEvent {
            r#type: Some(kind as i32),
            track_uuid: Some(track),
            ..TrackEvent::default()
        };
        Draft { event, name, arguments: Vec::new() }
    }

    /// A slice begins.
    pub(super) fn begin(track: u64, name: impl Into<String>) -> Draft {
        Draft::new(Type::SliceBegin, track, Some(name.into()))
    }

    /// The last slice of a track that began ends.
    pub(super) fn end(track: u64) -> Draft {
        Draft::new(Type::SliceEnd, track, None)
    }

    /// Something happens at one instant.
    pub(super) fn instant(track: u64, name: impl Into<String>) -> Draft {
        Draft::new(Type::Instant, track, Some(name.into()))
    }

    /// A counter has a new value.
    pub(super) fn counter(track: u64, value: i64) -> Draft {
        let mut draft = Draft::new(Type::Counter, track, None);
        draft.event.counter_value = Some(value);
        draft
    }

    /// With a number as an argument.
    pub(super) fn number(mut self, name: &'static str, value: impl Into<i64>) -> Draft {
        self.arguments.push((name, Value::Int(value.into())));
        self
    }

    /// With a text as an argument.
    pub(super) fn text(mut self, name: &'static str, value: impl Into<String>) -> Draft {
        self.arguments.push((name, Value::Text(value.into())));
        self
    }

    /// A flow begins here.
    pub(super) fn flows_out(mut self, flow: u64) -> Draft {
        self.event.flow_ids.push(flow);
        self
    }

    /// Flows end here.
    pub(super) fn flows_in(mut self, flows: impl IntoIterator<Item = u64>) -> Draft {
        self.event.terminating_flow_ids.extend(flows);
        self
    }
}

/// Names that have been written.
#[derive(Default)]
struct Interned {
    numbers: HashMap<String, u64>,
}

impl Interned {
    /// A name's number; a new name also goes into `fresh`.
    fn number(&mut self, name: &str, fresh: &mut Vec<InternedName>) -> u64 {
        if let Some(&iid) = self.numbers.get(name) {
            return iid;
        }
        let iid = self.numbers.len() as u64 + 1;
        self.numbers.insert(name.to_string(), iid);
        fresh.push(InternedName { iid: Some(iid), name: Some(name.to_string()) });
        iid
    }
}

/// A file in the making.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    names: Interned,
    arguments: Interned,
}

impl Writer {
    /// Introduces a track.
    pub(super) fn track(&mut self, track: TrackDescriptor) {
        self.packet(None, Data::TrackDescriptor(track), InternedData::default());
    }

    /// Writes an event at a time in ns.
    pub(super) fn event(&mut self, ns: u64, draft: Draft) {
        let Draft { mut event, name, arguments } = draft;
        let mut fresh = InternedData::default();
        event.name_iid = name.map(|name| self.names.number(&name, &mut fresh.event_names));
        for (name, value) in arguments {
            let iid = self.arguments.number(name, &mut fresh.debug_annotation_names);
            let annotation = DebugAnnotation { name_iid: Some(iid), value: Some(value) };
            event.debug_annotations.push(annotation);
        }
        self.packet(Some(ns), Data::TrackEvent(event), fresh);
    }

    fn packet(&mut self, timestamp: Option<u64>, data: Data, fresh: InternedData) {
        let first = self.bytes.is_empty();
        let cleared = if first { INCREMENTAL_STATE_CLEARED } else { 0 };
        let packet = TracePacket {
            timestamp,
            trusted_packet_sequence_id: Some(SEQUENCE),
            interned_data: (fresh != InternedData::default()).then_some(fresh),
            sequence_flags: Some(cleared | NEEDS_INCREMENTAL_STATE),
            data: Some(data),
        };
        // The file is a message that only repeats this field, so packets are written as they come.
        prost::encoding::message::encode(PACKET, &packet, &mut self.bytes);
    }

    /// The bytes of the file.
    pub(super) fn bytes(self) -> Vec<u8> {
        self.bytes
    }
}
