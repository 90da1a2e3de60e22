//! Starting, stopping and changing threads.

use super::capabilities::slot;
use super::create::checked_priority;
use super::futex::identity;
use super::{Done, Manager};
use crate::access::Ref;
use crate::object::thread::{State, flag};
use crate::object::{Domain, Thread};
use crate::port::{Context, Port};
use crate::tree::Home;
use abi::Error;
use abi::call::{ThreadState, exchange};
use abi::futex::Scope;

impl<P: Port> Manager<'_, P> {
    pub(super) fn resume(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Done, Error> {
        let at = self.thread(own, slot)?;
        let thread = self.all.open(at);
        // One that is about to end by a fault goes on with that: it stands at 0, where nothing is.
        let ends = thread.context.position().0 == 0;
        thread.clear(flag::SUSPENDED | if ends { 0 } else { flag::ENDED });
        self.make_ready(at);
        Ok(Done::Nothing)
    }

    pub(super) fn suspend(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Done, Error> {
        let at = self.thread(own, slot)?;
        self.halt(at);
        Ok(Done::Nothing)
    }

    pub(super) fn set_priority(
        &self,
        own: Ref<Domain<P>>,
        slot: u32,
        priority: u64,
    ) -> Result<Done, Error> {
        let at = self.thread(own, slot)?;
        let own_limit = self.all.open(self.home_of(at)).max_priority.get();
        let limit = self.all.open(own).max_priority.get().min(own_limit);
        let priority = checked_priority(priority, limit)?;
        let priority = i16::from(priority);
        if self.all.open(at).base_priority.get() == priority {
            return Ok(Done::Nothing);
        }
        if self.makes_room() {
            return Ok(Done::Preempted);
        }
        self.change_priority(at, priority);
        Ok(Done::Nothing)
    }

    pub(super) fn exchange(&self, own: Ref<Domain<P>>, args: &[u64; 6]) -> Result<Done, Error> {
        let at = self.thread(own, slot(args[0])?)?;
        let thread = self.all.open(at);
        let [_, instruction, stack, argument, pointer, mask] = *args;
        let known = exchange::INSTRUCTION
            | exchange::STACK
            | exchange::ARGUMENT
            | exchange::THREAD
            | exchange::CANCEL;
        if mask & !known != 0 {
            return Err(Error::InvalidArgument);
        }
        if (mask & exchange::INSTRUCTION != 0 && instruction >= P::USER_TOP)
            || (mask & exchange::STACK != 0 && stack >= P::USER_TOP)
            || (mask & exchange::THREAD != 0 && pointer >= P::USER_TOP)
        {
            return Err(Error::BadAddress);
        }
        // One that another CPU has stopped may make this very call still: its results would be
        // those of the call by which it has come where it is.
        if !thread.has(flag::SUSPENDED) || at == self.cpu.current.get() {
            return Err(Error::WrongState);
        }
        let cancels = mask & exchange::CANCEL != 0 && thread.state.get() != State::Ready;
        if !self.is_off_cpu(at) || (cancels && self.makes_room()) {
            return Ok(Done::Preempted);
        }
        if P::TRAINS && thread.inside.get().is_some() {
            // What it is in the midst of is another domain's: it comes out first.
            if mask & exchange::CANCEL == 0 {
                return Err(Error::WrongState);
            }
            if !self.bring_home(at, Error::Cancelled) {
                return Ok(Done::Preempted);
            }
        }
        if thread.state.get() != State::Ready {
            if mask & exchange::CANCEL == 0 && mask != 0 {
                return Err(Error::WrongState);
            }
            if mask & exchange::CANCEL != 0 {
                self.cancel(at, Error::Cancelled);
            }
        }
        self.end_change(at);
        let (old_instruction, old_stack) = thread.context.position();
        if mask & exchange::INSTRUCTION != 0 {
            thread.context.set_instruction(instruction);
        }
        if mask & exchange::STACK != 0 {
            thread.context.set_stack(stack);
        }
        if mask & exchange::ARGUMENT != 0 {
            thread.context.set_argument(argument);
        }
        if mask & exchange::THREAD != 0 {
            thread.context.set_thread_pointer(pointer);
        }
        Ok(Done::Values(old_instruction, old_stack))
    }

    /// Makes a thread run on another CPU (S1-05).
    pub(super) fn migrate(
        &self,
        own: Ref<Domain<P>>,
        slot: u32,
        number: u64,
    ) -> Result<Done, Error> {
        let at = self.thread(own, slot)?;
        self.check_cpu(number)?;
        let allowed = self.all.open(own).cpus.get();
        if allowed & self.all.open(self.home_of(at)).cpus.get() & 1 << number == 0 {
            return Err(Error::CpuNotAllowed);
        }
        let number = number as u32;
        if P::SMP && self.cpu_of(at).number != number {
            // What any CPU may run goes where the scheduler takes it.
            let home = self.kernel.trees.home_of(self.all.open(at).reservation.get(&self.all));
            if P::TREE && home.is_some_and(|home| home != Home::Cpu(number)) {
                return Err(Error::CpuNotAllowed);
            }
            self.move_to(at, number);
        }
        Ok(Done::Nothing)
    }

    pub(super) fn inspect_thread(&self, own: Ref<Domain<P>>, slot: u32) -> Result<Done, Error> {
        let at = self.thread(own, slot)?;
        let priority = self.all.open(at).base_priority.get() as u64;
        let mut id = 0;
        // What other domains know it by is nothing to the caller.
        if P::FUTEXES && self.domain_of(at) == own {
            let number = identity::where_it_is(self.kernel, &self.all, at);
            id = identity::id_told(self.kernel, Scope::Domain, own, number);
        }
        Ok(Done::Values(self.state_of(at) as u64, priority | u64::from(id) << 32))
    }

    /// A thread's state, for people.
    pub(super) fn state_of(&self, at: Ref<Thread<P>>) -> ThreadState {
        let thread = self.all.open(at);
        match thread.has(flag::SUSPENDED) {
            true => ThreadState::Suspended,
            false => thread.state.get().shown(),
        }
    }
}
