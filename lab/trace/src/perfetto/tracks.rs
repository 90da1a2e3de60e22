//! Tracks: a process per domain, a thread per life, the CPU and its counters.

use super::schema::{CounterDescriptor, ProcessDescriptor, ThreadDescriptor, TrackDescriptor};
use super::writer::Writer;
use crate::lives::{Life, Lives};
use crate::{Names, Trace};
use abi::trace::Event;
use std::collections::BTreeSet;

/// Track numbers of one kind are apart from those of others.
const KIND: u64 = 1 << 32;
/// Thread numbers stay clear of process numbers: a thread with its process's is the main thread.
const FIRST_TID: usize = 100_000;

/// The track of a domain.
fn domain(index: usize) -> u64 {
    KIND + index as u64
}

/// The track of a thread's life.
pub(super) fn life(index: usize) -> u64 {
    2 * KIND + index as u64
}

/// The track of a CPU.
pub(super) fn cpu(index: u8) -> u64 {
    3 * KIND + u64::from(index)
}

/// The length of a CPU's ready queue.
pub(super) fn ready(cpu: u8) -> u64 {
    4 * KIND + u64::from(cpu)
}

/// The length of an endpoint's queue of senders.
pub(super) fn senders(endpoint: u32) -> u64 {
    5 * KIND + u64::from(endpoint)
}

/// The records that are lost.
pub(super) fn lost(cpu: u8) -> u64 {
    6 * KIND + u64::from(cpu)
}

/// Introduces all tracks.
pub(super) fn introduce(writer: &mut Writer, trace: &Trace, names: &Names, lives: &Lives) {
    let domains = Domains::of(lives, names);
    for (index, name) in domains.0.iter().enumerate() {
        let process = ProcessDescriptor { pid: Some(pid(index)), process_name: Some(name.clone()) };
        let uuid = Some(domain(index));
        writer.track(TrackDescriptor { uuid, process: Some(process), ..Default::default() });
    }
    for (index, thread) in lives.all.iter().enumerate() {
        let of = domains.place(lives, names, thread);
        let described = ThreadDescriptor {
            pid: Some(pid(of)),
            tid: i32::try_from(FIRST_TID + index).ok(),
            thread_name: Some(names.life(lives, index)),
        };
        writer.track(TrackDescriptor {
            uuid: Some(life(index)),
            parent_uuid: Some(domain(of)),
            thread: Some(described),
            ..Default::default()
        });
    }
    let named = |uuid, name: String, counter: Option<&str>| TrackDescriptor {
        uuid: Some(uuid),
        name: Some(name),
        parent_uuid: Some(domain(0)),
        counter: counter.map(|unit| CounterDescriptor { unit_name: Some(unit.to_string()) }),
        ..Default::default()
    };
    for number in trace.held() {
        writer.track(named(cpu(number), format!("CPU {number}"), None));
        writer.track(named(ready(number), format!("CPU {number} ready queue"), Some("threads")));
    }
    let number = trace.cpu;
    let title = if trace.held().len() > 1 {
        "lost records".to_string()
    } else {
        format!("CPU {number} lost records")
    };
    writer.track(named(lost(number), title, Some("records")));
    let queues = trace.moments.iter().filter(|moment| moment.event == Event::Queue);
    for endpoint in queues.map(|moment| moment.argument).collect::<BTreeSet<u32>>() {
        let name = format!("endpoint {} senders", names.endpoint(endpoint));
        writer.track(named(senders(endpoint), name, Some("threads")));
    }
}

/// The names of all domains; the kernel's own comes first, since it holds the CPU. Those that share
/// a name, such as a program and its successor, are one.
struct Domains(Vec<String>);

impl Domains {
    fn of(lives: &Lives, names: &Names) -> Domains {
        let mut all = vec![names.domain(0)];
        for name in lives.all.iter().map(|life| name_of(lives, names, life)) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        Domains(all)
    }

    fn place(&self, lives: &Lives, names: &Names, life: &Life) -> usize {
        let name = name_of(lives, names, life);
        self.0.iter().position(|other| *other == name).unwrap_or(0)
    }
}

/// The name of a thread's domain. Idle threads are the kernel's own, though no record introduces
/// them.
fn name_of(lives: &Lives, names: &Names, life: &Life) -> String {
    match life.domain {
        Some(domain) => names.domain_of(lives, life).unwrap_or_else(|| names.domain(domain)),
        None if lives.idles(life.thread).is_some() => names.domain(0),
        None => "unknown".to_string(),
    }
}

/// Process numbers begin at 1.
fn pid(domain: usize) -> i32 {
    i32::try_from(domain).map_or(i32::MAX, |domain| domain + 1)
}
