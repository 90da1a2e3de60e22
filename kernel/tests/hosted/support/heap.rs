//! A look into heaps of senders.

use super::host::Host;
use kernel::access::Ref;
use kernel::object::{Endpoint, Thread};

/// The members of an endpoint's heap, in no order.
pub fn members(endpoint: &Endpoint<Host>) -> Vec<Ref<Thread<Host>>> {
    let mut members = Vec::new();
    let mut ahead = Vec::from_iter(endpoint.root.get());
    while let Some(at) = ahead.pop() {
        let node = at.node.open(endpoint);
        ahead.extend(node.child.get().into_iter().chain(node.next.get()));
        members.push(at);
        assert!(members.len() < 10_000, "a heap goes round in circles");
    }
    members
}

/// Checks links and order. Returns how many members there are.
pub fn consistent(endpoint: &Endpoint<Host>) -> usize {
    let key = |at: Ref<Thread<Host>>| (-at.priority.get(), at.node.open(endpoint).arrival.get());
    if let Some(root) = endpoint.root.get() {
        let node = root.node.open(endpoint);
        assert!(node.back.get().is_none() && node.next.get().is_none(), "a root with siblings");
    }
    let members = members(endpoint);
    for at in &members {
        let mut before = *at;
        let mut child = at.node.open(endpoint).child.get();
        while let Some(member) = child {
            assert!(member.node.open(endpoint).back.get() == Some(before), "a heap's links differ");
            assert!(key(*at) < key(member), "a thread above one that is to be served before it");
            (before, child) = (member, member.node.open(endpoint).next.get());
        }
    }
    members.len()
}
