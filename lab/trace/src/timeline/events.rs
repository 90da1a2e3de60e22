//! The list of notable events below the drawing.

use super::{Window, axis};
use crate::lives::Lives;
use crate::{Entry, Moment, Names, Trace, Waits, What};
use abi::Error;
use abi::trace::{Event, NO_THREAD, Way, point};
use std::collections::HashMap;

/// A kind of notable event and when it happened.
struct Notable {
    sentence: String,
    first: u64,
    last: u64,
    count: u64,
}

/// The notable events of a window, with the time of the first of each kind.
pub(super) fn list(
    trace: &Trace,
    names: &Names,
    lives: &Lives,
    window: Window,
    most: usize,
) -> String {
    if most == 0 {
        return String::new();
    }
    let notable = notable(trace, names, lives, window);
    let mut text = String::new();
    for Notable { sentence, first, last, count } in notable.iter().take(most) {
        text += &format!("{:>14}  {sentence}", axis::time(*first));
        if *count > 1 {
            text += &format!(" (x{count}, last at {})", axis::time(*last));
        }
        text.push('\n');
    }
    match notable.len().saturating_sub(most) {
        0 => text,
        1 => text + &format!("{:>14}  1 more kind of notable event\n", "..."),
        others => text + &format!("{:>14}  {others} more kinds of notable event\n", "..."),
    }
}

/// Events that read the same are one kind.
fn notable(trace: &Trace, names: &Names, lives: &Lives, window: Window) -> Vec<Notable> {
    let mut notable: Vec<Notable> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    // Threads that boot makes are no news.
    let mut booted = false;
    let waits = Waits::of(trace, lives);
    for (index, moment) in trace.moments.iter().enumerate() {
        booted |= matches!(moment.event, Event::Enter | Event::Exit);
        let boots = moment.event == Event::Thread && !booted;
        if boots || !(window.from..=window.to).contains(&moment.ns) {
            continue;
        }
        let name = |thread: u16| names.thread(lives, thread, index);
        let about = waiting((names, lives, &waits), (index, moment));
        let Some(sentence) = about.or_else(|| sentence(moment, name)) else { continue };
        match places.get(&sentence) {
            Some(&place) => {
                notable[place].last = moment.ns;
                notable[place].count += 1;
            }
            None => {
                places.insert(sentence.clone(), notable.len());
                let (first, last) = (moment.ns, moment.ns);
                notable.push(Notable { sentence, first, last, count: 1 });
            }
        }
    }
    notable
}

/// What a moment says of who waits for whom, and of whose priority runs.
fn waiting(
    (names, lives, waits): (&Names, &Lives, &Waits),
    (index, moment): (usize, &Moment),
) -> Option<String> {
    let name = |thread: u16| names.thread(lives, thread, index);
    let who = name(moment.thread);
    match moment.event {
        Event::Wait => {
            waits.begins(index)?;
            // Further helpers have records behind this one.
            let chain = waits.words(lives, names, moment.thread, index)?;
            Some(format!("{who} waits for {chain}"))
        }
        Event::Wake => {
            let wait = waits.ends(moment.thread, index)?;
            let by = wait.ended_by.filter(|_| wait.what != What::Answer)?;
            let what = names.what(lives, (moment.thread, index), wait.what);
            Some(format!("{} ends the wait of {who} for {what}", name(by)))
        }
        Event::Reserve if moment.extra == 0 => {
            let on = names.on(lives, lives.at(moment.thread, index)?, index);
            let place = names.place_of(on).unwrap_or("its priority".to_string());
            Some(format!("{who} runs on {place} from now on"))
        }
        Event::Priority => {
            let lender = name(waits.lender(lives, moment.thread, index)?.thread);
            Some(format!("{who} runs with the priority of {lender}, {}", moment.extra))
        }
        _ => None,
    }
}

/// What happened, if it is notable.
fn sentence(moment: &Moment, name: impl Fn(u16) -> String) -> Option<String> {
    let Moment { thread, argument, extra, .. } = *moment;
    Some(match moment.event {
        Event::Donate => {
            format!("{} runs on the time of {}", name(thread), name(argument as u16))
        }
        Event::Expire if thread == NO_THREAD => "a timer expires".to_string(),
        Event::Expire => format!("a deadline of {} passes", name(thread)),
        Event::Fault => format!("{} faults, kind {argument}", name(thread)),
        Event::Fail => format!("a call of {} fails: {}", name(thread), error_name(argument, extra)),
        Event::LookUp if argument > 0 => {
            format!("a look-up finds {} and drops {argument} on the way", name(thread))
        }
        Event::Preempt => {
            let waits = if extra == 1 { "an interrupt waits" } else { "no interrupt waits" };
            format!("preemption point in a {}: {waits}", point_name(argument))
        }
        Event::Chain => format!("a chain of transfers reaches {}", name(thread)),
        Event::Priority => format!("{} has priority {extra}", name(thread)),
        Event::Thread => match name(thread).rsplit_once('/') {
            Some((domain, _)) => format!("a thread of {domain} is made"),
            None => return None,
        },
        Event::Domain => format!("{} makes a domain", name(thread)),
        Event::Ipi => format!("CPU {} sends an IPI to CPU {argument}", moment.cpu),
        Event::Lock if argument > 0 => match Way::of(extra).1 {
            None => format!("CPU {} has waited for the lock", moment.cpu),
            Some(last) => format!("CPU {} has waited for the lock of CPU {last}", moment.cpu),
        },
        Event::Undone => format!("a transaction of CPU {} is undone", moment.cpu),
        Event::Mark => format!("{} marks {argument}", name(thread)),
        Event::Enter => match Entry::from_code(argument) {
            irq @ Entry::Irq(_) => irq.to_string(),
            spurious @ Entry::Spurious => format!("{spurious} interrupt"),
            _ => return None,
        },
        _ => return None,
    })
}

/// The error of a call that fails, and in which half.
pub(crate) fn error_name(code: u32, in_receive: u16) -> String {
    let error = u8::try_from(code).ok().and_then(Error::from_code);
    let name = error.map_or_else(|| format!("error {code}"), |error| format!("{error:?}"));
    if in_receive == 0 { name } else { format!("{name}, in its receive half") }
}

/// What long work is at a preemption point.
pub(crate) fn point_name(code: u32) -> String {
    match code {
        point::LAZY_DEQUEUE => "lazy dequeue".to_string(),
        point::CHAIN => "chain".to_string(),
        point::CALL => "long call".to_string(),
        point::RECEIVE => "receive".to_string(),
        point::EXPIRY => "deadline".to_string(),
        point::DECISION => "decision".to_string(),
        point::HALVES => "halves".to_string(),
        _ => format!("work {code}"),
    }
}
