//! The lengths of queues as counters.
//!
//! A record says how long a queue is after a thread has joined it. Of the ready queue, records
//! also say when one leaves and how many a look-up drops. Of queues of senders they do not: a
//! sender is taken to leave when its message goes or when it becomes ready.

use super::tracks;
use super::writer::{Draft, Writer};
use crate::Moment;
use abi::trace::Event;
use std::collections::HashMap;

/// The queues of all CPUs.
#[derive(Default)]
pub(super) struct Queues {
    /// By CPU.
    ready: HashMap<u8, i64>,
    /// By endpoint.
    senders: HashMap<u32, i64>,
    /// By thread, the endpoint at which it waits.
    waits: HashMap<u16, u32>,
}

impl Queues {
    /// Writes what a moment changes.
    pub(super) fn follow(&mut self, writer: &mut Writer, moment: &Moment) {
        let length = i64::from(moment.extra);
        match moment.event {
            Event::Insert | Event::Remove => {
                self.ready(writer, moment, moment.argument as u8, length);
            }
            Event::LookUp if moment.argument > 0 => {
                let ready = self.ready.get(&moment.cpu).copied().unwrap_or_default();
                let length = (ready - i64::from(moment.argument)).max(0);
                self.ready(writer, moment, moment.cpu, length);
            }
            Event::Queue => {
                self.waits.insert(moment.thread, moment.argument);
                self.senders(writer, moment, moment.argument, length);
            }
            Event::Message | Event::Wake => {
                if let Some(endpoint) = self.waits.remove(&moment.thread) {
                    let length = self.senders.get(&endpoint).copied().unwrap_or_default();
                    self.senders(writer, moment, endpoint, (length - 1).max(0));
                }
            }
            _ => {}
        }
    }

    fn ready(&mut self, writer: &mut Writer, moment: &Moment, cpu: u8, length: i64) {
        self.ready.insert(cpu, length);
        writer.event(moment.ns, Draft::counter(tracks::ready(cpu), length));
    }

    fn senders(&mut self, writer: &mut Writer, moment: &Moment, endpoint: u32, length: i64) {
        self.senders.insert(endpoint, length);
        writer.event(moment.ns, Draft::counter(tracks::senders(endpoint), length));
    }
}
