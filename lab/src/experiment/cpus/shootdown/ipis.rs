//! Which CPUs a call interrupts, as the trace tells.

use super::{BUSY, UNSEEN, name};
use crate::experiment::Setup;
use crate::experiment::measured::fact;
use crate::experiment::traced::traced;
use crate::systems::set;
use abi::call::Call;
use abi::trace::Event;
use anyhow::{Context, Result, ensure};
use results::Fact;
use trace::{Entry, Trace, Traces};

/// Bytes of the trace: more than the run fills.
const TRACE: u64 = 16 << 20;
/// Rounds of a case: to warm up, in which CPUs may have seen the domain in the case before, and
/// those that count.
const ROUNDS: [(&str, u64); 2] = [("warmup", WARM_UP as u64), ("rounds", 3)];
const WARM_UP: usize = 1;

/// A call's IPIs: how many, and how many of them to CPUs other than the first few.
type Ipis = (u64, u64);

/// A part of the program `cross` with so many rounds, traced on all CPUs.
pub fn traced_part(
    setup: &Setup,
    kernel: &str,
    part: &str,
    rounds: [(&str, u64); 2],
) -> Result<Traces> {
    let traced = traced(setup, "cross", kernel, TRACE, &mut |system| {
        system.cpus = setup.cpus();
        set(system, "part", part);
        rounds.iter().for_each(|(name, value)| set(system, name, &value.to_string()));
    })?;
    Ok(traced.traces)
}

/// How many CPUs taking a right away interrupts, by what they have seen.
pub fn facts(setup: &Setup, kernel: &str) -> Result<Vec<Fact>> {
    let traces = traced_part(setup, kernel, "shootdown", ROUNDS)?;
    let calls = calls(&traces.each[0]);
    let rounds = ROUNDS.iter().map(|(_, value)| *value as usize).sum();
    let cases = cases(setup.cpus());
    let wanted = cases.len() * rounds;
    ensure!(calls.len() == wanted, "{} calls are in the trace, not {wanted}", calls.len());
    let mut facts = Vec::new();
    for ((case, seen), calls) in cases.into_iter().zip(calls.chunks(rounds)) {
        let case = name("protect", case).context("a case without a name")?;
        let each: Vec<Ipis> = calls[WARM_UP..].iter().map(|call| ipis(call, seen)).collect();
        let most = |of: &dyn Fn(&Ipis) -> u64| each.iter().map(of).max().unwrap_or_default();
        let name = |what: &str| format!("{kernel} {what} by protect, {case}");
        let stray = "to CPUs that have not seen the domain";
        facts.push(fact(name("IPIs"), most(&|ipis| ipis.0), "", "most in a call"));
        facts.push(fact(name("stray IPIs"), most(&|ipis| ipis.1), "", stray));
    }
    Ok(facts)
}

/// The program's cases in their order, and how many other CPUs have seen the domain in each.
fn cases(cpus: u32) -> Vec<(u16, u32)> {
    let others = 1..cpus;
    let idle = (0..cpus).map(|n| (n as u16, n));
    let busy = others.map(|n| (BUSY + n as u16, n));
    idle.chain([(UNSEEN, 0)]).chain(busy).collect()
}

/// The CPUs that each call to take rights away interrupts; one that is issued again is one.
fn calls(trace: &Trace) -> Vec<Vec<u32>> {
    let mut calls: Vec<Vec<u32>> = Vec::new();
    let mut goes_on = false;
    for section in trace::Sections::of(trace).whole {
        let is_call = section.entry == Entry::Call(Call::Protect as u8);
        if is_call && !goes_on {
            calls.push(Vec::new());
        }
        if let Some(call) = calls.last_mut().filter(|_| is_call) {
            let moments = section.moments(trace).iter();
            call.extend(moments.filter(|m| m.event == Event::Ipi).map(|m| m.argument));
        }
        goes_on = is_call;
    }
    calls
}

/// CPUs that have seen the domain are 1 to `seen`.
fn ipis(call: &[u32], seen: u32) -> Ipis {
    let stray = call.iter().filter(|cpu| !(1..=seen).contains(*cpu)).count();
    (call.len() as u64, stray as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strays_are_told() {
        assert_eq!(ipis(&[1, 2], 2), (2, 0));
        assert_eq!(ipis(&[1, 3], 2), (2, 1));
        assert_eq!(ipis(&[], 0), (0, 0));
        assert_eq!(cases(2), [(0, 0), (1, 1), (8, 0), (17, 1)]);
    }
}
