//! One round in lines: bars of CPU time, of budgets, and of late jobs.

use super::super::{ps, words};
use crate::live::{Domain, Picture, Reservation, Thread};

/// Characters of a bar of CPU time, of which all are one CPU.
const CPU: usize = 16;
/// Characters of the other bars.
const SHORT: usize = 8;

/// What a reservation had in a round.
pub struct Had {
    /// CPU time in nanoseconds.
    pub service: u64,
    /// How often its budget was exhausted.
    pub overruns: u64,
    /// Jobs that ended.
    pub jobs: u64,
    /// Of these, how many were late.
    pub missed: u64,
}

impl Had {
    /// Since an earlier picture; since boot, if it is not in that.
    pub fn of(one: &Reservation, before: &Picture) -> Had {
        let then = before.reservations.iter().find(|it| it.node == one.node);
        let since = |now: u64, then: Option<u64>| now.saturating_sub(then.unwrap_or(0));
        Had {
            service: since(one.service, then.map(|then| then.service)),
            overruns: since(one.overruns, then.map(|then| then.overruns)),
            jobs: since(one.jobs, then.map(|then| then.jobs)),
            missed: since(one.missed, then.map(|then| then.missed)),
        }
    }
}

/// The threads with their domains, and what each has had of the CPU if that is counted.
pub fn threads<'a>(
    before: &Picture,
    now: &'a Picture,
) -> Vec<(&'a Domain, &'a Thread, Option<u64>)> {
    let old = |index: u64| {
        let mut threads = before.domains.iter().flat_map(|domain| &domain.threads);
        threads.find(|thread| thread.index == index).and_then(|thread| thread.time)
    };
    let all = now.domains.iter().flat_map(|domain| {
        domain.threads.iter().map(move |thread| {
            let had = thread.time.map(|now| now.saturating_sub(old(thread.index).unwrap_or(0)));
            (domain, thread, had)
        })
    });
    all.collect()
}

/// The lines: of reservations, or where there are none of threads.
pub fn rows(before: &Picture, now: &Picture) -> Vec<String> {
    let span = now.now.saturating_sub(before.now);
    if now.reservations.is_empty() {
        return of_threads(before, now, span);
    }
    let mut lines = vec![format!(
        "{:<20} {:>5} {:<18} {:>9} {:<10} {}",
        "reservation", "CPU %", "of one CPU", "limit", "of it", "late/jobs"
    )];
    lines.extend(now.reservations.iter().map(|one| {
        let had = Had::of(one, before);
        let limit = one.limit.filter(|limit| limit.budget < limit.period);
        let allowed = limit.map(|limit| scaled(span, limit.budget, limit.period));
        let used = allowed.map_or(String::new(), |allowed| bar(had.service, allowed, SHORT));
        let limit = one.limit.map_or(String::new(), |_| words::limit(one));
        let late = match one.timing {
            Some(_) => {
                let bar = bar(had.missed, had.jobs, SHORT);
                format!("{}/{} {bar}", had.missed, had.jobs)
            }
            None => String::new(),
        };
        let name: String = ps::name(one).chars().take(20).collect();
        let percent = words::percent(had.service, span);
        let cpu = bar(had.service, span, CPU);
        format!("{name:<20} {percent:>5.1} {cpu:<18} {limit:>9} {used:<10} {late}")
    }));
    lines.into_iter().map(|line| line.trim_end().to_string()).collect()
}

fn of_threads(before: &Picture, now: &Picture, span: u64) -> Vec<String> {
    let threads = threads(before, now);
    let mut lines = vec![format!(
        "{:<20} {:<16} {:<10} {:>4} {:>5}",
        "domain", "thread", "state", "prio", "CPU %"
    )];
    let is_counted = threads.iter().any(|(.., had)| had.is_some());
    lines.extend(threads.into_iter().map(|(domain, thread, had)| {
        let (name, called) = (&domain.name, thread.called());
        let Thread { state, priority, .. } = thread;
        let cpu = had.map_or("-".to_string(), |had| {
            format!("{:>5.1} {}", words::percent(had, span), bar(had, span, CPU))
        });
        format!("{name:<20} {called:<16} {state:<10} {priority:>4} {cpu:>5}")
    }));
    if !is_counted {
        lines.push("\nCPU time of threads: run the system with --control --statistics".to_string());
    }
    lines
}

/// A part of a time.
fn scaled(time: u64, part: u64, whole: u64) -> u64 {
    (u128::from(time) * u128::from(part) / u128::from(whole.max(1))) as u64
}

/// A bar in brackets; anything above zero shows, and more than all is all.
fn bar(part: u64, whole: u64, length: usize) -> String {
    let exact = u128::from(part) * length as u128;
    let filled = (exact + u128::from(whole) / 2).checked_div(u128::from(whole)).unwrap_or(0);
    let filled = (filled as usize).clamp(usize::from(part > 0), length);
    format!("[{}{}]", "#".repeat(filled), " ".repeat(length - filled))
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_show_what_there_is_and_never_overflow() {
        assert_eq!(bar(0, 100, 4), "[    ]");
        assert_eq!(bar(1, 100, 4), "[#   ]");
        assert_eq!(bar(50, 100, 4), "[##  ]");
        assert_eq!(bar(u64::MAX, 100, 4), "[####]");
        assert_eq!(bar(0, 0, 4), "[    ]");
        assert_eq!(bar(5, 0, 4), "[#   ]");
    }
}
