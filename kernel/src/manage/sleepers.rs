//! What sleeps on a reservation that has become more urgent: the deadlines of its threads become so
//! behind the change, one by one. The change only begins the walk over all threads; what its caller
//! issues next is [`Call::TimeoutsFollow`], which makes it, with polls between the steps. Whoever
//! changes something while a walk is under way goes on with that, so no deadline waits for a caller
//! that has left its own undone.

use super::{Done, Manager};
use crate::port::Port;
use abi::Error;
use abi::call::Call;
use policies::tree::NodeId;

impl<P: Port> Manager<'_, P> {
    /// Makes a change of a node. If the node is more urgent then, the deadlines of its threads
    /// become so behind it. An error changes nothing.
    pub(super) fn change_with_sleepers(
        &self,
        node: NodeId,
        change: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Done, Error> {
        let (trees, threads) = (&self.kernel.trees, self.kernel.threads.size());
        let before = trees.urgency_of_instants(node);
        change()?;
        if trees.urgency_of_instants(node) > before {
            trees.walk.begin(threads);
        }
        let is_over = trees.walk.left() == 0;
        Ok(if is_over { Done::Nothing } else { Done::Rest(Call::TimeoutsFollow, threads.into()) })
    }

    /// Makes at most so many steps of the walk.
    pub(super) fn timeouts_follow(&self, steps: u64) -> Done {
        let (walk, threads) = (&self.kernel.trees.walk, &self.kernel.threads);
        for made in 1..=steps {
            let Some(next) = walk.step(threads.size()) else { break };
            threads.get(next).into_iter().for_each(|at| self.sleep_anew(at));
            if made < steps && walk.left() > 0 && self.preempted() {
                return Done::Rest(Call::TimeoutsFollow, steps - made);
            }
        }
        Done::Nothing
    }
}
