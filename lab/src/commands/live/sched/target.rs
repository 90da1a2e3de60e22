//! What a name means in a running system.

use crate::failure::{did_you_mean, usage};
use crate::live::{Domain, Entry, Picture, Reservation, Thread};
use anyhow::Result;

/// What is shown or changed.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// A reservation.
    Reservation(&'a Reservation),
    /// The first thread of a domain.
    Thread {
        /// The domain.
        domain: &'a Domain,
        /// The thread; none: it has ended.
        thread: Option<&'a Thread>,
        /// The slot by which it may be changed, if the control domain holds it.
        slot: Option<u32>,
    },
}

/// The reservation or the domain of this name, of which a prefix tells the kind.
pub fn find<'a>(name: &str, entry: &Entry, picture: &'a Picture) -> Result<Target<'a>> {
    let (kind, plain) = match name.split_once(':') {
        Some((kind @ ("thread" | "reservation"), plain)) => (kind, plain),
        _ => ("", name),
    };
    let reservation = picture.reservations.iter().find(|one| one.name == plain);
    if let Some(one) = reservation.filter(|_| kind != "thread") {
        return Ok(Target::Reservation(one));
    }
    let domain = picture.domains.iter().find(|domain| domain.name == plain);
    if let Some(domain) = domain.filter(|_| kind != "reservation") {
        let held = entry.held.iter().find(|held| !held.is_reservation && held.name == plain);
        let first = domain.threads.iter().min_by_key(|thread| thread.index);
        return Ok(Target::Thread { domain, thread: first, slot: held.map(|held| held.slot) });
    }
    let reservations = picture.reservations.iter().filter(|_| kind != "thread");
    let reservations = reservations.map(|one| one.name.as_str());
    let domains = picture.domains.iter().filter(|_| kind != "reservation");
    let names: Vec<&str> = reservations.chain(domains.map(|it| it.name.as_str())).collect();
    let what = match kind {
        "" => "reservation or domain",
        "thread" => "domain",
        kind => kind,
    };
    let hint = did_you_mean(plain, names.iter().copied());
    let system = &picture.system;
    Err(usage(format!("{system} has no {what} `{plain}`{hint}\n  `./giusto ps` lists them")))
}
