//! What blocked threads wait for, for people.

use super::Manager;
use crate::access::{Life, Ref};
use crate::object::Thread;
use crate::object::thread::{State, Wait};
use crate::port::Port;
use abi::call::Awaited;
use abi::log::STUCK;

/// Threads that the console is told of.
const TOLD: u32 = 100;

impl<P: Port> Manager<'_, P> {
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

    /// Tells the console what each thread waits for, as nothing will end a wait: a line for each,
    /// with its state and that as a row of the table of threads has them.
    #[cold]
    #[inline(never)]
    pub(crate) fn tell_waits(&self) {
        let all = (1..=TOLD).map_while(|index| self.kernel.threads.get(index));
        for at in all.filter(|at| at.life() == Life::Live) {
            self.write_wait(at, self.state_of(at) as u64 | self.awaited(at));
        }
        self.kernel.port.console_write(STUCK.as_bytes());
        self.kernel.port.console_write(b"\n");
    }
}
