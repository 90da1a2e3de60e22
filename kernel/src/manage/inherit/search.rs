//! Whether a wait would close a ring: a search along waits, from the threads that are to be lent
//! to, for the one that is to wait. Only a thread that others wait for can close one.
//!
//! A search is O(1) a link, and there may be as many links as threads. So it polls for interrupts
//! on its way. The call that is issued again behind one goes on where it was, or from the start if
//! waits have changed meanwhile. Threads that were seen are marked, so that ways that meet again
//! are followed once. Other CPUs are not let in, since each of their changes would let it begin
//! again.

use crate::access::Ref;
use crate::manage::Manager;
use crate::object::Thread;
use crate::object::inherit::Turnstile;
use crate::port::Port;
use crate::waits::{Goal, Starts, Way};
use abi::Error;

/// Links between two polls for interrupts, of a way that does not branch.
const POLLED: u32 = 8;

/// How far a search has got.
enum Found<P: Port> {
    /// The goal is not there.
    Nothing,
    /// It is, and this thread is the first on the way that waits in a message.
    Ring(Option<Ref<Thread<P>>>),
    /// Not yet: an interrupt is pending.
    Pending,
}

impl<P: Port> Manager<'_, P> {
    /// Which of these threads are the goal, or wait for it, through others: a bit each. `None`: an
    /// interrupt is pending, and `me` is to ask again. With `cuts` the first wait in a message on
    /// such a way is passed over: it lends nothing from now on. What servers wait for behind that
    /// is not the caller's to end.
    #[inline(never)]
    pub(super) fn rings(
        &self,
        me: Ref<Thread<P>>,
        asks: (Starts<P>, Goal<P>),
        cuts: bool,
    ) -> Option<u8> {
        let waits = &self.kernel.waits;
        let search = &waits.search;
        if !search.goes_on(me, asks, waits.changes()) {
            search.begin(me, asks);
            if self.leaves_search() {
                return None;
            }
        }
        loop {
            let turn = search.turn.get();
            match self.search(asks.1) {
                Found::Ring(Some(first)) if cuts => {
                    self.stop_lending(first);
                    search.begin_turn(turn);
                    if self.leaves_search() {
                        return None;
                    }
                    continue;
                }
                Found::Ring(_) => search.found.set(search.found.get() | 1 << turn),
                Found::Nothing => {}
                Found::Pending => return None,
            }
            if turn + 1 >= asks.0.len() {
                search.end();
                return Some(search.found.get());
            }
            search.begin_turn(turn + 1);
            if asks.0[turn].is_some() && self.leaves_search() {
                return None;
            }
        }
    }

    /// Whether an interrupt cuts the search short. It goes on from there if no wait changes.
    fn leaves_search(&self) -> bool {
        let waits = &self.kernel.waits;
        waits.search.leave(waits.changes());
        self.makes_room()
    }

    /// Goes on from where the search is.
    fn search(&self, goal: Goal<P>) -> Found<P> {
        let search = &self.kernel.waits.search;
        let (mut next, mut message) = search.at.get();
        let mut links = 0;
        while let Some(at) = next {
            if goal.0 == Some(at) {
                return Found::Ring(message);
            }
            let waits = self.all.open(at).inherit.waits.get();
            if waits.is_some() && waits == goal.1 {
                return Found::Ring(message);
            }
            let turnstile = waits.map(|waits| self.turnstile(waits));
            if turnstile.is_some_and(|turnstile| !turnstile.has_words()) {
                message = message.or(Some(at));
            }
            let only = turnstile.and_then(|turnstile| turnstile.only.get());
            next = only.filter(|to| self.is_new(*to));
            links += 1;
            if next.is_none() {
                turnstile.into_iter().for_each(|turnstile| self.branch(turnstile, message));
                (next, message) = self.next_branch();
                links = POLLED;
            }
            if links == POLLED {
                links = 0;
                search.at.set((next, message));
                if self.leaves_search() {
                    return Found::Pending;
                }
            }
        }
        Found::Nothing
    }

    /// All that the waiters in a turnstile lend to are to be looked at, unless they are already.
    #[cold]
    #[inline(never)]
    fn branch(&self, turnstile: &Turnstile<P>, message: Option<Ref<Thread<P>>>) {
        let search = &self.kernel.waits.search;
        for to in turnstile.lent_to().filter(|to| self.is_new(*to)) {
            let searched = &self.all.open(to).inherit.searched;
            searched.message.set(message);
            searched.next.set(search.rest.replace(Some(to)));
        }
    }

    /// Whether a thread was not to be looked at so far. It is from now on.
    fn is_new(&self, at: Ref<Thread<P>>) -> bool {
        let number = self.kernel.waits.search.number.get();
        self.all.open(at).inherit.searched.number.replace(number) != number
    }

    /// Where another branch begins, and the first wait in a message on the way there.
    fn next_branch(&self) -> Way<P> {
        let search = &self.kernel.waits.search;
        let Some(next) = search.rest.get() else { return (None, None) };
        let searched = &self.all.open(next).inherit.searched;
        search.rest.set(searched.next.take());
        (Some(next), searched.message.take())
    }

    /// Whether `me` may wait for what `owner` owns. False: not known yet, an interrupt is pending.
    ///
    /// # Errors
    ///
    /// [`Error::Deadlock`]: `owner` waits, through others, for `me`, or is that.
    pub(super) fn may_wait(
        &self,
        me: Ref<Thread<P>>,
        owner: Ref<Thread<P>>,
    ) -> Result<bool, Error> {
        if me != owner && !self.all.open(me).inherit.is_awaited() {
            return Ok(true);
        }
        let asks = ([Some(owner), None, None, None], (Some(me), None));
        match self.rings(me, asks, true) {
            None => Ok(false),
            Some(0) => Ok(true),
            Some(_) => Err(Error::Deadlock),
        }
    }
}
