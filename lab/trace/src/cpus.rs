//! What each CPU did with its time (S1-15), and the interrupts between them.

use crate::overheads::table;
use crate::sections::pairs;
use crate::{Sections, Traces};
use abi::trace::{Event, entry};
use serde::Serialize;

/// One CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CpuUse {
    /// Its number.
    pub cpu: u8,
    /// Nanoseconds from the end of boot to the last record of all CPUs.
    #[serde(rename = "span_ns")]
    pub span: u64,
    /// Of these, in which it idled.
    #[serde(rename = "idle_ns")]
    pub idle: u64,
    /// Of these, which it was inside the kernel.
    #[serde(rename = "kernel_ns")]
    pub kernel: u64,
    /// Its entries into the kernel.
    pub entries: u64,
    /// IPIs that it sent.
    #[serde(rename = "ipis_sent")]
    pub sent: u64,
    /// IPIs that it took.
    #[serde(rename = "ipis_taken")]
    pub taken: u64,
    /// Its events that were not kept.
    pub lost: u64,
}

/// What the CPUs of a run did.
pub fn cpus(traces: &Traces) -> Vec<CpuUse> {
    let from = traces.all.begun().unwrap_or_default();
    let to = traces.all.moments.last().map_or(from, |moment| moment.ns);
    let of = |trace: &crate::Trace| {
        let count = |wanted: &dyn Fn(&crate::Moment) -> bool| {
            trace.moments.iter().filter(|moment| wanted(moment)).count() as u64
        };
        let sections = Sections::of(trace).whole;
        let inside = sections.iter().map(|s| trace.moments[s.last].ns - trace.moments[s.first].ns);
        CpuUse {
            cpu: trace.cpu,
            span: to - from,
            idle: idle(trace, to),
            kernel: inside.sum(),
            entries: sections.len() as u64,
            sent: count(&|moment| moment.event == Event::Ipi),
            taken: count(&|m| m.event == Event::Enter && m.argument == entry::IPI),
            lost: trace.lost(),
        }
    };
    traces.each.iter().map(of).collect()
}

/// From each exit to the idle thread to the next entry; the last may have none.
fn idle(trace: &crate::Trace, end: u64) -> u64 {
    let idles = |at: usize| trace.moments[at].thread == u16::from(trace.cpu);
    let ns = |at: usize| trace.moments[at].ns;
    let stretches = pairs(trace, Event::Exit, Event::Enter).filter(|(exit, _)| idles(*exit));
    let idle: u64 = stretches.map(|(exit, enter)| ns(enter) - ns(exit)).sum();
    let crosses = |moment: &crate::Moment| matches!(moment.event, Event::Exit | Event::Enter);
    let last = trace.moments.iter().rposition(crosses);
    let last = last.filter(|at| trace.moments[*at].event == Event::Exit && idles(*at));
    // What a full trace lacks is not known to be idle.
    let last = last.filter(|_| trace.lost() == 0);
    idle + last.map_or(0, |exit| end.saturating_sub(ns(exit)))
}

/// The CPUs as a table for a terminal of this width.
pub fn cpus_table(uses: &[CpuUse], width: usize) -> String {
    let header = ["CPU", "idle", "kernel", "entries", "IPIs sent", "IPIs taken", "lost"];
    let percent = |part: u64, whole: u64| format!("{:.1} %", part as f64 * 100.0 / whole as f64);
    let rows = uses.iter().map(|one| {
        vec![
            one.cpu.to_string(),
            percent(one.idle, one.span.max(1)),
            percent(one.kernel, one.span.max(1)),
            one.entries.to_string(),
            one.sent.to_string(),
            one.taken.to_string(),
            one.lost.to_string(),
        ]
    });
    table(&header, rows, width)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Maker;

    #[test]
    fn idle_time_is_from_exit_to_entry() {
        let mut m = Maker::new();
        m.thread(1, 1, 100).pass(70);
        m.enter(1, 1).pass(90).note(Event::Ipi, 1, 2, 0).exit(0).pass(500);
        m.enter(0, entry::IPI).pass(40).exit(1).pass(200);
        m.enter(1, 1).exit(0).pass(300).note(Event::Mark, 0, 0, 0);
        let traces = Traces::decode(&m.bytes(abi::trace::Keep::First, 32)).unwrap();
        let [cpu] = cpus(&traces)[..] else { panic!("one CPU") };
        assert_eq!((cpu.idle, cpu.span), (510 + 310, 1200));
        assert_eq!((cpu.entries, cpu.sent, cpu.taken, cpu.lost), (3, 1, 1, 0));
        assert_eq!(cpu.kernel, 110 + 50 + 10);
        assert!(cpus_table(&[cpu], 80).contains("68.3 %"), "{}", cpus_table(&[cpu], 80));
    }
}
