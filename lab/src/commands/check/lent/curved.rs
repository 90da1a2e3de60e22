//! Leaves of a class of service curves that share mutexes, played on the scheduling tree: no
//! response is above its bound.

use crate::commands::check::decided::decide;
use crate::commands::check::tree::below_root;
use abi::reservation::Inheritance;
use acceptance::{Sharer, play_sharing};
use analysis::tree::Class;
use analysis::{Overheads, Random};
use std::collections::BTreeMap;

const SETS: u64 = 120;
const MS: u64 = 1_000_000;
const HORIZON: u64 = 3_000 * MS;
const MUTEXES: u64 = 2;
/// Leaves beside them.
const RIVALS: u64 = 9;

/// Tasks with their curves, and the percent that are left for rivals.
fn drawn(random: &mut Random) -> (Vec<Sharer>, Vec<String>, u64) {
    let count = 2 + random.below(2);
    let whole = 12 + random.below(30);
    let mut left = whole;
    let (mut sharers, mut curves) = (Vec::new(), Vec::new());
    for at in 0..count {
        let most = left / (count - at);
        let rest = 2 + random.below(most - 1);
        left -= rest;
        // Of what is left the first slopes may take as much as the last ones.
        let (first, bend) = (1 + random.below(rest), 1 + random.below(20));
        curves.push(match random.below(3) {
            0 => format!("{{ m1 = \"{first}%\", d = \"{bend}ms\", m2 = \"{rest}%\" }}"),
            1 => format!("{{ m1 = \"{rest}%\", d = \"{bend}ms\", m2 = \"{first}%\" }}"),
            _ => format!("\"{rest}%\""),
        });
        // Many short steps, or a few long ones.
        let (count, length) = if random.below(2) == 0 { (8, 50_000) } else { (3, 1_000_000) };
        let step = |random: &mut Random| {
            let mutex = Some(random.below(MUTEXES + 2) / 2).filter(|mutex| *mutex < MUTEXES);
            (length * (1 + random.below(3)), mutex.map(|mutex| mutex as usize))
        };
        let steps: Vec<_> = (0..1 + random.below(count)).map(|_| step(random)).collect();
        let period = (200.0 * 10f64.powf(random.uniform())) as u64 * MS;
        let first = random.below(8) * MS;
        sharers.push(Sharer { name: format!("r{at}"), period, first, steps });
    }
    (sharers, curves, 100 - whole)
}

fn manifest_of(
    (sharers, curves, left): &(Vec<Sharer>, Vec<String>, u64),
    inheritance: &str,
    shares: bool,
) -> String {
    let mut text = format!(
        "[system]\nname = \"a\"\ninheritance = \"{inheritance}\"\n\
         [[mutex]]\nname = \"m0\"\n[[mutex]]\nname = \"m1\"\n\
         [[reservation]]\nname = \"all\"\npolicy = \"service-curves\"\npriority = 300\n"
    );
    for rival in 0..RIVALS {
        let curve = left / RIVALS;
        text += &format!(
            "[[reservation]]\nname = \"rival-{rival}\"\nin = \"all\"\ncurve = \"{curve}%\"\n\
             [[domain]]\nname = \"rival-{rival}\"\nprogram = \"busy\"\npriority = 9\n\
             reservation = \"rival-{rival}\"\n"
        );
    }
    let mut own = format!(
        "[[domain]]\nname = \"d\"\nprogram = \"busy\"\npriority = 9\nthreads = {}\n",
        sharers.len()
    );
    for (sharer, curve) in sharers.iter().zip(curves) {
        let Sharer { name, period, steps, .. } = sharer;
        let times = format!("period = \"{}ms\"\n", period / MS);
        text += &format!("[[reservation]]\nname = \"{name}\"\nin = \"all\"\ncurve = {curve}\n");
        let section = |(length, mutex): &(u64, Option<usize>)| {
            let mutex = mutex.filter(|_| shares)?;
            Some(format!("{{ mutex = \"m{mutex}\", length = \"{}us\" }}", length / 1_000))
        };
        let sections: Vec<_> = steps.iter().filter_map(section).collect();
        own += &format!(
            "[[domain.task]]\nname = \"t{name}\"\npriority = 9\nreservation = \"{name}\"\n\
             execution = \"{}us\"\n{times}sections = [{}]\n",
            steps.iter().map(|(length, _)| length / 1_000).sum::<u64>(),
            sections.join(", ")
        );
    }
    text + &own
}

/// The bounds of a system in ns, and what its CPU runs.
fn judged(text: &str) -> (BTreeMap<String, u64>, Class) {
    let system = manifest::parse("a.toml", text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    let bounds = decide(&system, Overheads::default()).expect("there are leaves").bounds();
    (bounds, Class::FixedPriority(below_root(&system, 0)))
}

#[test]
fn no_response_under_curves_is_above_its_bound() {
    let mut random = Random::of(1);
    let (mut compared, mut beyond) = (0, 0);
    for _ in 0..SETS {
        let set = drawn(&mut random);
        for (inheritance, name) in
            [(Inheritance::Charged, "charged"), (Inheritance::Leaves, "leaves")]
        {
            let text = manifest_of(&set, name, true);
            let (bounds, class) = judged(&text);
            let alone = judged(&manifest_of(&set, name, false)).0;
            let own = Random::of(random.below(u64::MAX));
            let played = play_sharing(&class, &set.0, inheritance, own, HORIZON);
            let played = played.unwrap_or_else(|error| panic!("{error}\n{text}"));
            for (sharer, longest) in set.0.iter().zip(played) {
                beyond += u64::from(alone.get(&sharer.name).is_some_and(|it| longest > *it));
                let is_shared = sharer.steps.iter().any(|step| step.1.is_some());
                let bound = bounds.get(&sharer.name).filter(|_| is_shared);
                let Some(bound) = bound else { continue };
                compared += 1;
                let name = &sharer.name;
                assert!(longest <= *bound, "{name} took {longest} ns of {bound}\n{text}");
            }
        }
    }
    // Without the segments and what others execute bounds do not hold.
    assert!(compared > SETS / 2 && beyond > 10, "{compared} compared, {beyond} beyond");
}
