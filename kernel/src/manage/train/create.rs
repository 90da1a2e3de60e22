//! Making trains.

use crate::access::Ref;
use crate::manage::Manager;
use crate::manage::capabilities::slot;
use crate::object::capability::{Cap, Capability};
use crate::object::{Activation, Pooled, Thread, Train};
use crate::port::{Context, Port};
use abi::call::RESTARTED;
use abi::train::{ALIGNMENT, STACKS};
use abi::{Error, Rights, Status};

impl<P: Port> Manager<'_, P> {
    /// Makes a train of the caller's domain with stacks that lie next to each other there. What is
    /// mapped at its addresses shows when a thread runs there. O(stacks), which are few.
    #[inline(never)]
    pub(super) fn create_train(&self, me: Ref<Thread<P>>, args: &[u64; 6]) -> Result<(), Error> {
        let own = self.domain_of(me);
        let [to, entry, word, base, size, count] = *args;
        let to = slot(to)?;
        if count == 0 || count > STACKS || size == 0 || !size.is_multiple_of(ALIGNMENT) {
            return Err(Error::InvalidArgument);
        }
        let end = size.checked_mul(count).and_then(|bytes| base.checked_add(bytes));
        let inside = end.is_some_and(|end| end <= P::USER_TOP);
        if !inside || !base.is_multiple_of(ALIGNMENT) || entry >= P::USER_TOP {
            return Err(Error::BadAddress);
        }
        self.room(own, &self.kernel.trains, to)?;
        let domain = self.all.open(own);
        domain.quotas.check(<Activation<P> as Pooled<P>>::RESOURCE, count as u32)?;
        if self.makes_room() {
            let thread = self.all.open(me);
            thread.issue_again(thread.context.call().0 | RESTARTED, *args);
            return Ok(());
        }
        let at = self.kernel.trains.take(&self.all, Some(own));
        let train = self.all.open(at);
        train.entry.set(entry);
        train.word.set(word);
        train.free.set(None);
        for number in 0..count {
            let stack = self.kernel.activations.take(&self.all, Some(own));
            let activation = self.all.open(stack);
            activation.stack.set(base + (number + 1) * size);
            activation.train.set(Some(at));
            activation.next.set(train.free.replace(Some(stack)));
            train.stacks.push_back(stack);
        }
        domain.put_slowly(
            &self.all,
            to,
            Capability::Train(Cap::<Train<P>>::new(at, Rights::ALL, 0)),
        );
        self.all.open(me).finish(Status::OK);
        Ok(())
    }
}
