//! Random programs that enter, return, wait, fault, and end what others are in, with interrupts at
//! random preemption points: every invariant holds behind each step.

use super::{TRAIN, create, enter, enter_until, grant, sleep};
use crate::support::board::Board;
use crate::support::context::Regs;
use crate::support::effort::{seeds, steps};
use crate::support::host::Host;
use crate::support::rng::Rng;
use crate::support::scene::{DOMAIN, ENDPOINT, FREE, THREAD, boot, buffer, call, receive, system};
use crate::support::seed::Seed;
use crate::support::state;
use abi::call::{Call, Timeout, exchange};
use abi::futex::{NO_CEILING, Scope, WAITERS, helpers, number};
use abi::message::FaultKind;
use abi::{Info, Rights};
use kernel::fault::Fault;
use kernel::port::Port as _;
use kernel::system::{DirectLazy, Fastpath, IpcHeap, Slowpath, StrictEager, System, Tree};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Threads in three domains. The last one lets the others go on.
const THREADS: [(u32, u8); 8] =
    [(1, 10), (1, 30), (2, 20), (2, 10), (3, 30), (3, 20), (1, 20), (1, 1)];
const KEEPER: u32 = THREADS.len() as u32;

/// What a run has come across.
#[derive(Default, Debug)]
struct Reach {
    entered: u64,
    returned: u64,
    deepest: u32,
    faulted: u64,
    destroyed: u64,
    waited: u64,
    /// Threads that own what others wait for, inside another domain than theirs.
    owned: u64,
    /// Those that have left with it, by a return or a fault.
    left: u64,
    /// Threads that wait for conditions inside another domain than theirs.
    awaiting: u64,
    /// Wake-ups from conditions.
    woken: u64,
}

/// Threads that wait for conditions.
fn in_conditions<S: System<Port = Host>>(board: &Board<S>) -> Vec<u32> {
    let waits = |thread: &u32| {
        let waits = board.thread(*thread).inherit.waits.get();
        waits.is_some_and(|at| board.thread(at.index()).inherit.turnstile.is_condition())
    };
    (1..=KEEPER).filter(waits).collect()
}

fn act<S: System<Port = Host>>(board: &Board<S>, rng: &Rng, me: u32) -> Regs {
    let domain = rng.below(3) + 1;
    let thread = THREAD + 1 + rng.below(u64::from(KEEPER) - 1);
    if me == KEEPER {
        return match rng.below(3) {
            0 => system(Call::ThreadSuspend, &[thread]),
            1 => system(Call::ThreadExchange, &[thread, 0x5000, 0, 0, 0, exchange::CANCEL | 1]),
            _ => system(Call::ThreadResume, &[thread]),
        };
    }
    let train = TRAIN + domain;
    match rng.below(49) {
        0..14 => enter(domain, [rng.next(); 4]),
        14..17 => {
            let kind = rng.pick(&[Timeout::Zero, Timeout::At]);
            enter_until(domain, kind, board.host.now() + rng.below(1_000_000))
        }
        17..24 => super::back(rng.next(), [rng.next(); 4]),
        24..26 => {
            let own = u64::from(board.thread(me).domain.get().index());
            create(own, rng.below(3) + 1)
        }
        26..29 => {
            let own = u64::from(board.thread(me).domain.get().index());
            grant(DOMAIN + rng.below(3), own, Rights::ALL)
        }
        29 if !rng.once_in(3) => system(Call::Destroy, &[train]),
        29 if rng.once_in(3) => system(rng.pick(&[Call::CapRevoke, Call::CapDelete]), &[train]),
        29 => system(Call::ThreadSuspend, &[thread]),
        30..34 => system(Call::ThreadResume, &[thread]),
        34 => system(Call::ThreadExchange, &[thread, 0x5000, 0, 0, 0, exchange::CANCEL | 1]),
        35 => system(Call::ThreadPriority, &[thread, rng.below(40)]),
        36 if rng.once_in(12) => system(Call::Destroy, &[thread]),
        36 if rng.once_in(24) => system(Call::Destroy, &[DOMAIN + 1 + rng.below(2)]),
        36 => system(Call::CapSaveReply, &[FREE + rng.below(4)]),
        37 => call(ENDPOINT, Info::new(0, 1)),
        38 => receive(ENDPOINT),
        39 => sleep(board.host.now() + rng.below(2_000_000)),
        40..46 => lock(board, rng, me),
        46 => {
            let word = rng.pick(&[NO_CEILING, NO_CEILING, 15, 25, 35]);
            Regs::call(number(Call::Ceiling, Scope::Domain, Timeout::Never), &[word])
        }
        _ => condition(board, rng, me),
    }
}

/// The address of a pair of words of a domain, and what it holds.
fn pair<S: System<Port = Host>>(board: &Board<S>, domain: u32, word: usize) -> (u64, u64) {
    let holder = [1, 3, 5][domain as usize - 1];
    (buffer(holder.into()) + 8 * word as u64, board.read(holder, word))
}

/// The running thread waits for a condition of the domain that it is in, wakes others there as the
/// owner of their mutex, or says who helps.
fn condition<S: System<Port = Host>>(board: &Board<S>, rng: &Rng, me: u32) -> Regs {
    let kernel = board.machine.kernel;
    let at = kernel.threads.get(me).expect("a thread of that index");
    let domain = at.domain.get();
    let any = || board.id_in(domain.index(), 1 + rng.below(u64::from(KEEPER) - 1) as u32);
    let (address, seen) = pair(board, domain.index(), 302 + rng.below(2) as usize);
    let word = 300 + rng.below(2) as usize;
    let (mutex, state) = pair(board, domain.index(), word);
    let kind = rng.pick(&[Timeout::Zero, Timeout::At, Timeout::At]);
    let until = board.host.now() + rng.below(500_000);
    let (call, kind, args): (_, _, &[u64]) = match rng.below(6) {
        0..3 => {
            let named = core::array::from_fn(|_| if rng.once_in(3) { 0 } else { any() });
            let [one, two] = helpers(named);
            (Call::InheritCondWait, kind, &[address, seen & 0xffff_ffff, mutex, until, one, two])
        }
        3..5 => {
            if rng.once_in(2)
                && state as u32 & !WAITERS != board.id(Scope::Domain, me)
                && state >> 32 == 0
            {
                let holder = [1, 3, 5][domain.index() as usize - 1];
                board.write(holder, word, board.id(Scope::Domain, me).into());
            }
            (Call::InheritRequeue, Timeout::Never, &[address, rng.below(2)])
        }
        _ => (Call::InheritHelp, Timeout::Never, &[address, any().into(), rng.below(2)]),
    };
    Regs::call(number(call, Scope::Domain, kind), args)
}

/// The running thread takes a mutex of the domain that it is in, waits for it, or gives it up; now
/// and then another one has written there.
fn lock<S: System<Port = Host>>(board: &Board<S>, rng: &Rng, me: u32) -> Regs {
    let at = board.machine.kernel.threads.get(me).expect("a thread of that index");
    let domain = at.domain.get();
    let holder = [1, 3, 5][domain.index() as usize - 1];
    let word = 300 + rng.below(2) as usize;
    let address = buffer(u64::from(holder)) + 8 * word as u64;
    let call = |call, kind, args: [u64; 2]| {
        Regs::call(number(call, Scope::Domain, kind), &[address, args[0], args[1]])
    };
    let pair = board.read(holder, word);
    let id = board.id(Scope::Domain, me);
    if rng.once_in(40) {
        board.write(holder, word, rng.pick(&[0, pair.rotate_right(32), pair & !0xff]));
    } else if pair == 0 {
        board.write(holder, word, id.into());
    } else if pair as u32 & !WAITERS == id {
        return call(Call::InheritWake, Timeout::Never, [0; 2]);
    } else {
        board.write(holder, word, pair | u64::from(WAITERS));
        let kind = rng.pick(&[Timeout::Never, Timeout::At, Timeout::At]);
        let until = board.host.now() + rng.below(2_000_000);
        return call(Call::InheritWait, kind, [u64::from(pair as u32 | WAITERS), until]);
    }
    system(Call::Yield, &[])
}

/// Runs one seed, and shows the machine behind each action.
fn run<S: System<Port = Host>>(
    seed: u64,
    actions: u64,
    reach: &mut Reach,
    mut show: impl FnMut(&Board<S>),
) {
    let _told = Seed::of(seed);
    let rng = Rng::new(seed);
    let board: Board<S> = boot(&THREADS);
    board.host.noise_once_in.set(rng.pick(&[2, 4, 16, 0]));
    for _ in 0..actions {
        // A search for the next thread makes room for interrupts.
        while board.running().is_none() && board.step() {}
        let me = board.running().expect("the keeper runs");
        let body = board.thread(me);
        let before = body.inside.get().is_some() && body.inherit.is_awaited();
        reach.owned += u64::from(before);
        if rng.once_in(30) && board.thread(me).inside.get().is_some() {
            board.fault(Fault { kind: FaultKind::Memory, detail: 1, code: 0 });
            reach.faulted += 1;
        } else {
            let regs = act(&board, &rng, me);
            let waiting = in_conditions(&board).len();
            board.call(regs);
            let requeued = regs.number as u8 == Call::InheritRequeue as u8;
            reach.woken += u64::from(requeued && in_conditions(&board).len() < waiting);
            let done = board.running() == Some(me) && board.regs.get().number == 0;
            reach.entered += u64::from(done && regs.number as u8 == Call::TrainCall as u8);
            reach.returned += u64::from(done && regs.number == Call::TrainReturn as u64);
            reach.destroyed += u64::from(done && regs.number == Call::Destroy as u64);
        }
        let out = body.inside.get().is_none() && !body.inherit.is_awaited();
        reach.left += u64::from(before && out);
        let inside = |thread: &u32| board.thread(*thread).inside.get().is_some();
        reach.awaiting += u64::from(in_conditions(&board).iter().any(inside));
        for thread in 1..=THREADS.len() as u32 {
            let wait = board.thread(thread).wait.get();
            reach.waited += u64::from(matches!(wait, kernel::object::thread::Wait::Train(_)));
        }
        if let Some(stack) = board.thread(me).inside.get() {
            let depth = crate::support::board::body(stack).depth.get();
            reach.deepest = reach.deepest.max(depth);
        }
        if rng.once_in(3) {
            board.settle();
        } else {
            board.step();
        }
        board.check();
        show(&board);
    }
}

fn runs<S: System<Port = Host>>() {
    let mut reach = Reach::default();
    for seed in seeds(0..250) {
        run::<S>(seed, steps(400), &mut reach, |_| ());
    }
    let Reach { entered, returned, deepest, faulted, destroyed, waited, owned, left, .. } = reach;
    let all = entered > 0 && returned > 0 && deepest > 3 && faulted > 0 && destroyed > 0;
    assert!(
        all && waited > 0 && owned > 0 && left > 0 && reach.awaiting > 0 && reach.woken > 0,
        "the programs did not get anywhere: {reach:?}"
    );
}

#[test]
fn random_programs_with_lists() {
    runs::<DirectLazy<Host>>();
}

/// What can be observed behind each action of a seed, as one number each, and how many entries the
/// fast path did.
fn observed<S: System<Port = Host>>(seed: u64) -> (Vec<u64>, u64) {
    let (mut seen, mut facts, mut fast) = (Vec::new(), Vec::new(), 0);
    run::<S>(seed, steps(400), &mut Reach::default(), |board| {
        state::facts(board, &mut facts);
        let mut hasher = DefaultHasher::new();
        facts.hash(&mut hasher);
        seen.push(hasher.finish());
        fast = board.fast_calls.get();
    });
    (seen, fast)
}

#[test]
fn the_fast_path_makes_no_difference() {
    let mut fast = 0;
    for seed in seeds(0..100) {
        let (seen, more) = observed::<Fastpath<Host>>(seed);
        let (plain, _) = observed::<Slowpath<Host>>(seed);
        let first = seen.iter().zip(&plain).position(|(fast, plain)| fast != plain);
        assert_eq!(first, None, "seed {seed}: an action after which the machines differ");
        fast += more;
    }
    assert!(fast > 0, "the fast path did nothing");
}

#[test]
fn random_programs_with_heaps() {
    runs::<IpcHeap<Host>>();
    runs::<StrictEager<Host>>();
}

#[test]
fn random_programs_on_reservations() {
    runs::<Tree<Host>>();
}
