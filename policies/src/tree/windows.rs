//! Windows one by one.

use super::{NodeId, Tree, TreeError};
use abi::reservation::{Policy, Window};

impl Tree<'_> {
    /// Gives a class of time partitions one window more, behind the last.
    ///
    /// # Errors
    /// [`TreeError::NoSuchNode`]: it is no such class. [`TreeError::InvalidParameter`]: there are
    /// too many, it is too short, or the frame would be too long.
    pub fn add_window(&mut self, at: NodeId, window: Window, now: u64) -> Result<(), TreeError> {
        let node = self.nodes.get(at.index()).ok_or(TreeError::NoSuchNode)?;
        let frame = self.frames.get(node.frame as usize);
        match (node.policy(), frame) {
            (Some(Policy::Partitions), Some(frame)) => {
                let longer = frame.with(window)?;
                self.set_frame(at, longer, now)
            }
            _ => Err(TreeError::NoSuchNode),
        }
    }
}
