//! What clients can ask.

use abi::supervision::{CHILD_BADGE, Reason};
use service::Badge;
use supervision::{Child, Name, Refused, State, Supervision};

use crate::{Failure, Supervisor};

impl Supervisor {
    /// The child of this name, if the client may name one.
    fn named(&self, who: Badge, name: Name) -> Result<usize, Refused> {
        if who.0 & CHILD_BADGE != 0 {
            return Err(Refused::NotAllowed);
        }
        let mut names = self.maker.children().map(|child| Name::from_words(child.name));
        names.position(|known| known == name).ok_or(Refused::Unknown)
    }
}

impl Supervision for Supervisor {
    fn child(&mut self, who: Badge, number: u32) -> Result<Child, Refused> {
        if who.0 & CHILD_BADGE != 0 {
            return Err(Refused::NotAllowed);
        }
        let number = number as usize;
        let child = self.maker.child(number).ok_or(Refused::Unknown)?;
        // The first time is no restart.
        let restarts = self.restarts[number].saturating_sub(1);
        let state = self.policy.state(number);
        Ok(Child { name: Name::from_words(child.name), state, restarts })
    }

    fn restart(&mut self, who: Badge, name: Name) -> Result<(), Refused> {
        let child = self.named(who, name)?;
        if !self.policy.can_be_up(child) {
            return Err(Refused::DependencyDown);
        }
        let affected = self.policy.affected(child);
        self.take_away(affected);
        self.policy.mark_down(child, State::Waiting);
        self.policy.forgive(child);
        let set = self.policy.revive(child);
        self.maker.renew(set);
        self.make(set);
        self.tell(affected);
        match self.policy.state(child) {
            State::Up => Ok(()),
            _ => Err(Refused::NotMade),
        }
    }

    fn kill(&mut self, who: Badge, name: Name) -> Result<(), Refused> {
        let child = self.named(who, name)?;
        self.fail(child, Failure::because(Reason::Asked));
        Ok(())
    }

    fn stop(&mut self, who: Badge, name: Name) -> Result<(), Refused> {
        let child = self.named(who, name)?;
        let affected = self.policy.affected(child);
        self.take_away(affected);
        self.policy.mark_down(child, State::Stopped);
        self.tell(affected);
        Ok(())
    }
}
