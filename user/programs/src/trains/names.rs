//! Trains by name (S4-11): a server keeps capabilities to trains under names. Who exports a train
//! publishes it, and clients open it by its name when they need it.

use super::sums::{Exported, Numbers, Sum};
use abi::boot::name_words;
use rt::prelude::*;
use rt::train::{self, Train};
use rt::{Kind, OwnedSlot, Rights, Slot, SlotPool, Wait, signal, system};
use service::{Badge, CallError, Capability, Wire, service};

/// Names that there can be.
const MOST: usize = 8;

/// A name of at most 16 bytes, longer ones cut.
#[derive(Wire, Clone, Copy, Debug, PartialEq)]
pub struct Name {
    low: u64,
    high: u64,
}

impl Name {
    /// The name.
    pub fn new(name: &str) -> Name {
        let [low, high] = name_words(name);
        Name { low, high }
    }
}

/// Where trains have names. The manifest gives a client that may publish a capability with a badge,
/// and one that may only open a capability without. That one has not the right `copy`, with which
/// it could give itself a badge.
#[service]
pub trait Names {
    /// A train has this name from now on. [`Error::MissingRight`]: the client has no badge;
    /// [`Error::InvalidArgument`]: it is no train, or comes without the rights `send` and `copy`;
    /// [`Error::SlotOccupied`]: another one has the name; [`Error::QuotaExceeded`]: there is no
    /// room for another.
    fn publish(&mut self, by: Badge, name: Name, train: Capability) -> Result<(), Error>;
    /// A capability to the train with this name. [`Error::NoCapability`]: there is none;
    /// [`Error::Stale`]: it has ended.
    fn open(&mut self, name: Name) -> Result<Capability, Error>;
    /// No train has this name any more; those who have opened it keep it.
    /// [`Error::NoCapability`]: there is none; [`Error::MissingRight`]: another client's has.
    fn withdraw(&mut self, by: Badge, name: Name) -> Result<(), Error>;
}

/// A train that has a name.
struct Entry {
    name: Name,
    by: u64,
    train: OwnedSlot,
}

struct Server([Option<Entry>; MOST]);

impl Server {
    fn place(&mut self, name: Name) -> Option<&mut Option<Entry>> {
        self.0.iter_mut().find(|entry| entry.as_ref().is_some_and(|entry| entry.name == name))
    }
}

impl Names for Server {
    fn publish(&mut self, by: Badge, name: Name, train: Capability) -> Result<(), Error> {
        if by.0 == 0 {
            return Err(Error::MissingRight);
        }
        let train = train.into_slot().ok_or(Error::NoCapability)?;
        let came = rt::cap::inspect(train.slot())?;
        if came.kind != Kind::Train || !came.rights.contains(Rights::SEND | Rights::COPY) {
            return Err(Error::InvalidArgument);
        }
        // One that has ended leaves its name and its place.
        let ended = |entry: &Entry| rt::cap::inspect(entry.train.slot()) == Err(Error::Stale);
        let place = match self.place(name) {
            Some(place) if place.as_ref().is_some_and(ended) => place,
            Some(_) => return Err(Error::SlotOccupied),
            None => {
                let free = self.0.iter_mut().find(|entry| entry.as_ref().is_none_or(ended));
                free.ok_or(Error::QuotaExceeded)?
            }
        };
        *place = Some(Entry { name, by: by.0, train });
        Ok(())
    }

    fn open(&mut self, name: Name) -> Result<Capability, Error> {
        let entry = self.place(name).and_then(|place| place.as_ref());
        let slot = entry.ok_or(Error::NoCapability)?.train.slot();
        rt::cap::inspect(slot)?;
        Ok(Capability::grant(slot, Rights::SEND))
    }

    fn withdraw(&mut self, by: Badge, name: Name) -> Result<(), Error> {
        let place = self.place(name).ok_or(Error::NoCapability)?;
        if place.as_ref().is_some_and(|entry| entry.by != by.0) {
            return Err(Error::MissingRight);
        }
        *place = None;
        Ok(())
    }
}

/// The server of names: capability `names` (receive).
pub fn names(env: &Env) {
    let mut names = Server([const { None }; MOST]);
    let server = rt::Server::new(env.cap("names")).accepting(SlotPool::new(env), env.buffer(0));
    let why = server.run(|request| names.dispatch(request));
    panic!("no more names: {why:?}");
}

/// A client of the server of names that capability `names` leads to.
fn client_of(env: &Env) -> (NamesClient, SlotPool) {
    let pool = SlotPool::new(env);
    (NamesClient::new(env.cap("names")).accepting(pool, env.buffer(0)), pool)
}

/// Opens the train with a name. It is closed when the slot is dropped.
///
/// # Errors
///
/// Those of [`Names::open`], and of a message.
pub fn open<Q: Into<[u64; 4]>, A: From<[u64; 4]>>(
    names: &NamesClient,
    name: &str,
) -> Result<(OwnedSlot, Train<Q, A>), Error> {
    let opened = names.open(Name::new(name)).map_err(why)?;
    let slot = opened.into_slot().ok_or(Error::NoCapability)?;
    let train = Train::new(slot.slot());
    Ok((slot, train))
}

/// Why a call to the server has failed.
fn why(error: CallError<Error>) -> Error {
    match error {
        CallError::Ipc(error) | CallError::Server(error) => error,
        CallError::Unknown => Error::UnknownCall,
    }
}

/// Nanoseconds for which the train of sums exists.
const LIFE: u64 = 5_000_000;

/// Exports sums by the name `sums`, for a while: capability `names` with a badge; memory `stacks`.
pub fn exporter(env: &Env) {
    let (names, pool) = client_of(env);
    let (console, train) = (env.console(), pool.take());
    let made = train::export::<Exported>(env, train.slot(), env.mem("stacks"), 4, 0);
    let publish = |slot: Slot| {
        let granted = Capability::grant(slot, Rights::SEND | Rights::COPY);
        names.publish(Name::new("sums"), granted).map_err(why)
    };
    let (first, again) = (publish(train.slot()), publish(train.slot()));
    println!(console, "exporter: made {made:?}, published {first:?}, again {again:?}");
    let other = no_train(&pool);
    let refused = names.publish(Name::new("other"), Capability::grant(other.slot(), Rights::ALL));
    println!(console, "exporter: what is no train {:?}", refused.map_err(why));
    system::sleep(LIFE);
    let withdrawn = names.withdraw(Name::new("sums")).map_err(why);
    println!(console, "exporter: withdrawn {withdrawn:?}, deleted {:?}", train.destroy());
}

/// A capability that can be passed on, and is to no train.
fn no_train(pool: &SlotPool) -> OwnedSlot {
    let slot = pool.take();
    signal::create_notification(slot.slot()).expect("a notification");
    slot
}

/// Asks for a sum by name: capabilities `names` without a badge, `console` and `system`.
pub fn asker(env: &Env) {
    let (names, pool) = client_of(env);
    let console = env.console();
    let before = pool.taken();
    let opened = open::<Numbers, Sum>(&names, "sums");
    let Ok((slot, sums)) = opened else {
        println!(console, "asker: sums: {:?}", opened.map(drop));
        system::shutdown(env.cap("system"), 1).expect("the run ends");
        return;
    };
    let sum = || sums.call(Numbers([1, 2, 3, 4]), Wait::NEVER).map(|answer| answer.sum);
    let first = sum();
    let absent = open::<Numbers, Sum>(&names, "products").map(drop);
    let other = no_train(&pool);
    let forged = names.publish(Name::new("products"), Capability::grant(other.slot(), Rights::ALL));
    drop(other);
    let (forged, taken) = (forged.map_err(why), names.withdraw(Name::new("sums")).map_err(why));
    println!(console, "asker: sums {first:?}, products {absent:?}");
    println!(console, "asker: may publish {forged:?}, withdraw {taken:?}");
    system::sleep(2 * LIFE);
    let (late, closed) = (open::<Numbers, Sum>(&names, "sums").map(drop), sum());
    drop(slot);
    let left = pool.taken() - before;
    println!(console, "asker: later open {late:?}, call {closed:?}, slots left {left}");
    let right = first == Ok(10)
        && absent == Err(Error::NoCapability)
        && [forged, taken] == [Err(Error::MissingRight); 2]
        && late == Err(Error::NoCapability)
        && closed == Err(Error::Stale)
        && left == 0;
    system::shutdown(env.cap("system"), u64::from(!right)).expect("the run ends");
}
