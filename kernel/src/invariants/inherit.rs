//! What holds of inheriting mutexes, conditions and messages, whatever programs have written: each
//! thread's effective priority is what follows from who waits for it, no wait leads back to where
//! it began, and turnstiles are neither lost nor shared.

use super::trains::home;
use super::{live, tally};
use crate::access::{Exclusive, Life, Ref};
use crate::events::Machine;
use crate::manage::inherit::to_do;
use crate::object::inherit::{ByEdge, ByFollower, ByWaiter, Kind, Turnstile};
use crate::object::thread::{State, Wait, flag};
use crate::object::{Activation, Domain, Endpoint, Pooled, Thread};
use crate::order::Order;
use crate::port::Port;

/// What was counted.
#[derive(Default)]
struct Found {
    waiters: u32,
    turnstiles: u32,
    /// Edges of turnstiles, and members of the sets of what leads to a thread.
    edges: [u32; 2],
}

pub(super) fn check<P: Port>(machine: Machine<P>, all: &Exclusive<'_>) {
    let threads = &machine.kernel.threads;
    let mut found = Found::default();
    let mut waiting = 0;
    for at in (0..threads.size()).filter_map(|index| threads.get(index)) {
        let inherit = &all.open(at).inherit;
        let waits = inherit.waits.get();
        waiting += u32::from(waits.is_some());
        found.turnstiles += u32::from(waits.is_none());
        let bare = waits.is_none() && !inherit.is_awaited();
        assert!(bare || at.life() != Life::Vacant, "a destroyed thread waits, or is waited for");
        if waits.is_none()
            && let Some(spare) = inherit.brings.get()
        {
            let used = all.open(spare).inherit.turnstile.waiters.get().is_some();
            assert!(!used, "a thread brings a turnstile that is in use");
        }
        match inherit.turnstile.waiters.get() {
            Some(_) => turnstile(machine, all, at, &mut found),
            None => unused(&inherit.turnstile),
        }
    }
    let mut followers = 0u32;
    let root = &machine.kernel.waits.followers;
    Order::<_, ByFollower>::of(all, ByFollower).each(root, &mut |at: Ref<Thread<P>>| {
        let what = all.open(at).inherit.to_do.get();
        let lives = at.life() != Life::Vacant || what & !to_do::DESCRIBED == 0;
        assert!(lives, "a destroyed thread is to follow a change");
        followers += 1;
    });
    let slots = (0..threads.size()).filter_map(|index| threads.get(index));
    let follows = slots.filter(|at| all.open(*at).inherit.follows());
    let marked = follows.count() as u32;
    assert!(marked == followers, "a thread is to follow a change, and not listed");
    highest(machine, all);
    let mut lent = 0;
    for at in live(threads) {
        thread(machine, all, at, &mut found);
        no_ring(all, at, at.index(), threads.size());
        lent += u32::from(is_lent(machine, all, at));
    }
    servers(machine, all);
    let counted = machine.kernel.trees.lent_to();
    assert!(lent + followers == counted, "lent leaves are counted wrongly");
    assert!(found.waiters == waiting, "a waiter is in no turnstile's set");
    assert!(found.turnstiles == threads.size(), "a turnstile is lost, or there twice");
    assert!(found.edges[0] == found.edges[1], "a turnstile leads to a thread that ignores it");
}

/// The one CPU looks for threads up to the urgency of what is to be followed, or is to decide.
fn highest<P: Port>(machine: Machine<P>, all: &Exclusive<'_>) {
    let followers = Order::<_, ByFollower>::of(all, ByFollower);
    let first = followers.first(&machine.kernel.waits.followers);
    let (cpu, urgency) = (machine.cpu, first.map_or(-1, |first| followers.key(first).into()));
    assert!(urgency <= machine.kernel.waits.urgency(), "followers are more urgent than is known");
    let bounded = P::SMP || machine.kernel.variant.tree || cpu.resched.get();
    assert!(bounded || urgency <= cpu.highest.get(), "followers are above what a CPU looks for");
}

/// A turnstile in which no thread waits.
fn unused<P: Port>(turnstile: &Turnstile<P>) {
    let edges = ByEdge::all().any(|which| turnstile.edge(which).to.get().is_some());
    let mutex = matches!(turnstile.kind.get(), Kind::Mutex);
    let leads = turnstile.leading.get() != 0 || turnstile.only.get().is_some();
    let bare = !edges && !leads && mutex;
    assert!(bare, "what no thread waits for leads to threads");
}

/// A turnstile in which threads wait.
fn turnstile<P: Port>(
    machine: Machine<P>,
    all: &Exclusive<'_>,
    at: Ref<Thread<P>>,
    found: &mut Found,
) {
    let turnstile = &all.open(at).inherit.turnstile;
    let waiters = Order::<_, ByWaiter>::of(all, ByWaiter);
    let (mut named, mut greatest, mut count) = (false, 0, 0);
    let mut domain = None;
    waiters.each(&turnstile.waiters, &mut |waiter: Ref<Thread<P>>| {
        let body = all.open(waiter);
        let key = waiters.key(waiter);
        count += 1;
        named |= turnstile.named.get() == Some(waiter);
        greatest = key.max(greatest);
        waits_for(all, waiter, turnstile);
        assert!(body.inherit.waits.get() == Some(at), "a waiter in another turnstile");
        let here = *domain.get_or_insert(body.domain.get());
        let one = here == body.domain.get() || !turnstile.has_words();
        assert!(one, "waiters of two domains");
        let follows = machine.kernel.variant.tree || body.inherit.follows();
        let listed = follows || i16::from(key) == body.priority.get();
        assert!(listed, "a waiter is listed by another priority than it has");
    });
    assert!(named == turnstile.has_words(), "words were to name a thread that does not wait there");
    let first = waiters.first(&turnstile.waiters).map(|first| waiters.key(first));
    assert!(first == Some(greatest), "a waiter goes before a more urgent one");
    for which in ByEdge::all() {
        let edge = turnstile.edge(which);
        let Some(to) = edge.to.get() else { continue };
        found.edges[0] += 1;
        let key = if edge.lends.get() { greatest } else { 0 };
        let listed = Order::<_, ByEdge>::of(all, which).key(at) == key;
        let listed = listed || all.open(at).inherit.to_do.get() & to_do::ORDER != 0;
        assert!(listed, "a turnstile is listed by another priority than it lends");
        let same = ByEdge::all().filter(|other| turnstile.edge(*other).to.get() == Some(to));
        assert!(same.count() == 1, "a thread helps a condition twice");
        if turnstile.has_words() {
            let visit = turnstile.visit.get();
            let stays = domain.is_some_and(|domain| stays_in(all, (to, visit), domain));
            assert!(stays, "an owner or helper has left the domain");
            assert!(visit.is_none() || which == ByEdge::OWNER, "a helper on a visit");
        }
    }
    messages(all, at, count);
    if !turnstile.branches() {
        let owner = turnstile.edge(ByEdge::OWNER);
        assert!(owner.lent_to().is_some(), "an awaited mutex without an owner");
        let edges = ByEdge::all().filter(|which| turnstile.edge(*which).to.get().is_some());
        assert!(edges.count() == 1, "a mutex has two owners");
    }
    let there = |which: &ByEdge| turnstile.edge(*which).to.get().is_some();
    let marked = |which: &ByEdge| turnstile.leading.get() >> which.index() & 1 != 0;
    let right = ByEdge::all().all(|which| there(&which) == marked(&which));
    assert!(right, "an edge is marked that leads nowhere, or is not marked");
    let first = turnstile.edge(ByEdge::OWNER).lent_to();
    let only = first.filter(|_| turnstile.leading.get() == 1);
    assert!(only == turnstile.only.get(), "waiters lend to another thread along the short way");
    found.waiters += count;
    found.turnstiles += 1;
    let mut spare = turnstile.spare.get();
    while let Some(next) = spare {
        found.turnstiles += 1;
        count -= 1;
        assert!(count > 0, "more spare turnstiles than waiters");
        spare = all.open(next).inherit.turnstile.spare.get();
    }
}

fn thread<P: Port>(
    machine: Machine<P>,
    all: &Exclusive<'_>,
    at: Ref<Thread<P>>,
    found: &mut Found,
) {
    let thread = all.open(at);
    let mut urgency = thread.base_priority.get().max(thread.inherit.ceiling.get());
    for which in ByEdge::all() {
        let lenders = Order::<_, ByEdge>::of(all, which);
        lenders.each(thread.inherit.lenders(which), &mut |lender: Ref<Thread<P>>| {
            let turnstile = &all.open(lender).inherit.turnstile;
            found.edges[1] += 1;
            assert!(turnstile.edge(which).to.get() == Some(at), "an edge to another thread");
            owned_on_a_visit(all, at, lender);
            urgency = i16::from(lenders.key(lender)).max(urgency);
        });
    }
    let follows = thread.inherit.follows();
    if thread.inherit.waits.get().is_some() {
        let key = i16::from(Order::<_, ByWaiter>::of(all, ByWaiter).key(at));
        let listed = key == urgency || follows || machine.kernel.trees.may_lend();
        assert!(listed, "a waiter is listed by what it should not have");
    }
    let effective = thread.priority.get() == urgency || follows;
    assert!(effective || machine.kernel.variant.tree, "a thread has not what it inherits");
}

/// A waiter is blocked in what its turnstile describes.
fn waits_for<P: Port>(all: &Exclusive<'_>, waiter: Ref<Thread<P>>, turnstile: &Turnstile<P>) {
    let body = all.open(waiter);
    let waits = match turnstile.kind.get() {
        Kind::Mutex | Kind::Condition(_) => body.state.get() == State::Waiting,
        Kind::Endpoint(at) => {
            let there = matches!(body.wait.get(), Wait::Endpoint(other) if other == at);
            body.state.get() == State::Sending && there
        }
        Kind::Reply => body.state.get() == State::Calling,
    };
    assert!(waits, "a thread is listed for something that it does not wait for");
    let lends = body.has(flag::LENDS) != turnstile.has_words();
    assert!(lends, "a thread that lends for a message is not marked, or another one is");
}

/// A turnstile of messages, where this many threads wait.
fn messages<P: Port>(all: &Exclusive<'_>, at: Ref<Thread<P>>, count: u32) {
    let turnstile = &all.open(at).inherit.turnstile;
    match turnstile.kind.get() {
        Kind::Mutex | Kind::Condition(_) => {}
        Kind::Endpoint(endpoint) => {
            let endpoint = all.open(endpoint);
            assert!(endpoint.turnstile.get() == Some(at), "an endpoint does not know its senders");
            for which in ByEdge::all() {
                let edge = turnstile.edge(which);
                let Some(to) = edge.to.get() else { continue };
                assert!(edge.lends.get(), "a server is passed over");
                let serves = endpoint.server(which) == Some(to) || to.life() == Life::Dying;
                assert!(serves, "senders lend to a thread that does not serve the endpoint");
            }
        }
        Kind::Reply => {
            assert!(count == 1, "two threads wait for one answer");
            let caller = turnstile.waiters.get().map(|caller| all.open(caller));
            let server = caller.and_then(|caller| caller.server.get());
            let saved = server.is_none();
            let right = saved || server == turnstile.owner().map(|(server, _)| server);
            assert!(right, "a caller lends to another thread than its server");
        }
    }
}

/// A thread serves as many endpoints as say so, and is marked for it. An endpoint without senders
/// that lend has no turnstile.
fn servers<P: Port>(machine: Machine<P>, all: &Exclusive<'_>) {
    let kernel = machine.kernel;
    let endpoints = || live(&kernel.endpoints).map(|at| all.open(at));
    let served = |found: &mut dyn FnMut(Ref<Thread<P>>, u64)| {
        endpoints().flat_map(Endpoint::servers).for_each(|server| found(server, 1));
    };
    for endpoint in endpoints() {
        let once = |server| endpoint.servers().filter(|other| *other == server).count() == 1;
        assert!(endpoint.servers().all(once), "a thread serves an endpoint twice");
    }
    tally(&kernel.threads, served, |at, count| {
        if at.life() != Life::Live {
            return;
        }
        let thread = all.open(at);
        assert!(u64::from(thread.inherit.serves.get()) == count, "served endpoints are miscounted");
        let lends = !kernel.variant.tree || kernel.trees.may_lend();
        let marked = thread.has(flag::SERVES) == (count > 0 && lends);
        assert!(marked, "a server is not marked, or another thread is");
        let listed = thread.inherit.waits.get().is_some();
        assert!(listed || !thread.has(flag::LENDS), "a thread lends to none");
    });
    for turnstile in endpoints().filter_map(|endpoint| endpoint.turnstile.get()) {
        let kind = all.open(turnstile).inherit.turnstile.kind.get();
        assert!(matches!(kind, Kind::Endpoint(_)), "an endpoint's turnstile is another's");
    }
}

/// A thread that is queued in this leaf may be there, and in no less urgent one than it should; or
/// it is to change its leaf, behind nothing that is less urgent than both. The priorities of
/// reservations change otherwise.
pub(super) fn queued_in<P: Port>(
    machine: Machine<P>,
    all: &Exclusive<'_>,
    (thread, at): (Ref<Thread<P>>, u32),
) {
    let trees = &machine.kernel.trees;
    let followers = Order::<_, ByFollower>::of(all, ByFollower);
    let followed =
        followers.first(&machine.kernel.waits.followers).map(|first| followers.key(first));
    let key = |leaf| match trees.is_shared(leaf) {
        true => u8::MAX,
        false => trees.urgency_of(leaf).clamp(0, u8::MAX.into()) as u8,
    };
    let may = trees.may_use(all, thread, at) || followed >= Some(key(at));
    assert!(may, "a thread runs on time that is not its own or its caller's");
    let uses = trees.leaf_of(all, thread);
    let compares = trees.is_plain(at) && (trees.is_plain(uses) || trees.is_shared(uses));
    let behind = compares && key(at) < key(uses) && followed < Some(key(uses));
    assert!(!behind, "a thread waits in a less urgent leaf than it should be in");
}

/// Whether a thread is lent a leaf: what one lends it that waits for what it owns or helps, while
/// any does on its CPU.
fn is_lent<P: Port>(machine: Machine<P>, all: &Exclusive<'_>, at: Ref<Thread<P>>) -> bool {
    let (trees, lent) = (&machine.kernel.trees, at.lent.get(all));
    let is_here = at.away.get(all).is_none() && !at.stands_by();
    assert!(at.queued() || is_here, "away or standing by, and not ready");
    // A thread that any CPU may run takes the name along; it is of no use on another one.
    let (lent_here, mut lender) = (trees.lent_leaf(all, at), false);
    for which in ByEdge::all() {
        let lenders = Order::<_, ByEdge>::of(all, which);
        lenders.each(all.open(at).inherit.lenders(which), &mut |mutex: Ref<Thread<P>>| {
            let turnstile = &all.open(mutex).inherit.turnstile;
            let waiters = Order::<_, ByWaiter>::of(all, ByWaiter);
            if !turnstile.edge(which).lends.get() {
                return;
            }
            waiters.each(&turnstile.waiters, &mut |waiter: Ref<Thread<P>>| {
                let leaves = [Some(trees.own_leaf_of(all, waiter)), trees.lent_leaf(all, waiter)];
                let here = |leaf| trees.lent_from(all, (leaf, waiter.cpu.get()), at);
                let mut here = leaves.into_iter().flatten().map(here);
                lender |= here.any(|leaf| leaf == lent_here);
            });
        });
    }
    let is_lent = !lent.is_none();
    // Those that are to follow a change of waits have what was lent before.
    let there = lent_here.is_some() && !machine.kernel.waits.has_followers();
    assert!(!there || lender, "a thread is lent a leaf that no waiter has");
    is_lent
}

/// No way along waits from a thread has more than so many links, so none leads back to where it
/// began. Threads before `first` are known to be on none that does.
fn no_ring<P: Port>(all: &Exclusive<'_>, at: Ref<Thread<P>>, first: u32, links: u32) {
    assert!(links > 0, "waits lead back to where they began");
    let Some(waits) = all.open(at).inherit.waits.get() else { return };
    for to in all.open(waits).inherit.turnstile.lent_to().filter(|to| to.index() >= first) {
        no_ring(all, to, first, links - 1);
    }
}

/// A mutex that its owner owns on a visit is in the list of that, and of none else.
fn owned_on_a_visit<P: Port>(all: &Exclusive<'_>, owner: Ref<Thread<P>>, mutex: Ref<Thread<P>>) {
    let visit = all.open(mutex).inherit.turnstile.visit.get();
    let mut visits = 0;
    if let Some(visit) = visit {
        assert!(all.open(visit).thread.get() == Some(owner), "a mutex of another thread's visit");
        all.open(visit).owned.each(|other| visits += u32::from(other == mutex));
    }
    assert!((visits > 0) == visit.is_some(), "a visit does not know its mutex");
}

/// Whether a thread is in a domain, or comes back to it, at home or on this visit.
fn stays_in<P: Port>(
    all: &Exclusive<'_>,
    (at, visit): (Ref<Thread<P>>, Option<Ref<Activation<P>>>),
    domain: Ref<Domain<P>>,
) -> bool {
    let Some(visit) = visit else { return home(all, at) == domain };
    let mut inside =
        core::iter::successors(all.open(at).inside.get(), |at| all.open(*at).outer.get());
    all.open(visit).owner().get() == Some(domain) && inside.any(|at| at == visit)
}
