//! What a manifest says of domains that are supervised, checked.

use abi::supervision::{BEATS, CHILD_BADGE, FAULTS, MOST_CHILDREN, MOST_RESTARTS};
use abi::{Kind, Rights};
use toml::Spanned;

use crate::problem::{Problem, quote};
use crate::rights;
use crate::schema::{self, Manifest, Word};
use crate::suggest::hint;
use crate::supervisor::{DOMAIN, NAMES};
use crate::system::Restart;
use crate::values::Values;

const DEFAULT_AT_MOST: u64 = 3;
const SECOND: u64 = 1_000_000_000;
const MILLISECOND: u64 = 1_000_000;
/// Slots in the table of a domain that is made at run time.
const MOST_SLOTS: i128 = 64;
/// What a domain that is made at run time can be given of each resource.
const MOST_QUOTA: i128 = u16::MAX as i128;

/// How a domain is supervised, if it is.
pub fn restart(
    values: &Values,
    table: &Spanned<schema::Domain>,
) -> Result<Option<Restart>, Problem> {
    let given = table.get_ref();
    let Some(word) = &given.restart else {
        return needs_restart(values, given).map_or(Ok(None), Err);
    };
    fits(values, table)?;
    let always = values.one_of("restart", word, &["on-failure", "always"])? == "always";
    let (within, heartbeat) = (given.within.as_ref(), given.heartbeat.as_ref());
    let hour = 3600 * SECOND;
    let within = within.map_or(Ok(SECOND), |it| values.duration(it, MILLISECOND..=hour))?;
    let heartbeat = heartbeat.map(|it| values.duration(it, MILLISECOND..=hour));
    let depends = given.depends.iter().map(|word| values.find("domain", word));
    Ok(Some(Restart {
        always,
        at_most: values.number(&given.at_most, DEFAULT_AT_MOST, 0..=MOST_RESTARTS)?,
        within,
        depends: depends.collect::<Result<_, _>>()?,
        heartbeat: heartbeat.transpose()?,
        told: given.told.as_ref().map(|told| self::told(values, told.get_ref())).transpose()?,
    }))
}

/// The first key of a domain that means nothing without `restart`.
fn needs_restart(values: &Values, given: &schema::Domain) -> Option<Problem> {
    let keys = [
        ("at_most", given.at_most.as_ref().map(Spanned::span)),
        ("within", given.within.as_ref().map(Spanned::span)),
        ("depends", given.depends.first().map(Spanned::span)),
        ("heartbeat", given.heartbeat.as_ref().map(Spanned::span)),
        ("told", given.told.as_ref().map(Spanned::span)),
    ];
    let (key, at) = keys.into_iter().find_map(|(key, at)| Some((key, at?)))?;
    let message = format!("`{key}` means nothing for a domain that is not supervised");
    let help = "add `restart = \"on-failure\"`, or leave it out";
    Some(values.source.problem(&at, message, help))
}

/// What cannot be had by a domain that is made at run time.
fn fits(values: &Values, table: &Spanned<schema::Domain>) -> Result<(), Problem> {
    let given = table.get_ref();
    if let Some(handler) = &given.fault_handler {
        let help = "the supervisor takes its faults: leave `fault_handler` out";
        return Err(values.problem(handler, "a supervised domain has no other handler", help));
    }
    let own = |cap: &&Spanned<schema::Capability>| {
        [FAULTS, BEATS].contains(&cap.get_ref().name.get_ref().as_str())
    };
    if let Some(cap) = given.caps.iter().find(own) {
        let name = &cap.get_ref().name;
        let message = format!("{} is a name of the supervisor's", quote(name.get_ref()));
        return Err(values.problem(name, message, "choose another name"));
    }
    let further = 1 + i128::from(given.heartbeat.is_some());
    let needed = 1 + given.caps.len() as i128 + further;
    let slots = given.slots.as_ref();
    let count = slots.map_or(MOST_SLOTS, |slots| *slots.get_ref());
    let at = slots.map_or(table.span(), Spanned::span);
    if count > MOST_SLOTS {
        let message = "a domain that is made at run time has at most 64 slots";
        return Err(values.source.problem(&at, message, "write `slots = 64`, or leave it out"));
    }
    if needed > count {
        let message = format!(
            "{} capabilities and {further} of the supervisor's do not fit into {count} slots",
            given.caps.len()
        );
        let help = match needed {
            ..=MOST_SLOTS => format!("slot 0 stays empty: write `slots = {needed}` or more"),
            _ => "give the domain fewer capabilities: it has at most 64 slots".to_string(),
        };
        return Err(values.source.problem(&at, message, help));
    }
    match given.quota.values().find(|amount| *amount.get_ref() > MOST_QUOTA) {
        Some(amount) => {
            let message = "a domain that is made at run time cannot have so many";
            Err(values.problem(amount, message, format!("give {MOST_QUOTA} at most")))
        }
        None => Ok(()),
    }
}

fn told(values: &Values, given: &schema::Told) -> Result<(usize, u64), Problem> {
    let notification = values.find("notification", &given.notification)?;
    match &given.badge {
        Some(badge) if *badge.get_ref() == 0 => {
            Err(values.problem(badge, "a badge of 0 signals nothing", "set at least one bit"))
        }
        badge => Ok((notification, values.number(badge, 1, 1..=u64::MAX)?)),
    }
}

/// The rights of a supervised domain's capability: none by which an object could end that it has to
/// be given again.
pub fn lasting_rights(
    values: &Values,
    given: &schema::Capability,
    rights: Rights,
) -> Result<Rights, Problem> {
    let ending = ["revoke", "destroy"];
    let listed = given.rights.iter().flat_map(|list| list.get_ref());
    let mut ends = listed.filter(|word| ending.contains(&word.get_ref().as_str()));
    match ends.next() {
        Some(word) => {
            let right = quote(word.get_ref());
            let message = format!("a supervised domain cannot have the right {right}");
            let help = "what it has ended could not be given to it again: leave the right out";
            Err(values.problem(word, message, help))
        }
        None => Ok(Rights(rights.0 & !Rights::REVOKE.or(Rights::DESTROY).0)),
    }
}

/// The rights of a capability to ask the supervisor.
pub fn client_rights(values: &Values, given: &schema::Capability) -> Result<Rights, Problem> {
    if let Some(badge) = &given.badge
        && *badge.get_ref() >= i128::from(CHILD_BADGE)
    {
        let message = "the supervisor knows its own capabilities by the highest bit of a badge";
        return Err(values.problem(badge, message, "choose a badge below 0x8000_0000_0000_0000"));
    }
    let Some(list) = &given.rights else { return Ok(Rights::SEND) };
    let known = rights::rights_of(Kind::Endpoint);
    let allowed: Vec<_> =
        known.into_iter().filter(|(name, _)| ["send", "grant", "copy"].contains(name)).collect();
    let names: Vec<&str> = allowed.iter().map(|(name, _)| *name).collect();
    let mut rights = Rights::NONE;
    for item in list.get_ref() {
        let Some((_, right)) = allowed.iter().find(|(name, _)| name == item.get_ref()) else {
            let word = item.get_ref();
            let message = format!("a capability to the supervisor has no right {}", quote(word));
            return Err(values.problem(item, message, hint(word, "rights to it", &names)));
        };
        rights = rights.or(*right);
    }
    if rights.contains(Rights::SEND) {
        return Ok(rights);
    }
    let message = "a client of the supervisor needs the right to send";
    Err(values.problem(list, message, "add `\"send\"`, or leave `rights` out"))
}

/// What only several domains together get wrong.
pub fn together(values: &Values, manifest: &Manifest) -> Vec<Problem> {
    let is_child = |domain: &&Spanned<schema::Domain>| domain.get_ref().restart.is_some();
    let children: Vec<_> = manifest.domain.iter().filter(is_child).collect();
    if children.is_empty() {
        return none_supervised(values, manifest);
    }
    let mut problems = Vec::new();
    if let Some(child) = children.get(MOST_CHILDREN) {
        let message = format!("a supervisor has at most {MOST_CHILDREN} domains");
        let help = "leave `restart` out where it is not needed";
        problems.push(values.problem(*child, message, help));
    }
    problems.extend(NAMES.iter().flat_map(|(kind, name)| taken(values, manifest, kind, name)));
    let names: Vec<&str> =
        children.iter().map(|child| child.get_ref().name.get_ref().as_str()).collect();
    let known = |word: &Word| names.contains(&word.get_ref().as_str());
    for child in &children {
        let own = child.get_ref();
        let there = |word: &&Word| values.find("domain", word).is_ok();
        for word in own.depends.iter().filter(there).filter(|word| !known(word)) {
            let message = format!("{} is not supervised", quote(word.get_ref()));
            let help = "give that domain `restart`: only what is restarted can be waited for";
            problems.push(values.problem(word, message, help));
        }
    }
    if problems.is_empty() {
        problems.extend(cycle(values, &children));
    }
    for cap in manifest.domain.iter().flat_map(|domain| &domain.get_ref().caps) {
        let (domain, thread) = (&cap.get_ref().domain, &cap.get_ref().thread);
        for word in domain.iter().chain(thread).filter(|word| known(word)) {
            let message = format!("{} is supervised, and made at run time", quote(word.get_ref()));
            let help = "ask the supervisor: write `supervisor = true` for the capability";
            problems.push(values.problem(word, message, help));
        }
    }
    problems
}

/// Words that name a supervisor where no domain is supervised.
fn none_supervised(values: &Values, manifest: &Manifest) -> Vec<Problem> {
    let help = "give a domain `restart = \"on-failure\"`, or leave this out";
    let section = manifest.supervisor.as_ref().and_then(|it| {
        let numbers = it.priority.as_ref().or(it.log_priority.as_ref()).map(Spanned::span);
        numbers.or(it.budget.as_ref().or(it.period.as_ref()).map(Spanned::span))
    });
    let caps = manifest.domain.iter().flat_map(|domain| &domain.get_ref().caps);
    let caps = caps.filter_map(|cap| Some(cap.get_ref().supervisor.as_ref()?.span()));
    let told = |at| values.source.problem(&at, "no domain is supervised", help);
    section.into_iter().chain(caps).map(told).collect()
}

/// A name that the supervisor's own objects have, if the manifest uses it.
fn taken(values: &Values, manifest: &Manifest, kind: &str, name: &str) -> Option<Problem> {
    let domains = || manifest.domain.iter().map(|domain| &domain.get_ref().name);
    let word = match kind {
        "endpoint" => manifest.endpoint.iter().map(|it| &it.name).find(|it| it.get_ref() == name),
        "notification" => {
            manifest.notification.iter().map(|it| &it.name).find(|it| it.get_ref() == name)
        }
        "reservation" => {
            let mut names = manifest.reservation.iter().filter_map(|it| it.get_ref().name.as_ref());
            names.find(|it| it.get_ref() == name)
        }
        "memory" => manifest.memory.iter().map(|it| &it.name).find(|it| it.get_ref() == name),
        _ => domains().find(|it| it.get_ref() == name),
    }?;
    let message = format!("{} is a {kind} of the supervisor's", quote(name));
    Some(values.problem(word, message, format!("the domain `{DOMAIN}` is added: rename yours")))
}

/// A domain that depends on itself, be it through others.
fn cycle(values: &Values, children: &[&Spanned<schema::Domain>]) -> Option<Problem> {
    children.iter().find_map(|child| {
        let name = child.get_ref().name.get_ref();
        let mut depends = child.get_ref().depends.iter();
        let word = depends.find(|word| reaches(children, word.get_ref(), name))?;
        let message = format!("{} would depend on itself", quote(name));
        let help = "take this one, or one that leads back, out of `depends`";
        Some(values.problem(word, message, help))
    })
}

/// Whether a domain is another one, or depends on it by any way.
fn reaches<'a>(children: &[&'a Spanned<schema::Domain>], from: &'a str, to: &str) -> bool {
    let (mut seen, mut next) = (Vec::new(), vec![from]);
    while let Some(name) = next.pop() {
        if name == to {
            return true;
        }
        if !seen.contains(&name) {
            seen.push(name);
            let own = children.iter().filter(|child| child.get_ref().name.get_ref() == name);
            next.extend(
                own.flat_map(|child| &child.get_ref().depends).map(|it| it.get_ref().as_str()),
            );
        }
    }
    false
}
