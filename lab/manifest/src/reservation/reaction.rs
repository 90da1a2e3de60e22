//! What happens when a budget is used up, or a job has not ended by its deadline.

use abi::boot::ALL_CPUS;
use abi::reservation::{Budget, Policy, Server};

use super::place::{Place, name};
use super::{Draft, span_of};
use crate::problem::{Problem, quote};
use crate::schema::{Manifest, Word};
use crate::system::{Reaction, Reservation};
use crate::values::Values;

/// How manifests spell what follows an overrun, and a miss, in the order of [`Reaction`].
const OVERRUNS: [&str; 3] = ["throttle", "background", "restart"];
const MISSES: [&str; 3] = ["continue", "background", "restart"];

/// What follows an overrun and a miss. The limit is none if the budget is the whole period.
pub fn read(
    values: &Values,
    draft: &Draft,
    place: &Place,
    limit: Option<Budget>,
    is_timed: bool,
) -> Result<[Reaction; 2], Problem> {
    let given = draft.given;
    let overrun = one(values, draft, place, (&given.overrun, &OVERRUNS))?;
    let miss = one(values, draft, place, (&given.miss, &MISSES))?;
    let Some(limit) = limit else {
        if let Some(word) = &given.overrun {
            let message = "`overrun` means nothing here: it has no limit";
            let help = "write a `budget` below its `period`, or leave it out";
            return Err(values.problem(word, message, help));
        }
        return timed(values, &given.miss, is_timed).map_or(Ok([overrun, miss]), Err);
    };
    match &given.overrun {
        Some(word) if limit.server == Server::ConstantSoft && overrun != Reaction::Restart => {
            let message = "a \"constant-soft\" server has another budget at once";
            let help = "write `server = \"constant\"`, or leave `overrun` out";
            Err(values.problem(word, message, help))
        }
        _ => timed(values, &given.miss, is_timed).map_or(Ok([overrun, miss]), Err),
    }
}

fn timed(values: &Values, miss: &Option<Word>, is_timed: bool) -> Option<Problem> {
    let word = miss.as_ref().filter(|_| !is_timed)?;
    let message = "`miss` means nothing here: it has no deadline";
    Some(values.problem(word, message, "write `deadline` and `period`, or leave it out"))
}

/// One of the two keys.
fn one(
    values: &Values,
    draft: &Draft,
    place: &Place,
    (word, words): (&Option<Word>, &[&str]),
) -> Result<Reaction, Problem> {
    let Some(word) = word else { return Ok(Reaction::Usual) };
    let chosen = values.one_of("reaction", word, words)?;
    let all = [Reaction::Usual, Reaction::Background, Reaction::Restart];
    let place_of = words.iter().position(|known| **known == chosen);
    let reaction = place_of.map_or(Reaction::Usual, |place| all[place]);
    if reaction == Reaction::Restart && place.policy.is_some() {
        let message = "a class has no threads that could be restarted";
        let help = format!("write it at a reservation in {}", quote(name(draft)));
        return Err(values.problem(word, message, help));
    }
    match &draft.given.monitor {
        Some(monitor) if reaction == Reaction::Restart => {
            let message = "what its supervisor is told of has no other monitor";
            let help = "leave `monitor` out: `told` of the domain says when it was restarted";
            Err(values.problem(monitor, message, help))
        }
        _ => Ok(reaction),
    }
}

/// What cannot be done where the reservations are, or with the domains that use them.
pub fn together(
    values: &Values,
    manifest: &Manifest,
    drafts: &[Draft],
    all: &[Reservation],
    used: &[Option<usize>],
) -> Vec<Problem> {
    let of = |index: usize| {
        let given = drafts[index].given;
        let keys = [(&given.overrun, all[index].overrun), (&given.miss, all[index].miss)];
        keys.into_iter().find_map(|(word, reaction)| {
            let (message, help) = match reaction {
                Reaction::Usual => None,
                Reaction::Background => confined(drafts, all, index),
                Reaction::Restart => unsupervised(manifest, used, index),
            }?;
            let at = span_of(word.as_ref(), &drafts[index].at);
            Some(values.source.problem(&at, message, help))
        })
    };
    (0..all.len()).filter_map(of).collect()
}

/// Why a reservation cannot fall to the background: it is on all CPUs, or what it is in has a limit
/// or a window, which holds for all that is in it.
fn confined(drafts: &[Draft], all: &[Reservation], index: usize) -> Option<(String, String)> {
    if all[index].cpu == ALL_CPUS {
        let message = "what all CPUs share has no background".to_string();
        return Some((message, "leave it out, or put the reservation on one CPU".to_string()));
    }
    let classes = std::iter::successors(all[index].class, |class| all[*class].class);
    classes.into_iter().find_map(|class| {
        let (one, name) = (&all[class], quote(name(&drafts[class])));
        if one.policy == Some(Policy::Partitions) {
            let message = format!("{name} keeps all that is in it to its windows");
            return Some((message, "leave it out, or move the reservation".to_string()));
        }
        let is_kept = one.limit().is_some_and(|limit| limit.server != Server::ConstantSoft);
        if is_kept && one.overrun != Reaction::Background {
            let message = format!("{name} keeps all that is in it to its own budget");
            let help = format!("write `overrun = \"background\"` at {name} too, or leave it out");
            return Some((message, help));
        }
        None
    })
}

/// Why nothing can restart what uses a leaf.
fn unsupervised(
    manifest: &Manifest,
    used: &[Option<usize>],
    index: usize,
) -> Option<(String, String)> {
    let users = manifest.domain.iter().zip(used).filter(|(_, used)| **used == Some(index));
    let users: Vec<_> = users.map(|(domain, _)| domain.get_ref()).collect();
    match &users[..] {
        [] => Some((
            "no domain runs on it that could be restarted".to_string(),
            "name it as the `reservation` of a domain that has `restart`".to_string(),
        )),
        [one] if one.restart.is_some() => None,
        [one] => Some((
            format!("nothing restarts {}, which runs on it", quote(one.name.get_ref())),
            "give that domain `restart = \"on-failure\"`".to_string(),
        )),
        [_, other, ..] => Some((
            format!(
                "{} runs on it too: it is not known which one to restart",
                quote(other.name.get_ref())
            ),
            "give each domain a reservation of its own".to_string(),
        )),
    }
}
