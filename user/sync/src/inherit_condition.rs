//! Conditions whose waiters lend their priority to those that can make them true (S2G-02, S2G-03).

use crate::futex::{Futex, first};
use crate::{InheritGuard, ThreadId};
use rt::futex::{self, HELPERS, Scope};
use rt::{Error, Wait, Words};

/// A thread that may help conditions of its domain: its id there, which it may pass to others in a
/// word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelperId(u32);

impl HelperId {
    /// The thread with this number, which [`HelperId::number`] has given.
    pub const fn from_number(number: u32) -> HelperId {
        HelperId(number)
    }

    /// Its number: never 0, and another one than that of any other thread of the domain that has
    /// not ended.
    pub const fn number(self) -> u32 {
        self.0
    }
}

impl ThreadId {
    /// The calling thread as a helper.
    pub fn helper(self) -> HelperId {
        HelperId(self.of(Scope::Domain))
    }
}

/// A condition variable of one domain with a set of *helpers*: threads that can make it true. While
/// threads wait, each helper runs with the highest of their priorities, and so does the owner of
/// what a helper waits for. Of those that wait the one with the highest priority is woken first.
/// Threads wait for it and wake others while they own its [`InheritMutex`](crate::InheritMutex),
/// which is the same for all.
#[derive(Clone, Copy)]
pub struct InheritCondition {
    futex: Futex,
    words: Words,
}

/// The word that counts the threads between the beginning and the end of a wait, which the mutex
/// protects: without any, no system call is made for a wake-up.
const WAITING: usize = 1;
/// The first word with helpers, two in each; 0 stands for none. The mutex protects them.
const FIRST_HELPERS: usize = 2;

impl InheritCondition {
    /// Words that it takes.
    pub const WORDS: usize = 4;
    /// How many helpers it may have.
    pub const HELPERS: usize = HELPERS;

    /// The condition in the words from `index` on. Those of a new one, which has no helper, are 0.
    ///
    /// # Panics
    ///
    /// If there are not so many words.
    pub fn new(words: Words, index: usize) -> InheritCondition {
        let words = words.part(index, InheritCondition::WORDS);
        InheritCondition { futex: Futex::new(words, 0, Scope::Domain), words }
    }

    /// A thread of this domain helps the condition from now on (S2G-02), also for those that wait
    /// already, until [`InheritCondition::helpers_del`] or its end.
    ///
    /// # Errors
    ///
    /// [`Error::Stale`]: no thread of the domain has this id, or it has ended;
    /// [`Error::HelpsAlready`]; [`Error::TooManyHelpers`]: it has [`InheritCondition::HELPERS`]
    /// that have not ended.
    /// [`Error::BrokenQueue`], [`Error::BadAddress`]: a program has written over the words.
    pub fn helpers_add(&self, guard: &InheritGuard<'_>, helper: HelperId) -> Result<(), Error> {
        let mut helpers = self.helpers(guard);
        if helper.0 == 0 {
            return Err(Error::Stale);
        }
        if helpers.contains(&helper.0) {
            return self.tell(helper.0, true).and(Err(Error::HelpsAlready));
        }
        let free = match helpers.iter().position(|id| *id == 0) {
            Some(free) => free,
            None => {
                // One that has ended leaves its place to the next.
                let ended = |id: &u32| self.tell(*id, true) == Err(Error::Stale);
                helpers.iter().position(ended).ok_or(Error::TooManyHelpers)?
            }
        };
        self.change(helper.0, true)?;
        helpers[free] = helper.0;
        self.set_helpers(helpers);
        Ok(())
    }

    /// A thread no longer helps the condition: it loses what the waiting threads have lent it.
    ///
    /// # Errors
    ///
    /// [`Error::NoHelper`]: it does not help it. [`Error::BrokenQueue`], [`Error::BadAddress`]: a
    /// program has written over the words.
    pub fn helpers_del(&self, guard: &InheritGuard<'_>, helper: HelperId) -> Result<(), Error> {
        let mut helpers = self.helpers(guard);
        let place = helpers.iter().position(|id| *id == helper.0 && *id != 0);
        let place = place.ok_or(Error::NoHelper)?;
        match self.change(helper.0, false) {
            // It has ended, and so helps nothing.
            Ok(()) | Err(Error::Stale | Error::NoHelper) => {}
            failed => return failed,
        }
        helpers[place] = 0;
        self.set_helpers(helpers);
        Ok(())
    }

    /// Gives up the mutex, waits for a wake-up, and owns the mutex again. It may come back without
    /// one, or behind an owner that has [ended](InheritGuard::owner_died), so callers look again.
    ///
    /// # Errors
    ///
    /// As for [`InheritCondition::wait_within`].
    pub fn wait(&self, guard: &mut InheritGuard<'_>) -> Result<(), Error> {
        self.wait_within(guard, Wait::NEVER)
    }

    /// [`InheritCondition::wait`] with a limit, that of a message's send half. It is a limit for
    /// the wake-up alone: the mutex is waited for behind it without one, and a thread that was
    /// woken in time does not see its limit pass.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`]: no wake-up came in time. [`Error::Cancelled`]: one that came meanwhile
    /// is used up. [`Error::OtherMutex`]: other threads wait with another mutex. In all these cases
    /// the mutex is owned again. [`Error::WrongState`]: an owner of the mutex has ended, as for
    /// [`InheritMutex::lock`](crate::InheritMutex::lock). [`Error::BrokenQueue`],
    /// [`Error::BadAddress`]: a program has written over the words, and the mutex may be lost.
    pub fn wait_within(&self, guard: &mut InheritGuard<'_>, wait: Wait) -> Result<(), Error> {
        let help = self.helpers(guard);
        let seen = first(self.futex.load());
        self.words.add(WAITING, 1);
        let ended = guard.wait_with(|mutex| {
            futex::inherit_cond_wait(self.futex.address, seen, mutex, wait, help)
        })?;
        self.words.add(WAITING, 1u64.wrapping_neg());
        match ended {
            // A wake-up came before the wait.
            Err(Error::Changed) => Ok(()),
            ended => ended,
        }
    }

    /// Waits as long as `so` holds of what the mutex protects.
    ///
    /// # Errors
    ///
    /// As for [`InheritCondition::wait_within`]; but if `so` does not hold any more when a limit
    /// ends the wait, that is no error. [`Error::WrongState`] also if the mutex is owned again, but
    /// behind an owner that has ended, so that `so` may say anything: only then
    /// [`InheritGuard::owner_died`] holds.
    pub fn wait_while(
        &self,
        guard: &mut InheritGuard<'_>,
        wait: Wait,
        so: impl Fn(&Words) -> bool,
    ) -> Result<(), Error> {
        while so(guard) {
            match self.wait_within(guard, wait) {
                Ok(()) | Err(Error::Timeout | Error::Cancelled) if guard.owner_died() => {
                    return Err(Error::WrongState);
                }
                Err(Error::Timeout | Error::Cancelled) if !so(guard) => return Ok(()),
                ended => ended?,
            }
        }
        Ok(())
    }

    /// Wakes the thread with the highest priority of those that wait, if there is one: it waits for
    /// the mutex from now on, and lends the caller the priority that it has lent the helpers.
    ///
    /// # Errors
    ///
    /// [`Error::WrongState`]: the guard is of another mutex than the waiting threads use;
    /// [`Error::BrokenQueue`], [`Error::BadAddress`].
    pub fn notify_one(&self, guard: &InheritGuard<'_>) -> Result<(), Error> {
        self.notify(guard, false)
    }

    /// Wakes all threads that wait, in the order of their priorities: they own the mutex one after
    /// the other. The kernel moves one after the other, and takes interrupts in between.
    ///
    /// # Errors
    ///
    /// Those of [`InheritCondition::notify_one`].
    pub fn notify_all(&self, guard: &InheritGuard<'_>) -> Result<(), Error> {
        self.notify(guard, true)
    }

    /// Counts a wake-up and has the kernel do it. The guard says that no other thread counts.
    fn notify(&self, _guard: &InheritGuard<'_>, all: bool) -> Result<(), Error> {
        if self.words.get(WAITING) == 0 {
            return Ok(());
        }
        self.futex.count();
        futex::inherit_requeue(self.futex.address, all)
    }

    /// The ids of its helpers.
    fn helpers(&self, _guard: &InheritGuard<'_>) -> [u32; HELPERS] {
        rt::abi::futex::helpers_in([0, 1].map(|index| self.words.get(FIRST_HELPERS + index)))
    }

    fn set_helpers(&self, ids: [u32; HELPERS]) {
        let words = rt::abi::futex::helpers(ids);
        words
            .iter()
            .enumerate()
            .for_each(|(index, ids)| self.words.set(FIRST_HELPERS + index, *ids));
    }

    /// The same as [`InheritCondition::tell`], for threads that wait and for those between their
    /// unlock and their call: these have the helpers of before in mind, and come back.
    fn change(&self, helper: u32, helps: bool) -> Result<(), Error> {
        if self.words.get(WAITING) != 0 {
            self.futex.count();
        }
        self.tell(helper, helps)
    }

    /// Tells the kernel that a thread helps, or helps no longer.
    fn tell(&self, helper: u32, helps: bool) -> Result<(), Error> {
        futex::inherit_help(self.futex.address, helper, helps)
    }
}
