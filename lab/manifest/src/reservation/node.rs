//! One reservation: its share among its siblings, its limit, and the jobs of a leaf.

use abi::reservation::{Budget, Curve, LEVELS, Policy, SHORTEST, Server, Share, Timing};
use toml::Spanned;

use super::place::{Place, name};
use super::windows;
use super::{Draft, adaptive, reaction, span_of};
use crate::problem::{Problem, Span, quote};
use crate::schema::{Bent, Number, Word, WordOr};
use crate::system::{Monitor, Reservation};
use crate::units::spell_duration;
use crate::values::Values;

/// The longest time in a manifest: a day.
const DAY: u64 = 86_400_000_000_000;
/// The longest major frame and period; shorter than what the kernel accepts by far.
const LONGEST: u64 = DAY;
/// How manifests spell the servers, in the order of [`Server::ALL`].
const SERVERS: [&str; 4] = ["periodic", "constant", "constant-soft", "sporadic"];

/// Reads a reservation at its place. The windows of classes are laid out later.
pub fn read(values: &Values, draft: &Draft, place: &Place) -> Result<Reservation, Problem> {
    windows::placed(values, draft, place)?;
    misplaced(values, draft, place)?;
    let given = draft.given;
    let time = |word: &Option<Spanned<String>>, least: u64| {
        word.as_ref().map(|word| values.duration(word, least..=LONGEST)).transpose()
    };
    if let Some(word) = &given.major_frame {
        values.duration(word, SHORTEST..=LONGEST)?;
    }
    let period = time(&given.period, SHORTEST)?;
    let deadline = time(&given.deadline, SHORTEST)?;
    let execution = time(&given.execution, 1_000)?;
    let wants_period = [&given.budget, &given.deadline, &given.execution];
    if let (None, Some(word)) = (period, wants_period.into_iter().flatten().next()) {
        let message = "`period` is missing: how often this can come";
        return Err(values.problem(word, message, "write for instance `period = \"10ms\"`"));
    }
    let limit = limit(values, draft, place, period, deadline)?;
    let is_limited = limit.is_some_and(|limit| limit.budget < limit.period);
    let is_leaf = place.policy.is_none();
    let has_jobs = is_leaf && (deadline.is_some() || by_deadline(place) && !is_limited);
    let timing = period.filter(|_| has_jobs);
    let timing = timing.map(|period| Timing { deadline: deadline.unwrap_or(period), period });
    if by_deadline(place) && !is_limited && timing.is_none() {
        let message = format!("nothing gives {} a deadline", quote(name(draft)));
        let help = match is_leaf {
            true => "write `deadline` and `period`, or `budget` and a longer `period`",
            false => "write `budget` and a longer `period`: it goes by those of its budget",
        };
        return Err(values.source.problem(&draft.at, message, help));
    }
    if let (None, None, Some(word)) = (timing, limit, &given.execution) {
        let message = "`execution` means nothing here: there is no `deadline` and no `budget`";
        let help = "write `deadline`, or leave `execution` and `period` out";
        return Err(values.problem(word, message, help));
    }
    if let (Some(execution), Some(limit), Some(word)) = (execution, limit, &given.execution)
        && execution > limit.budget
    {
        let budget = spell_duration(limit.budget);
        let message = format!("a job of {} exceeds the budget of {budget}", word.get_ref());
        let help = "the budget of a period is for one job: raise it, or shorten the job";
        return Err(values.problem(word, message, help));
    }
    let some_limit = limit.filter(|_| is_limited);
    let [overrun, miss] = reaction::read(values, draft, place, some_limit, timing.is_some())?;
    Ok(Reservation {
        name: name(draft).to_string(),
        class: place.class,
        cpu: place.cpu,
        policy: place.policy,
        share: share(values, draft, place)?,
        limit,
        timing,
        windows: Vec::new(),
        execution,
        monitor: monitor(values, draft, timing.is_some(), is_limited)?,
        overrun,
        miss,
        adaptive: adaptive::read(values, draft, place, some_limit)?,
        at: draft.at.clone(),
    })
}

fn by_deadline(place: &Place) -> bool {
    place.above == Policy::EarliestDeadline
}

/// What messages call a class of a policy.
fn kind(policy: Policy) -> &'static str {
    match policy {
        Policy::FixedPriority => "fixed priorities",
        Policy::EarliestDeadline => "EDF",
        Policy::ServiceCurves => "service curves",
        Policy::Partitions => "time partitions",
    }
}

/// A key that means nothing at this place.
fn misplaced(values: &Values, draft: &Draft, place: &Place) -> Result<(), Problem> {
    let given = draft.given;
    let (above, is_leaf) = (place.above, place.policy.is_none());
    let in_class = format!("{} goes by {}", place.above_name, kind(above));
    let has_period = given.budget.is_some()
        || is_leaf && (given.deadline.is_some() || given.execution.is_some() || by_deadline(place));
    let word = |word: &Option<Spanned<String>>| word.as_ref().map(Spanned::span);
    let curve = |curve: &Option<Spanned<WordOr<Bent>>>| curve.as_ref().map(Spanned::span);
    let by_priority = matches!(above, Policy::FixedPriority | Policy::Partitions);
    let (by_curve, by_window) = (above == Policy::ServiceCurves, above == Policy::Partitions);
    let windows = given.windows.as_ref().map(Spanned::span);
    let background = given.background.as_ref().map(Spanned::span);
    let priority = given.priority.as_ref().map(Spanned::span);
    let framed = place.policy == Some(Policy::Partitions);
    let keys: [(&str, Option<Span>, bool, &str); 10] = [
        ("priority", priority, by_priority, &in_class),
        ("curve", curve(&given.curve), by_curve, &in_class),
        ("share", curve(&given.share), by_curve, &in_class),
        ("windows", windows, by_window, &in_class),
        ("background", background, by_window, &in_class),
        ("major_frame", word(&given.major_frame), framed, "its policy is not \"partitions\""),
        ("deadline", word(&given.deadline), is_leaf, "a class has no jobs"),
        ("execution", word(&given.execution), is_leaf, "a class has no jobs"),
        ("server", word(&given.server), given.budget.is_some(), "there is no `budget`"),
        ("period", word(&given.period), has_period, "there is no `budget`"),
    ];
    let wrong =
        keys.into_iter().find_map(|(key, at, fits, why)| Some((key, at?, why)).filter(|_| !fits));
    match wrong {
        Some((key, at, why)) => {
            let message = format!("`{key}` means nothing here: {why}");
            Err(values.source.problem(&at, message, "leave it out"))
        }
        None => Ok(()),
    }
}

/// A key that has to be there.
fn missing(values: &Values, draft: &Draft, key: &str, why: &str, help: &str) -> Problem {
    values.source.problem(&draft.at, format!("`{key}` is missing: {why}"), help)
}

fn share(values: &Values, draft: &Draft, place: &Place) -> Result<Share, Problem> {
    let given = draft.given;
    let last = u64::from(LEVELS) - 1;
    let why = format!("{} goes by {}", place.above_name, kind(place.above));
    if framed(place) && given.major_frame.is_none() {
        let help = "write for instance `major_frame = \"20ms\"`";
        return Err(missing(values, draft, "major_frame", "its windows repeat with it", help));
    }
    Ok(match place.above {
        Policy::FixedPriority => {
            let help = "write `priority = 300`, say: 0 to 511, and greater is more urgent";
            let number = given.priority.as_ref();
            let number = number.ok_or_else(|| missing(values, draft, "priority", &why, help))?;
            Share::Priority(values.within(number, 0..=last)? as u16)
        }
        Policy::EarliestDeadline => Share::Deadline,
        Policy::ServiceCurves => {
            let read = |word: &Spanned<WordOr<Bent>>| curve(values, word);
            let guaranteed = given.curve.as_ref().map(read).transpose()?;
            let own = given.share.as_ref().map(read).transpose()?;
            let help = "write `curve = \"20%\"`, say, or `share` without a guarantee";
            let missing = || missing(values, draft, "curve", &why, help);
            Share::Curve { guaranteed, share: own.or(guaranteed).ok_or_else(missing)? }
        }
        Policy::Partitions => {
            // A class of fixed priorities is as urgent as what is in it, unless told otherwise.
            let is_fixed = place.policy == Some(Policy::FixedPriority);
            let usual = if is_fixed { last } else { 0 };
            let priority = values.number(&given.priority, usual, 0..=last)? as u16;
            match (&given.background, &given.windows) {
                (Some(flag), _) if !flag.get_ref() => {
                    let help = "write `background = true`, or give it `windows`";
                    return Err(values.problem(flag, "`background` can only be true", help));
                }
                (Some(_), Some(windows)) => {
                    let message = "the background partition has no windows";
                    let help = "it runs where it is the most urgent one: leave one of the two out";
                    return Err(values.problem(windows, message, help));
                }
                _ => Share::Partition { number: 0, priority },
            }
        }
    })
}

fn framed(place: &Place) -> bool {
    place.policy == Some(Policy::Partitions)
}

/// A service curve.
fn curve(values: &Values, given: &Spanned<WordOr<Bent>>) -> Result<Curve, Problem> {
    let above_zero = |at: &Span, slope: u32| match slope {
        0 => {
            let help = "give it a part of the CPU in the long run, \"0.1%\" or more";
            Err(values.source.problem(at, "a curve that ends flat serves nothing", help))
        }
        slope => Ok(slope),
    };
    match given.get_ref() {
        WordOr::Word(text) => {
            let slope = values.percent(&given.span(), text)?;
            Ok(Curve::linear(above_zero(&given.span(), slope)?))
        }
        WordOr::Table(bent) => Ok(Curve {
            slope: values.percent(&bent.m1.span(), bent.m1.get_ref())?,
            bend: values.duration(&bent.d, 1_000..=LONGEST)?,
            rest: above_zero(&bent.m2.span(), values.percent(&bent.m2.span(), bent.m2.get_ref())?)?,
        }),
    }
}

/// What a reservation may use at most.
fn limit(
    values: &Values,
    draft: &Draft,
    place: &Place,
    period: Option<u64>,
    deadline: Option<u64>,
) -> Result<Option<Budget>, Problem> {
    let given = draft.given;
    let (Some(word), Some(period)) = (&given.budget, period) else { return Ok(None) };
    let budget = values.budget(word, LONGEST)?;
    if budget > period {
        let message = format!(
            "a budget of {} exceeds its period of {}",
            word.get_ref(),
            spell_duration(period)
        );
        let help = "lower the budget, or lengthen the period; equal ones are no limit";
        return Err(values.problem(word, message, help));
    }
    if place.policy == Some(Policy::ServiceCurves) && place.above == Policy::ServiceCurves {
        let message = "a class of service curves inside another one cannot have a budget";
        let help = "its curve says what it gets: leave `budget` and `period` out";
        return Err(values.problem(word, message, help));
    }
    let server = server(values, draft, place, period, deadline)?;
    Ok(Some(Budget { server, budget, period }))
}

/// What is told of it: misses where it has deadlines, overruns where it has a limit.
fn monitor(
    values: &Values,
    draft: &Draft,
    is_timed: bool,
    is_limited: bool,
) -> Result<Option<Monitor>, Problem> {
    let Some(given) = &draft.given.monitor else { return Ok(None) };
    if !is_timed && !is_limited {
        let message = "there is nothing to tell: it has no deadline and no limit";
        let help = "write `deadline` and `period`, or a `budget` below its `period`";
        return Err(values.problem(given, message, help));
    }
    let of_word;
    let (word, missed, overran) = match given.get_ref() {
        WordOr::Word(name) => {
            of_word = Word::new(given.span(), name.clone());
            (&of_word, &None, &None)
        }
        WordOr::Table(table) => (&table.notification, &table.missed, &table.overran),
    };
    let bits = |key, number: &Option<Number>, usual: u64, fits: bool, why| match number {
        Some(number) if !fits => {
            let message = format!("`{key}` means nothing here: {why}");
            Err(values.problem(number, message, "leave it out"))
        }
        number => values.number(number, if fits { usual } else { 0 }, 1..=u64::MAX),
    };
    Ok(Some(Monitor {
        notification: values.find("notification", word)?,
        missed: bits("missed", missed, 1, is_timed, "it has no deadline")?,
        overran: bits("overran", overran, 2, is_limited, "it has no limit")?,
    }))
}

/// How the budget comes back.
fn server(
    values: &Values,
    draft: &Draft,
    place: &Place,
    period: u64,
    deadline: Option<u64>,
) -> Result<Server, Problem> {
    let usual = match deadline {
        Some(deadline) if !by_deadline(place) || deadline != period => Server::Sporadic,
        _ if by_deadline(place) => Server::Constant,
        _ => Server::Periodic,
    };
    let Some(word) = &draft.given.server else { return Ok(usual) };
    let chosen = values.one_of("server", word, &SERVERS)?;
    let servers = SERVERS.iter().zip(Server::ALL);
    let server = servers.filter(|(name, _)| **name == chosen).map(|(_, it)| it).next();
    let server = server.unwrap_or(usual);
    // Of those with two deadlines, the kernel goes by one.
    let wrong = match (server, deadline) {
        (Server::Constant | Server::ConstantSoft, Some(deadline)) => deadline != period,
        (Server::Periodic, Some(_)) => true,
        _ => false,
    };
    if wrong && by_deadline(place) {
        let message = format!("a \"{chosen}\" server does not keep its jobs' `deadline`");
        let help = "write `server = \"sporadic\"`: its jobs are served by their own deadlines";
        let at = span_of(Some(word), &draft.at);
        return Err(values.source.problem(&at, message, help));
    }
    Ok(server)
}
