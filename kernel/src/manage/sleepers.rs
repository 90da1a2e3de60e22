//! What sleeps on a reservation that has become more urgent: the deadlines of its threads become so
//! behind the change, one by one, with polls between them. How far that has come is kept with the
//! reservation, so the call that is issued again goes on there, and a call that never is leaves
//! deadlines that are less urgent than their threads, and nothing else.

use super::{Done, Manager};
use crate::port::Port;
use abi::Error;
use policies::tree::NodeId;

impl<P: Port> Manager<'_, P> {
    /// Makes a change of a node, unless it stands already and deadlines still follow it. If the
    /// node is more urgent then, the deadlines of its threads become so. An error of the change
    /// changes nothing.
    pub(super) fn change_with_sleepers(
        &self,
        node: NodeId,
        stands: bool,
        change: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Done, Error> {
        let next = &self.kernel.trees.leaf(node.0).next_sleeper;
        let thread = || self.kernel.threads.get(next.get());
        if !stands || thread().is_none() {
            let before = self.kernel.trees.urgency_of_instants(node);
            change()?;
            if self.kernel.trees.urgency_of_instants(node) > before {
                next.set(0);
                if self.preempted() {
                    return Ok(Done::Preempted);
                }
            }
        }
        while let Some(at) = thread() {
            next.set(next.get() + 1);
            self.sleep_anew(at);
            if thread().is_some() && self.preempted() {
                return Ok(Done::Preempted);
            }
        }
        Ok(Done::Nothing)
    }
}
