//! A trace as a file of Perfetto's track events, which ui.perfetto.dev opens.
//!
//! Each domain is a process, each thread a track with a slice per [state](crate::State), the CPU a
//! track with a slice per kernel section. A message is a flow from an instant on the sender's
//! track to the receiver's next running slice, a donation likewise.

mod events;
mod queues;
mod schema;
mod tracks;
mod writer;

use crate::{Lives, Names, Sections, Trace};
use abi::trace::Keep;
use writer::{Draft, Writer};

/// The bytes of the file.
pub fn perfetto(trace: &Trace, names: &Names) -> Vec<u8> {
    let (lives, sections) = (Lives::of(trace, names), Sections::of(trace));
    let mut writer = Writer::default();
    tracks::introduce(&mut writer, trace, names, &lives);
    lost(&mut writer, trace, Keep::Last);
    events::write(&mut writer, trace, names, &lives, &sections);
    lost(&mut writer, trace, Keep::First);
    writer.bytes()
}

/// At the end at which records are lost: how many; at the other end the counter alone.
fn lost(writer: &mut Writer, trace: &Trace, end: Keep) {
    let (first, last) = trace.span().unwrap_or_default();
    let ns = if end == Keep::Last { first } else { last };
    let count = i64::try_from(trace.lost()).unwrap_or(i64::MAX);
    let here = trace.keep == end;
    let before = trace.keep == Keep::First && end == Keep::Last;
    let counter = tracks::lost(trace.cpu);
    writer.event(ns, Draft::counter(counter, if before { 0 } else { count }));
    if here && count > 0 {
        let name = format!("{count} records lost");
        writer.event(ns, Draft::instant(tracks::cpu(trace.cpu), name).number("lost", count));
    }
}

#[cfg(test)]
mod tests;
