//! Copies of capabilities: rights only shrink, badges are minted once.

use super::{objects, threads};
use crate::support::board::whole;
use crate::support::host::Host;
use abi::{Error, Kind, Rights};
use kernel::object::capability::{Cap, Capability};
use kernel::object::{Endpoint, Notification};
use proptest::prelude::*;

/// What a capability should be.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Model {
    kind: Kind,
    rights: u8,
    badge: u64,
}

impl Model {
    fn copy(self, limit: u8, badge: u64) -> Result<Model, Error> {
        let mintable = matches!(self.kind, Kind::Endpoint | Kind::Notification);
        if self.kind == Kind::Reply || self.rights & Rights::COPY.0 == 0 {
            return Err(Error::MissingRight);
        }
        let badge = match (self.badge, badge) {
            (old, 0) => old,
            _ if !mintable => return Err(Error::WrongKind),
            (0, new) => new,
            _ => return Err(Error::InvalidArgument),
        };
        Ok(Model { rights: self.rights & limit, badge, ..self })
    }
}

fn make(kind: Kind, rights: Rights) -> Option<Capability<Host>> {
    Some(match kind {
        Kind::Endpoint => Capability::Endpoint(Cap::new(objects(1, Endpoint::new)[0], rights, 0)),
        Kind::Notification => {
            Capability::Notification(Cap::new(objects(1, Notification::new)[0], rights, 0))
        }
        Kind::Thread => Capability::Thread(Cap::new(threads(1)[0], rights, 0)),
        Kind::Reply => Capability::Reply(Cap::new(threads(1)[0], rights, 0)),
        Kind::Console => Capability::Console(rights),
        Kind::System => Capability::System(rights),
        _ => return None,
    })
}

fn seen(capability: Capability<Host>) -> Model {
    let (rights, badge) = capability.inspect().expect("not stale");
    Model { kind: capability.kind().expect("not empty"), rights: rights.0, badge }
}

proptest! {
    #[test]
    fn copies_never_gain(
        kind in prop::sample::select(Kind::ALL.to_vec()),
        rights in 0..64_u8,
        copies in prop::collection::vec((0..64_u8, 0..3_u64), 0..6),
    ) {
        let Some(mut capability) = make(kind, Rights(rights | Rights::COPY.0)) else {
            return Ok(());
        };
        let mut model = Model { kind, rights: rights | Rights::COPY.0, badge: 0 };
        for (limit, badge) in copies {
            let copy = capability.copy(Rights(limit), badge);
            let expected = model.copy(limit, badge);
            prop_assert_eq!(copy.map(seen), expected);
            let (Ok(copy), Ok(expected)) = (copy, expected) else { continue };
            prop_assert_eq!(expected.rights & !model.rights, 0, "a copy gained a right");
            (capability, model) = (copy, expected);
        }
    }

    #[test]
    fn revoking_leaves_one_capability(limit in 0..64_u8) {
        let owner = make(Kind::Endpoint, Rights::ALL).expect("an endpoint");
        let copy = owner.copy(Rights(limit), 5).expect("copies");
        let renewed = owner.revoke(&whole()).expect("may revoke");
        prop_assert_eq!(copy.inspect(), Err(Error::Stale));
        prop_assert_eq!(owner.inspect(), Err(Error::Stale));
        prop_assert_eq!(renewed.inspect(), Ok((Rights::ALL, 0)));
        prop_assert_eq!(copy.revoke(&whole()).map(seen), Err(Error::Stale));
        let weak = renewed.copy(Rights(limit & !Rights::REVOKE.0), 0).expect("copies");
        prop_assert_eq!(weak.revoke(&whole()).map(seen), Err(Error::MissingRight));
    }
}
