//! Whether a job's budget has room for what the kernel takes of it.
//!
//! A leaf is charged for all that happens from the decision for it to the next one: the switch to
//! it, interrupts for any thread of its CPU, and the switch back behind each; and for each part of
//! its own budget that comes back, which the kernel serves on its account. And what a job has
//! used comes back a period behind the instant at which the kernel saw its release: for as long as
//! the next release may be seen earlier than that one was, its job has what was left over. Where it
//! shares, more of what was used comes back later ([`lent::outstanding`]).

use super::decided::{bound, name};
use super::lent;
use super::tree::{below_root, execution_within, shared_class};
use abi::boot::ALL_CPUS;
use abi::reservation::LEAST_PART;
use analysis::tree::{Class, LeafReport, Report, interrupts};
use analysis::{Overheads, Stream, Time, Verdict, time};
use manifest::{System, spell_duration};

/// A microsecond, in ns: the unit of budgets.
const UNIT: Time = 1_000;

/// Of leaves whose jobs were taken to find their budgets whole, those whose budget is too small for
/// that have no bound.
pub fn ask(system: &System, overheads: &Overheads, cpu: u32, report: &mut Report) {
    let all = timers(system, cpu);
    for leaf in &mut report.leaves {
        let Some((budget, jobs, needs)) = needs(system, overheads, &all, leaf) else { continue };
        if budget < needs {
            let most = execution_within(system, name(&leaf.path)).map(|(_, execution)| execution);
            let most = most.and_then(|most| most.checked_sub((needs - budget).div_ceil(jobs)));
            leaf.largest_execution = most.filter(|most| *most > 0);
            leaf.verdict = Verdict::Short { budget, needs };
            report.classes[0].fits = false;
        }
    }
}

/// The budget of a leaf, for how many jobs it has to be enough, and what these need of it, if they
/// end within a known time by it.
fn needs(
    system: &System,
    overheads: &Overheads,
    timers: &[Stream],
    leaf: &LeafReport,
) -> Option<(Time, Time, Time)> {
    let (budget, execution) = execution_within(system, name(&leaf.path))?;
    let (Some(response), _) = bound(leaf) else { return None };
    let outstanding = lent::outstanding(system, overheads, name(&leaf.path));
    let (jobs, more) = outstanding.unwrap_or((1, 0));
    let execution = execution.saturating_add(more);
    // A last part that small waits for the next one.
    let needs = |job: Time, rest: Time| jobs.saturating_mul(job).saturating_add(rest);
    if *overheads == Overheads::default() {
        let rest = if outstanding.is_some() { LEAST_PART } else { 0 };
        return Some((budget, jobs, needs(execution, rest)));
    }
    let released = |one: &Stream| {
        let jobs = response.saturating_add(one.jitter).div_ceil(one.period.max(1));
        jobs.saturating_mul(one.cost)
    };
    let during = timers.iter().map(released).fold(0, Time::saturating_add);
    // A release waits for those of all others, and for what the kernel is at.
    let late = timers.iter().map(|one| one.cost).fold(1, Time::saturating_add);
    let own = replenished(system, name(&leaf.path), response);
    let interrupts = during.saturating_add(late).saturating_add(own);
    let interrupts = interrupts.saturating_mul(overheads.per_interrupt());
    let job = execution.saturating_add(overheads.per_job()).saturating_add(interrupts);
    Some((budget, jobs, needs(job, LEAST_PART)))
}

/// How many parts of a leaf's budget come back between the ends of two of its jobs, the second of
/// which ends within this time: what a job has used comes back in as many parts as it runs in.
fn replenished(system: &System, leaf: &str, response: Time) -> Time {
    let node = system.reservations.iter().find(|node| node.name == leaf);
    let Some(limit) = node.and_then(|node| node.limit) else { return 0 };
    let parts = lent::times(system).get(leaf).map_or(1, |waits| waits.saturating_add(1));
    let periods = response.div_ceil(limit.period.max(1)).saturating_add(1);
    periods.saturating_mul(parts)
}

/// The timer interrupts of a CPU, or of all, each of cost 1.
fn timers(system: &System, cpu: u32) -> Vec<Stream> {
    let one = Overheads { timer_interrupt: 1, ..Overheads::default() };
    let mut streams = Vec::new();
    for own in (0..system.cpus).filter(|own| cpu == ALL_CPUS || *own == cpu) {
        interrupts(&Class::FixedPriority(below_root(system, own)), &one, &mut streams);
    }
    interrupts(&shared_class(system), &one, &mut streams);
    streams
}

/// The least budget that a manifest can give a task, if what it has is too small.
pub fn least_budget(verdict: &Verdict) -> Option<Time> {
    let Verdict::Short { needs, .. } = verdict else { return None };
    Some(needs.div_ceil(UNIT).saturating_mul(UNIT))
}

/// Why a task whose budget is too small has no bound, and which one would do.
pub fn reason(task: &str, verdict: &Verdict) -> String {
    let (Verdict::Short { budget, needs }, Some(least)) = (verdict, least_budget(verdict)) else {
        return String::new();
    };
    let ([budget, needs], least) = ([*budget, *needs].map(time), spell_duration(least));
    format!(
        "`{task}` has no bound: its jobs, with what the kernel takes and others execute for them \
         meanwhile, need a budget of {needs}, and have {budget}; for the rest one would wait a \
         period. Give it `budget = \"{least}\"` at least."
    )
}

#[cfg(test)]
mod tests {
    use crate::commands::check::decided::decide;
    use abi::reservation::LEAST_PART;
    use analysis::Overheads;
    use serde_json::Value;

    /// Two leaves, the first with this budget and execution time in microseconds: its verdict.
    fn with(class: &str, budget: u64, execution: Option<u64>, overheads: Overheads) -> Value {
        let leaf = |name: &str, period: u64, budget: u64, number: u64| {
            let place =
                if class == "edf" { String::new() } else { format!("priority = {number}\n") };
            format!(
                "[[reservation]]\nname = \"{name}\"\nin = \"class\"\nperiod = \"{period}us\"\n\
                 deadline = \"3ms\"\nbudget = \"{budget}us\"\n{place}"
            )
        };
        let execution = execution.map(|given| format!("execution = \"{given}us\"\n"));
        let text = format!(
            "[system]\nname = \"a\"\n[[reservation]]\nname = \"class\"\npolicy = \"{class}\"\n\
             priority = 300\n{}{}{}[[domain]]\nname = \"d\"\nprogram = \"busy\"\npriority = 1\n\
             reservation = \"one\"\n",
            leaf("one", 3_000, budget, 2),
            execution.unwrap_or_default(),
            leaf("two", 7_000, 900, 1)
        );
        let system = manifest::parse("a.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let document = decide(&system, overheads).expect("there are tasks").document();
        document["cpus"][0]["tasks"][0].clone()
    }

    const COSTS: Overheads =
        Overheads { release: 700, context_switch: 1_100, timer_interrupt: 2_000 };

    const DEAR: Overheads =
        Overheads { release: 7_000, context_switch: 11_000, timer_interrupt: 20_000 };

    /// The budget that is advised is enough, and one of a microsecond less is not; without costs it
    /// is the job's execution time.
    #[test]
    fn the_least_budget_is_named() {
        for class in ["edf", "fixed-priority"] {
            let given = |budget, overheads| with(class, budget, Some(500), overheads);
            let short = given(500, COSTS);
            assert!(short["bound_ns"].is_null() && short["fits"] == false, "{short}");
            let least = short["least_budget_ns"].as_u64().expect("a budget") / 1_000;
            assert!(least > 500, "{short}");
            assert_eq!(given(least, COSTS)["fits"], true, "{short}");
            assert_eq!(given(least - 1, COSTS)["fits"], false, "{short}");
            assert_eq!(given(500, Overheads::default())["fits"], true, "{class}");
        }
    }

    /// What the kernel does when the leaf's own budget comes back is paid from that budget: once
    /// for what the job before has used, and once for what this one has used so far.
    #[test]
    fn its_own_replenishments_are_counted() {
        let least = |cost: u64| {
            let text = "[system]\nname = \"a\"\n[[reservation]]\nname = \"class\"\n\
                 policy = \"edf\"\npriority = 300\n[[reservation]]\nname = \"one\"\n\
                 in = \"class\"\nperiod = \"3ms\"\ndeadline = \"3ms\"\nbudget = \"500us\"\n\
                 execution = \"500us\"\n[[domain]]\nname = \"d\"\nprogram = \"busy\"\n\
                 priority = 1\nreservation = \"one\"\n";
            let system = manifest::parse("a.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
            let overheads = Overheads { timer_interrupt: cost, ..Overheads::default() };
            let document = decide(&system, overheads).expect("there are tasks").document();
            document["cpus"][0]["tasks"][0]["least_budget_ns"].as_u64().expect("it is short")
        };
        // Its release during the job, one that is late, what the kernel is at, and two returns.
        assert_eq!(least(10_000), 500_000 + 5 * 10_000 + LEAST_PART);
    }

    /// A budget that the kernel uses up has room for no job, however short it is.
    #[test]
    fn a_budget_without_room_for_any_job_has_no_bound() {
        for class in ["edf", "fixed-priority"] {
            let some = |budget, overheads| with(class, budget, None, overheads);
            let short = some(30, DEAR);
            assert!(short["bound_ns"].is_null() && short["fits"] == false, "{short}");
            let least = short["least_budget_ns"].as_u64().expect("a budget") / 1_000;
            assert_eq!(some(least, DEAR)["fits"], true, "{short}");
            assert_eq!(some(30, Overheads::default())["fits"], true, "{class}");
        }
    }
}
