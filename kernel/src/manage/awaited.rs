//! What blocked threads wait for, for people.

use super::Manager;
use crate::access::Ref;
use crate::object::Thread;
use crate::object::thread::{State, Wait};
use crate::port::Port;
use crate::report::Names;
use abi::call::Awaited;

impl<P: Port> Manager<'_, P> {
    /// The names by which a thread is told.
    #[inline(always)]
    pub(crate) fn names(&self, at: Ref<Thread<P>>) -> Names {
        let domain = self.all.open(at).domain.get();
        let outermost = self.outermost(domain);
        let own = self.all.open(domain);
        let inner = (outermost != domain).then(|| own.name.get());
        (self.all.open(outermost).name.get(), inner, self.name_of(at))
    }

    /// What a thread waits for, as [`Awaited::word`] has it; 0 if it is ready. A few steps.
    pub(super) fn awaited(&self, at: Ref<Thread<P>>) -> u64 {
        let thread = self.all.open(at);
        let (what, which) = match thread.state.get() {
            State::Ready => return 0,
            State::Calling => {
                let server = thread.server.get().map(|server| server.index());
                (Awaited::Answer, server.map_or(0, |index| u64::from(index) + 1))
            }
            State::Waiting => match thread.inherit.waits.get() {
                Some(at) => (Awaited::Words, self.turnstile(at).address.get()),
                None => {
                    let target = thread.futex.target.get();
                    (Awaited::Words, target.condition.unwrap_or(target.mutex).at)
                }
            },
            State::Sending | State::Receiving => match thread.wait.get() {
                Wait::Nothing => (Awaited::Time, 0),
                Wait::Endpoint(at) => (Awaited::Endpoint, at.index().into()),
                Wait::Notification(at) => (Awaited::Notification, at.index().into()),
                Wait::Train(at) => (Awaited::Train, at.index().into()),
            },
        };
        what.word(which)
    }

    /// The names of a thread, and what it is doing: its state and what it waits for, as a row of
    /// the table of threads has them.
    pub fn doing(&self, at: Ref<Thread<P>>) -> (Names, u64) {
        (self.names(at), self.state_of(at) as u64 | self.awaited(at))
    }
}
