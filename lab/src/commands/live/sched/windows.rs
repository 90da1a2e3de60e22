//! Windows of a class of time partitions, as `sched` takes and shows them: for each
//! `PARTITION:OFFSET+DURATION`, with commas between.

use super::plan::Step;
use crate::failure::{did_you_mean, usage};
use crate::live::{Picture, Reservation};
use abi::control::Change;
use abi::reservation::{LONGEST, Policy, SHORTEST_WINDOW, Share, WINDOWS, Window, Windows};
use anyhow::Result;
use manifest::spell_duration;
use units::duration;

/// A window that was asked for.
struct Asked {
    offset: u64,
    end: u64,
    partition: u16,
    words: String,
}

/// The change that gives a class these windows and this frame; none if neither is asked for, or it
/// has them.
pub fn step(
    one: &Reservation,
    slot: u32,
    picture: &Picture,
    (windows, frame): (Option<&str>, Option<u64>),
) -> Result<Option<Step>> {
    let key = if windows.is_some() { "windows" } else { "major_frame" };
    if windows.is_none() && frame.is_none() {
        return Ok(None);
    }
    if one.policy != Some(Policy::Partitions) {
        let message = format!("`{key}` means nothing for {}", one.name);
        return Err(usage(format!("{message}: it is no class of time partitions")));
    }
    let old = Windows::new(&one.windows);
    let old = old.map_err(|_| usage(format!("nothing tells the windows of {}", one.name)))?;
    let length = old.list().last().map_or(0, |last| last.end);
    let asked = match windows {
        Some(text) => {
            text.split(',').map(|word| read(one, picture, word.trim())).collect::<Result<_>>()?
        }
        None => as_they_are(old.list()),
    };
    let new = joined(asked, frame.unwrap_or(length))?;
    let words = format!("{key} of {}", one.name);
    let [change, undo] = [new, old].map(|windows| Change::Windows { slot, windows });
    Ok((new != old).then_some(Step { change, undo, words }))
}

/// The windows without those that belong to no partition.
fn as_they_are(windows: &[Window]) -> Vec<Asked> {
    let mut offset = 0;
    let mut asked = Vec::new();
    for Window { end, partition } in windows.iter().copied() {
        let words = format!("the window from {}", spell_duration(offset));
        asked.push(Asked { offset, end, partition, words });
        offset = end;
    }
    asked.retain(|window| window.partition != 0);
    asked
}

/// One window.
fn read(one: &Reservation, picture: &Picture, word: &str) -> Result<Asked> {
    let form = || usage(format!("`{word}` is not PARTITION:OFFSET+DURATION, such as a:0ms+5ms"));
    let (name, span) = word.split_once(':').ok_or_else(form)?;
    let (offset, length) = span.split_once('+').ok_or_else(form)?;
    let offset = duration(offset).filter(|offset| *offset <= LONGEST).ok_or_else(form)?;
    let length = duration(length).filter(|length| *length <= LONGEST).ok_or_else(form)?;
    if length < SHORTEST_WINDOW {
        let least = spell_duration(SHORTEST_WINDOW);
        return Err(usage(format!("the window {word} is too short: {least} at least")));
    }
    let inside = |it: &&Reservation| it.class.as_ref() == Some(&one.name);
    let mut children = picture.reservations.iter().filter(inside);
    let found = children.clone().find(|child| child.name == name).and_then(|child| child.share);
    match found {
        Some(Share::Partition { number: 0, .. }) => {
            Err(usage(format!("{name} is the background partition, which has no windows")))
        }
        Some(Share::Partition { number, .. }) => {
            let words = format!("the window {word}");
            Ok(Asked { offset, end: offset + length, partition: number, words })
        }
        _ => {
            let names: Vec<&str> = children.by_ref().map(|child| child.name.as_str()).collect();
            let hint = did_you_mean(name, names.iter().copied());
            let class = &one.name;
            Err(usage(format!(
                "{class} has no partition `{name}`, only {}{hint}",
                names.join(", ")
            )))
        }
    }
}

/// The windows in their order, with what is between them.
fn joined(mut asked: Vec<Asked>, frame: u64) -> Result<Windows> {
    asked.sort_by_key(|window| window.offset);
    let (mut windows, mut end) = (Vec::new(), 0);
    for window in asked {
        let words = &window.words;
        if window.offset < end {
            return Err(usage(format!("{words} overlaps the one before it")));
        }
        if window.end > frame {
            let frame = spell_duration(frame);
            return Err(usage(format!("{words} ends behind the major frame of {frame}")));
        }
        gap(&mut windows, end, window.offset)?;
        windows.push(Window { end: window.end, partition: window.partition });
        end = window.end;
    }
    gap(&mut windows, end, frame)?;
    let count = windows.len();
    let many = || format!("{count} windows, gaps included, are too many: {WINDOWS} at most");
    Windows::new(&windows).map_err(|_| usage(many()))
}

/// Adds a window that belongs to no partition.
fn gap(windows: &mut Vec<Window>, from: u64, to: u64) -> Result<()> {
    if to > from && to - from < SHORTEST_WINDOW {
        let [from, to, least] = [from, to, SHORTEST_WINDOW].map(spell_duration);
        let message = format!("from {from} to {to} no partition has a window");
        return Err(usage(format!("{message}: leave no gap, or one of {least} at least")));
    }
    if to > from {
        windows.push(Window { end: to, partition: 0 });
    }
    Ok(())
}

/// What is set of a class's windows.
pub fn settings(one: &Reservation, picture: &Picture) -> Vec<(&'static str, String)> {
    let Some(last) = one.windows.last() else { return Vec::new() };
    let (mut offset, mut words) = (0, Vec::new());
    for window in &one.windows {
        let its = |it: &&Reservation| {
            let number = match it.share {
                Some(Share::Partition { number, .. }) => Some(number),
                _ => None,
            };
            it.class.as_ref() == Some(&one.name) && number == Some(window.partition)
        };
        let owner = picture.reservations.iter().find(its).map(|it| it.name.as_str());
        if window.partition != 0 {
            let [begin, length] = [offset, window.end.saturating_sub(offset)].map(spell_duration);
            words.push(format!("{}:{begin}+{length}", owner.unwrap_or("?")));
        }
        offset = window.end;
    }
    let frame = ("major_frame", spell_duration(last.end));
    if words.is_empty() { vec![frame] } else { vec![frame, ("windows", words.join(","))] }
}
