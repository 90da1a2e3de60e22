//! What domains, threads and other objects are called.

use crate::lives::{Life, Lives};
use crate::waits::{self, What};
use crate::{Reservation, Timing};

/// What the trace does not say: the names of objects, and threads whose introduction is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The manifest's domains in its order. Domain 0 of the kernel is not among them.
    pub domains: Vec<String>,
    /// The manifest's endpoints in its order, which are the first ones of the kernel.
    pub endpoints: Vec<String>,
    /// Its notifications, likewise.
    pub notifications: Vec<String>,
    /// Threads that exist from boot on, for traces that have lost their introductions.
    pub threads: Vec<Introduction>,
    /// The manifest's reservations in its order, each behind its class.
    pub reservations: Vec<Reservation>,
    /// By domain of the manifest, the reservation that its threads run on.
    pub leaves: Vec<Option<usize>>,
    /// What programs keep mutexes and conditions in.
    pub places: Vec<Place>,
    /// Jobs of threads of the manifest's domains.
    pub timings: Vec<Timing>,
}

/// Memory with a name in the address space of a domain: a shared memory, or a static variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The domain's place in the manifest.
    pub domain: usize,
    /// Its first address.
    pub address: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// What it is called.
    pub name: String,
}

/// What the trace says of a new thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Introduction {
    /// The thread's index.
    pub thread: u16,
    /// The index of its domain: 0 is the kernel's, `i + 1` the manifest's `i`-th.
    pub domain: u32,
    /// Its priority.
    pub priority: u16,
}

impl Names {
    /// Names for the manifest's domains.
    pub fn of<S: Into<String>>(domains: impl IntoIterator<Item = S>) -> Names {
        Names { domains: domains.into_iter().map(Into::into).collect(), ..Names::default() }
    }

    /// What the manifest says of the jobs of a life.
    pub(crate) fn timing(&self, life: &Life) -> Option<&Timing> {
        let domain = life.domain?.checked_sub(1)? as usize;
        let is_its = |timing: &&Timing| match &timing.thread {
            Some(name) => life.name.as_ref() == Some(name),
            None => life.number == 1,
        };
        self.timings.iter().filter(|timing| timing.domain == domain).find(is_its)
    }

    /// The name of an endpoint, given by its index. Those that programs make have none.
    pub(crate) fn endpoint(&self, index: u32) -> String {
        named(&self.endpoints, index)
    }

    /// The name of a notification, likewise.
    pub(crate) fn notification(&self, index: u32) -> String {
        named(&self.notifications, index)
    }

    /// What a thread waits for at a moment: a mutex or condition by the memory that it is in.
    pub(crate) fn what(&self, lives: &Lives, (thread, moment): (u16, usize), what: What) -> String {
        let What::Words(kind, low) = what else { return what.to_string() };
        let domain = lives.at(thread, moment).and_then(|life| lives.all[life].domain);
        let domain = domain.and_then(|domain| domain.checked_sub(1));
        match domain.and_then(|domain| self.at(domain as usize, low)) {
            Some((name, 0)) => format!("{} {name}", waits::noun(kind)),
            Some((name, offset)) => format!("{} {name}+{offset:#x}", waits::noun(kind)),
            None => what.to_string(),
        }
    }

    /// The place in a domain that the low half of an address lies in, if it is one alone, and how
    /// far from its beginning.
    fn at(&self, domain: usize, low: u32) -> Option<(&str, u32)> {
        let offset = |place: &Place| {
            let offset = low.wrapping_sub(place.address as u32);
            (place.domain == domain && u64::from(offset) < place.bytes).then_some(offset)
        };
        let mut found =
            self.places.iter().filter_map(|place| Some((place.name.as_str(), offset(place)?)));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    /// The name of a domain, given by its index.
    pub fn domain(&self, index: u32) -> String {
        match index.checked_sub(1) {
            None => "kernel".to_string(),
            Some(place) => match self.domains.get(place as usize) {
                Some(name) => name.clone(),
                None => format!("domain-{index}"),
            },
        }
    }

    /// The name of the thread that has an index at a moment: `client/1`.
    pub(crate) fn thread(&self, lives: &Lives, thread: u16, moment: usize) -> String {
        match lives.at(thread, moment) {
            Some(life) => self.life(lives, life),
            None if thread == abi::trace::NO_THREAD => "no thread".to_string(),
            None => unknown(thread),
        }
    }

    /// The name of one life of a thread.
    pub(crate) fn life(&self, lives: &Lives, life: usize) -> String {
        let idles = lives.idles(lives.all[life].thread);
        let life = &lives.all[life];
        match life.domain {
            _ if idles == Some(0) => "idle".to_string(),
            _ if idles.is_some() => format!("idle {}", life.thread),
            Some(domain) => {
                let domain = self.domain_of(lives, life).unwrap_or_else(|| self.domain(domain));
                match &life.name {
                    Some(name) => format!("{domain}/{name}"),
                    None => format!("{domain}/{}", life.number),
                }
            }
            None => unknown(life.thread),
        }
    }

    /// The name of a life's domain, or its number, if a program has made it: behind the name of the
    /// manifest's domain that it is in.
    pub(crate) fn domain_of(&self, lives: &Lives, life: &Life) -> Option<String> {
        let (outermost, name) = lives.made(life)?;
        let outermost = self.domain(outermost.into());
        Some(match name {
            Some(name) => format!("{outermost}/{name}"),
            None => format!("{outermost}/#{}", life.domain?),
        })
    }
}

/// An object's name, or its number if it has none.
fn named(names: &[String], index: u32) -> String {
    names.get(index as usize).cloned().unwrap_or_else(|| index.to_string())
}

fn unknown(thread: u16) -> String {
    format!("thread-{thread}")
}
