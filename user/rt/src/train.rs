//! Trains (S4-10, S4-11): functions that threads of other domains run here, on stacks of this
//! domain, with their own priority and time.
//!
//! ```no_run
//! use rt::train::{self, Entry, Train, Visitor};
//! use rt::{Env, Slot, Wait, Words};
//!
//! struct Sum;
//! impl Entry for Sum {
//!     type Question = [u64; 4];
//!     type Answer = [u64; 4];
//!     fn enter(_visitor: Visitor, numbers: [u64; 4]) -> [u64; 4] {
//!         [numbers.iter().sum(), 0, 0, 0]
//!     }
//! }
//!
//! fn serve(env: &Env, slot: Slot, stacks: Words) {
//!     train::export::<Sum>(env, slot, stacks, 4, 0).unwrap();
//! }
//!
//! fn ask(slot: Slot) -> u64 {
//!     let sums = Train::<[u64; 4], [u64; 4]>::new(slot);
//!     sums.call([1, 2, 3, 4], Wait::NEVER).unwrap()[0]
//! }
//! ```

use crate::arch::{self, ANY, word};
use crate::noted;
use crate::shared::Words;
use crate::{Env, Slot, Wait};
use abi::Error;
use abi::call::Call;
use abi::train::{ALIGNMENT, number};
use core::marker::PhantomData;

/// Who has entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// The badge of the capability that it has entered by.
    pub badge: u64,
    /// What the train was exported with.
    pub argument: u64,
    /// The address of the program's environment.
    pub(crate) environment: u64,
}

impl Visitor {
    /// The environment of the program that is visited. Reading it takes a search for its end.
    pub fn env(&self) -> Env {
        Env::at(self.environment)
    }
}

/// What threads of other domains run here.
pub trait Entry {
    /// What they bring.
    type Question: From<[u64; 4]>;
    /// What they take back.
    type Answer: Into<[u64; 4]>;
    /// Runs on a stack of the train, at the visitor's priority, while other visitors may run it on
    /// others. It has no message buffer.
    fn enter(visitor: Visitor, question: Self::Question) -> Self::Answer;
}

/// A handler without its types.
pub type Handler = fn(Visitor, [u64; 4]) -> [u64; 4];

/// Words in front of the stacks that say what visitors run: function, environment and argument.
pub(crate) const RECORD_WORDS: usize = 4;

#[inline(always)]
pub(crate) fn run<E: Entry>(visitor: Visitor, words: [u64; 4]) -> [u64; 4] {
    E::enter(visitor, words.into()).into()
}

/// Makes a train in an empty slot, with so many stacks (1 to [`STACKS`](abi::train::STACKS)) of
/// equal size, which nothing else may use as long as the train exists. Its first words are used for
/// what the train needs itself. `argument` is the handler's.
///
/// # Errors
///
/// [`Error::InvalidArgument`]: there are too many stacks, or too few words for them; those of an
/// object that is created: quotas, [`Error::SlotOccupied`]. [`Error::UnknownCall`]: the kernel has
/// no trains.
pub fn export<E: Entry>(
    env: &Env,
    slot: Slot,
    stacks: Words,
    count: u64,
    argument: u64,
) -> Result<(), Error> {
    let bytes = 8 * stacks.len().saturating_sub(RECORD_WORDS + 1) as u64;
    let base = (stacks.address() + 8 * RECORD_WORDS as u64).next_multiple_of(ALIGNMENT);
    let size = bytes.checked_div(count).map_or(0, |size| size / ALIGNMENT * ALIGNMENT);
    if size == 0 {
        return Err(Error::InvalidArgument);
    }
    stacks.set(0, arch::visitor::<E>());
    stacks.set(1, env.address());
    stacks.set(2, argument);
    let a = [slot.word(), arch::train_entry(), stacks.address(), base, size, count];
    let outcome = arch::syscall(Call::TrainCreate as u64, a.map(word), arch::words([]));
    noted::result(outcome.status, Call::TrainCreate, [slot.word(), count, 0])
}

/// A train that this domain may enter, with what is brought and what is taken back.
#[derive(Clone, Copy, Debug)]
pub struct Train<Q, A>(Slot, PhantomData<fn(Q) -> A>);

impl<Q: Into<[u64; 4]>, A: From<[u64; 4]>> Train<Q, A> {
    /// The train in a slot.
    pub const fn new(slot: Slot) -> Train<Q, A> {
        Train(slot, PhantomData)
    }

    /// Its slot.
    pub fn slot(&self) -> Slot {
        self.0
    }

    /// Enters, and comes back with the answer. The limit is that of the wait for a stack.
    ///
    /// # Errors
    ///
    /// As [`call`].
    #[inline(always)]
    pub fn call(&self, question: Q, wait: Wait) -> Result<A, Error> {
        call(self.0, question.into(), wait).map(A::from)
    }
}

/// Enters by the train in a slot with four words, and comes back with others. The send half of the
/// limit is that of the wait for a stack.
///
/// # Errors
///
/// Nothing was entered: [`Error::Timeout`], [`Error::Cancelled`]; [`Error::WrongState`]: the thread
/// holds a reply right; [`Error::TooDeep`]; and those of a capability that does not do. It came
/// back without an answer: [`Error::Faulted`]; [`Error::Destroyed`]: the train, or the domain, has
/// ended.
#[inline(always)]
pub fn call(slot: Slot, words: [u64; 4], wait: Wait) -> Result<[u64; 4], Error> {
    let a = [word(slot.word()), ANY, word(wait.deadline), ANY, ANY, ANY];
    let outcome = arch::syscall(number(wait.send), a, arch::words(words));
    noted::result(outcome.status, Call::TrainCall, [slot.word(), 0, 0])?;
    Ok(outcome.words)
}
