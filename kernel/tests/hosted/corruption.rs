//! Each invariant catches a corruption: what holds nothing up would be worth nothing.

use crate::support::archive::TICK;
use crate::support::board::{Board, body, whole};
use crate::support::host::Host;
use crate::support::scene::{
    ENDPOINT, FREE, NOTIFICATION, THREAD, boot, buffer, call, receive, reply_wait, send, system,
};
use abi::call::Call;
use abi::object::Resource;
use abi::{Info, Rights};
use kernel::access::Ref;
use kernel::object::capability::{Cap, Capability};
use kernel::object::deadlines::TimerEntry;
use kernel::object::thread::{State, Wait, flag};
use kernel::object::{Endpoint, Mapping, Thread, Weak};
use kernel::port::{Mapped, Port, Space};
use kernel::system::{DirectLazy, IpcHeap, StrictEager, System};
use kernel::tlb::{Change, Shootdown};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;

type Machine = Board<DirectLazy<Host>>;

/// A change of page tables that no object accounts for.
fn change() -> Change {
    Shootdown::new().change(0)
}

/// Threads 2 to 4 receive, send and wait for thread 5's reply; threads 1 and 6 are ready and
/// thread 1 runs. Memory is mapped.
fn machine() -> Machine {
    let board = boot(&[(1, 10), (1, 20), (1, 21), (1, 22), (1, 30), (1, 9)]);
    board.does(5, receive(ENDPOINT));
    board.does(4, call(ENDPOINT, Info(0)));
    board.does(5, receive(NOTIFICATION));
    board.does(3, send(ENDPOINT + 1, Info(0)));
    board.does(2, receive(ENDPOINT + 2));
    board.succeeds(1, system(Call::MemoryCreate, &[FREE, 2]));
    let map = [0, FREE, buffer(20), 2, 0, (FREE + 1) | 3 << 32];
    board.succeeds(1, system(Call::Map, &map));
    board
}

impl<S: System<Port = Host>> Board<S> {
    fn reference(&self, index: u32) -> Ref<Thread<Host>> {
        self.machine.kernel.threads.get(index).expect("a thread")
    }
}

impl Machine {
    fn endpoint(&self, index: u32) -> &'static Endpoint<Host> {
        self.object(self.machine.kernel.endpoints.get(index))
    }

    fn mapping(&self) -> &'static Mapping<Host> {
        self.object(self.machine.kernel.mappings.get(0))
    }
}

/// A corruption must be found, with this message.
#[track_caller]
fn found(message: &str, corrupt: impl FnOnce(&Machine)) {
    let board = machine();
    corrupt(&board);
    fails(message, || board.check_all());
}

/// A check must fail, with this message.
#[track_caller]
fn fails(message: &str, check: impl FnOnce()) {
    let cause = catch_unwind(AssertUnwindSafe(check)).expect_err("nothing is found");
    let text = cause.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_default();
    assert!(text.contains(message), "found something else: {text}");
}

#[test]
fn an_honest_machine_passes() {
    machine().check_all();
}

#[test]
fn of_reply_rights() {
    found("a caller that does not call", |board| {
        board.thread(4).reset();
    });
    found("a caller that has another server", |board| {
        board.thread(4).server.set(None);
    });
    found("a server without its caller's reply right", |board| {
        board.thread(5).set_caller(None);
    });
}

#[test]
fn of_waiting() {
    found("a thread that does not wait is in a wait queue", |board| {
        board.thread(3).reset();
    });
    found("a waiting thread is in no queue", |board| {
        board.endpoint(1).senders().remove(board.reference(3));
    });
    found("a sleeper is in a queue", |board| board.thread(2).wait.set(Wait::Nothing));
    found("a member in another state", |board| board.thread(3).wait_in(State::Receiving));
    found("a member that waits for something else", |board| {
        let other = board.machine.kernel.endpoints.get(0).expect("an endpoint");
        board.thread(3).wait.set(Wait::Endpoint(other));
    });
    found("signals are pending while a receiver waits", |board| {
        board.object(board.machine.kernel.notifications.get(0)).bits.set(1);
    });
    found("signals that an endpoint receives are pending while a thread waits", |board| {
        let kernel = board.machine.kernel;
        let other = kernel.notifications.get(1).expect("a notification");
        board.object(Some(other)).bits.set(1);
        board.endpoint(2).attached.set(&whole(), Some(Weak::new(other)));
    });
    found("senders and receivers wait on one endpoint", |board| {
        let (sender, receiver) = (board.reference(3), board.reference(2));
        board.endpoint(1).senders().remove(sender);
        board.endpoint(2).senders().push_back(sender);
        body(sender).wait.set(body(receiver).wait.get());
    });
}

#[test]
fn of_ticks() {
    found("a thread waits where there is no tick", |board| {
        board.succeeds(1, system(Call::ThreadSuspend, &[THREAD + 6]));
        board.wait(2 * TICK);
        board.thread(6).clear(flag::SUSPENDED);
        board.machine.cpu.ready.insert(board.reference(6));
    });
}

#[test]
fn of_eager_queues() {
    let board: Board<StrictEager<Host>> = boot(&[(1, 10)]);
    board.machine.cpu.ready.remove(board.reference(1));
    fails("a thread runs that eager queueing has not queued", || board.check_all());
}

#[test]
fn of_lengths() {
    found("the senders of endpoints are miscounted", |board| board.endpoint(1).queued.set(7));
}

#[test]
fn of_deadlines() {
    found("a deadline at another priority", |board| {
        board.thread(2).set(flag::DEADLINE);
        board.machine.cpu.deadlines.insert(5, TimerEntry::Thread(board.reference(2)), 254);
    });
    found("a deadline and its mark differ", |board| {
        board.thread(2).set(flag::DEADLINE);
    });
    found("a ready thread times out", |board| {
        board.thread(6).set(flag::DEADLINE);
        board.machine.cpu.deadlines.insert(5, TimerEntry::Thread(board.reference(6)), 10);
    });
}

/// Thread 2 has a deadline that is due, and the timer is not told.
fn due(board: &Machine) {
    board.thread(2).set(flag::DEADLINE);
    board.machine.cpu.deadlines.insert(5, TimerEntry::Thread(board.reference(2)), 20);
}

/// The timer's interrupt leaves its programming to a decision that does not come.
fn undecided(board: &Machine) {
    due(board);
    board.machine.cpu.resched.set(true);
    board.machine.cpu.timer_served(board.host.now(), true);
    board.machine.cpu.resched.set(false);
}

#[test]
fn of_timers() {
    found("the timer is late for a deadline", due);
    found("the timer is late for the tick", |board| {
        board.host.advance(6);
        undecided(board);
    });
    found("the timer is late for deferred deadlines", |board| {
        board.succeeds(1, system(Call::ThreadSuspend, &[THREAD + 6]));
        board.wait(2 * TICK);
        undecided(board);
    });
}

#[test]
fn of_the_ready_queue() {
    found("queued above the highest that the CPU knows", |board| board.machine.cpu.highest.set(8));
    found("queued at another priority", |board| board.thread(6).priority.set(&whole(), 3));
    found("a runnable thread is not queued", |board| {
        board.machine.cpu.ready.remove(board.reference(6));
    });
    found("a blocked thread runs", |board| board.thread(1).set(flag::SUSPENDED));
}

#[test]
fn of_charges() {
    let quotas = |board: &Machine| &board.domain(1).quotas;
    for resource in Resource::ALL {
        let message = match resource {
            Resource::Frames => "a charge differs from the frames",
            Resource::Tables => "a charge for tables differs from the tables",
            Resource::Slots => "a charge for slots differs from the table",
            _ => "a charge differs from what is owned",
        };
        found(message, |board| {
            let limit = quotas(board).limit(resource);
            quotas(board).set_limit(resource, limit.max(1));
            quotas(board).charge(resource, 1);
        });
    }
    found("a frame promised twice", |board| {
        let limit = quotas(board).limit(Resource::Frames);
        quotas(board).set_limit(Resource::Frames, limit + 1);
    });
    found("a page table promised twice", |board| {
        let limit = quotas(board).limit(Resource::Tables);
        quotas(board).set_limit(Resource::Tables, limit + 1);
    });
}

#[test]
fn of_frames_and_tables() {
    found("a frame is lost", |board| {
        board.machine.kernel.frames.take(board.host);
    });
    found("a page table is lost", |board| {
        let quotas = &board.domain(1).quotas;
        quotas.set_limit(Resource::Tables, quotas.limit(Resource::Tables) - 1);
        board.machine.kernel.tables.take(board.host);
    });
    found("in use and free", |board| {
        let frame = board.machine.kernel.frames.take(board.host);
        board.machine.kernel.frames.give(frame);
        board.machine.kernel.frames.give(frame);
    });
    found("a frame that was zeroed is not zero", |board| {
        let (frames, host) = (&board.machine.kernel.frames, board.host);
        let frame = frames.take(host);
        frames.give(frame);
        while frames.next().is_some_and(|fresh| fresh.step(host)) {}
        host.frame(frame)[511].store(1, Relaxed);
    });
    found("a frame that was zeroed is not zero", |board| {
        let vacant = board.machine.kernel.threads.free_slot().expect("a vacant slot");
        while body(vacant).fresh_buffer().step(board.host) {}
        board.host.frame(body(vacant).buffer)[0].store(1, Relaxed);
    });
}

#[test]
fn of_capabilities() {
    found("a valid capability to a vacant slot", |board| {
        let vacant = board.machine.kernel.endpoints.free_slot().expect("a vacant slot");
        let capability = Capability::Endpoint(Cap::new(vacant, Rights::ALL, 0));
        board.domain(1).put(&whole(), FREE as u32 + 5, capability);
    });
    found("a vacant domain has capabilities", |board| {
        let vacant = board.machine.kernel.domains.free_slot().expect("a vacant slot");
        body(vacant).put(&whole(), 1, Capability::Console(Rights::ALL));
    });
}

#[test]
fn of_domains() {
    found("a domain's threads are miscounted", |board| board.domain(1).threads.set(2));
    found("a thread outlives its domain", |board| {
        let vacant = board.machine.kernel.domains.free_slot().expect("a vacant slot");
        board.thread(6).domain.set(&whole(), vacant);
        board.domain(1).threads.set(5);
    });
}

#[test]
fn of_mappings() {
    found("a mapping of nothing", |board| board.mapping().memory.set(None));
    found("a mapping outlives its memory or its domain", |board| {
        board.mapping().domain.set(board.machine.kernel.domains.free_slot());
    });
    found("a mapping without its pages", |board| {
        board.domain(1).space.unmap(board.host, buffer(20), change());
    });
    found("more pages than a mapping has", |board| board.mapping().pages.set(1));
    found("page tables differ from mappings", |board| {
        board.domain(1).space.protect(board.host, buffer(20), Rights::READ, change());
    });
    found("page tables differ from mappings", |board| {
        let space = &board.domain(1).space;
        let frame = crate::support::host::BASE;
        assert_eq!(space.map(board.host, buffer(21), frame, Rights::READ), Mapped::Done);
    });
    found("page tables differ from mappings", |board| {
        board.domain(1).space.unmap(board.host, buffer(2), change());
    });
}

#[test]
fn the_story_goes_on() {
    // The machine of these tests is a working one.
    let board = machine();
    board.does(1, send(ENDPOINT + 2, Info(0)));
    board.sees(2, Ok(()));
    board.does(2, system(Call::Signal, &[NOTIFICATION]));
    board.does(5, reply_wait(ENDPOINT, Info(0)));
    board.sees(4, Ok(()));
}

type Heap = Board<IpcHeap<Host>>;

/// Threads 2 to 5 wait to send on the first endpoint, in a heap; thread 1 runs.
fn heap() -> Heap {
    let board: Heap = boot(&[(1, 10), (1, 20), (1, 21), (1, 22), (1, 23)]);
    for thread in [5, 4, 3, 2] {
        board.does(thread, send(ENDPOINT, Info(0)));
    }
    board
}

/// A corruption of a heap must be found, with this message.
#[track_caller]
fn found_in_heap(message: &str, corrupt: impl FnOnce(&Heap)) {
    let board = heap();
    board.check_all();
    corrupt(&board);
    fails(message, || board.check_all());
}

#[test]
fn heaps() {
    let member = |board: &Heap, index: u32| board.machine.kernel.threads.get(index);
    let endpoint = |board: &Heap| board.object(board.machine.kernel.endpoints.get(0));
    found_in_heap("a sender is in no heap", |board| {
        endpoint(board).root.open(endpoint(board)).set(None)
    });
    found_in_heap("a child in a heap that does not lead back", |board| {
        let root = endpoint(board).root.get().expect("somebody waits");
        let child = root.node.open(endpoint(board)).child.get().expect("and somebody behind");
        child.node.open(endpoint(board)).back.set(None);
    });
    found_in_heap("a child in a heap that is served before its parent", |board| {
        let root = endpoint(board).root.get().expect("somebody waits");
        let child = root.node.open(endpoint(board)).child.get().expect("and somebody behind");
        body(child).priority.set(&whole(), 99);
    });
    found_in_heap("a sibling in a heap that does not lead back", |board| {
        let root = endpoint(board).root.get().expect("somebody waits");
        let child = root.node.open(endpoint(board)).child.get().expect("and somebody behind");
        let sibling = child.node.open(endpoint(board)).next.get().expect("and another");
        sibling.node.open(endpoint(board)).back.set(None);
    });
    found_in_heap("siblings in a heap go round", |board| {
        let root = endpoint(board).root.get().expect("somebody waits");
        let child = root.node.open(endpoint(board)).child.get().expect("and somebody behind");
        child.node.open(endpoint(board)).next.set(Some(child));
        child.node.open(endpoint(board)).back.set(Some(child));
        endpoint(board).root.open(endpoint(board)).set(Some(child));
    });
    found_in_heap("a member of a heap that waits for something else", |board| {
        let other = board.machine.kernel.endpoints.get(1).expect("another endpoint");
        board.thread(3).wait.set(Wait::Endpoint(other));
    });
    found_in_heap("a sender is in a list beside its heap", |board| {
        endpoint(board).senders().push_back(member(board, 3).expect("a thread"));
    });
}
