//! The windows of time partitions, laid out in their major frame.

use abi::reservation::{Policy, SHORTEST_WINDOW, Share, WINDOWS, Window};

use super::Draft;
use super::place::{Place, name};
use crate::problem::{Problem, Span, quote};
use crate::system::Reservation;
use crate::units::spell_duration;
use crate::values::Values;

/// A window as the manifest gives it.
struct Given {
    offset: u64,
    end: u64,
    partition: u16,
    owner: usize,
    at: Span,
}

/// Numbers the partitions of each class, the background partition 0 and the others from 1 on, and
/// lays out their windows, with windows of partition 0 between them.
pub fn lay_out(
    values: &Values,
    drafts: &[Draft],
    all: &mut [Reservation],
    problems: &mut Vec<Problem>,
) {
    for class in 0..all.len() {
        if all[class].policy != Some(Policy::Partitions) {
            continue;
        }
        match of_class(values, drafts, all, class) {
            Ok(windows) => all[class].windows = windows,
            Err(problem) => problems.push(problem),
        }
    }
}

/// Windows are of a CPU's time: a class that has some is in no other one, and no budget bounds it.
pub fn placed(values: &Values, draft: &Draft, place: &Place) -> Result<(), Problem> {
    if place.policy != Some(Policy::Partitions) {
        return Ok(());
    }
    let message = "windows are of a CPU's time";
    match (&draft.given.class, &draft.given.budget) {
        (Some(above), _) => {
            let message = format!("{message}, not of {}", quote(above.get_ref()));
            Err(values.problem(above, message, "leave `in` out, and give it a `priority`"))
        }
        (None, Some(budget)) => {
            let message = format!("{message}, and have no budget beside");
            Err(values.problem(budget, message, "leave it out: partitions may have one each"))
        }
        (None, None) => Ok(()),
    }
}

fn of_class(
    values: &Values,
    drafts: &[Draft],
    all: &mut [Reservation],
    class: usize,
) -> Result<Vec<Window>, Problem> {
    let Some(word) = &drafts[class].given.major_frame else { return Ok(Vec::new()) };
    let frame = values.duration(word, SHORTEST_WINDOW..=u64::MAX)?;
    let (mut next, mut background, mut given) = (1, None, Vec::new());
    for index in (0..all.len()).filter(|index| all[*index].class == Some(class)).collect::<Vec<_>>()
    {
        let own = drafts[index].given;
        let partition = match (&own.background, background) {
            (Some(flag), Some(other)) => {
                let other = quote(name(&drafts[other]));
                let message = format!("{other} is the background partition already");
                let help = "give this one `windows`, or put both into a class";
                return Err(values.problem(flag, message, help));
            }
            (Some(_), None) => {
                background = Some(index);
                0
            }
            (None, _) => {
                next += 1;
                next - 1
            }
        };
        if let Share::Partition { number, .. } = &mut all[index].share {
            *number = partition;
        }
        for window in own.windows.iter().flat_map(|windows| windows.get_ref()) {
            let at = window.span();
            let offset = values.duration(&window.get_ref().offset, 0..=frame)?;
            let duration = values.duration(&window.get_ref().duration, SHORTEST_WINDOW..=frame)?;
            let end = offset + duration;
            if end > frame {
                let [end, frame] = [end, frame].map(spell_duration);
                let message =
                    format!("the window ends at {end}, behind the major frame of {frame}");
                let help = "shorten the window, or lengthen `major_frame`";
                return Err(values.source.problem(&at, message, help));
            }
            given.push(Given { offset, end, partition, owner: index, at });
        }
    }
    given.sort_by_key(|window| (window.offset, window.end));
    joined(values, drafts, &given, frame, &drafts[class].at)
}

/// Windows in their order, with what is between them.
fn joined(
    values: &Values,
    drafts: &[Draft],
    given: &[Given],
    frame: u64,
    class: &Span,
) -> Result<Vec<Window>, Problem> {
    let mut windows: Vec<Window> = Vec::new();
    let mut before: Option<&Given> = None;
    let gap = |from: u64, to: u64, at: &Span| {
        if to == from || to - from >= SHORTEST_WINDOW {
            return Ok((to > from).then_some(Window { end: to, partition: 0 }));
        }
        let [gap, least] = [to - from, SHORTEST_WINDOW].map(spell_duration);
        let message = format!("{gap} beside this window belong to no partition, too short a time");
        let help = format!("leave nothing, or {least} at least");
        Err(values.source.problem(at, message, help))
    };
    for window in given {
        if let Some(before) = before.filter(|before| window.offset < before.end) {
            let other = quote(name(&drafts[before.owner]));
            let [from, to] = [before.offset, before.end].map(spell_duration);
            let message = format!("the window overlaps that of {other} from {from} to {to}");
            let help = format!("begin it at {to}, or shorten the other one");
            return Err(values.source.problem(&window.at, message, help));
        }
        windows.extend(gap(before.map_or(0, |before| before.end), window.offset, &window.at)?);
        windows.push(Window { end: window.end, partition: window.partition });
        before = Some(window);
    }
    match before {
        Some(last) => windows.extend(gap(last.end, frame, &last.at)?),
        None => windows.push(Window { end: frame, partition: 0 }),
    }
    if windows.len() > WINDOWS {
        let message = format!("{} windows are too many, gaps included", windows.len());
        let help = format!("a major frame has {WINDOWS} at most: join some");
        return Err(values.source.problem(class, message, help));
    }
    Ok(windows)
}
