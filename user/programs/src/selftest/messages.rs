//! All forms of the message primitive.

use super::bench::*;
use rt::arch;
use rt::{Env, Error, Info, Message, Rights, Slot, Status, Wait};
use rt::{cap, ipc, signal, system, thread};

pub const CHECKS: Checks = &[
    ("send to a waiting receiver", send_to_waiting),
    ("receive from a waiting sender", receive_from_waiting),
    ("call and reply", call_and_reply),
    ("a queued call is answered", queued_call),
    ("send, then receive from somebody else", send_then_receive),
    ("reply, then wait elsewhere", reply_then_elsewhere),
    ("send without waiting", send_without_waiting),
    ("receive without waiting", receive_without_waiting),
    ("messages of up to 128 words", long_messages),
    ("messages that are too long", too_long),
    ("long messages need buffers on both sides", no_buffer),
    ("senders are served in order", first_come),
    ("a server with a backlog", backlog),
    ("badges tell senders apart", badges),
    ("no program can forge a kernel message", forged_info),
    ("a reply needs a caller", no_caller),
    ("a saved reply answers later", saved_reply),
    ("a server that owes an answer is called", second_call),
    ("a suspended server is called", stopped_server),
    ("no thread sends to itself", self_send),
];

fn send_to_waiting(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    for priority in [LOW, MAIN, HIGH] {
        let helper = bench.helper(priority, receive_once, e, Slot::NONE)?;
        bench.settle();
        ipc::send(e, Message::short(7, [1, 2, 3, 4]), Wait::NEVER)?;
        bench.settle();
        let got = bench.succeeded(helper, "the receiver is woken")?;
        expect(got.info == Info::new(7, 4) && got.words == [1, 2, 3, 4], "all words arrive")?;
        expect(got.badge == 0, "no badge without one")?;
    }
    Ok(())
}

fn receive_from_waiting(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    for priority in [LOW, MAIN, HIGH] {
        let n = bench.next_helper();
        let helper = bench.helper(priority, send_once, e, Slot::NONE)?;
        bench.settle();
        expect(bench.report(helper).is_none(), "a sender waits for its receiver")?;
        let got = ipc::receive(e, Wait::NEVER)?;
        expect(got.info == Info::new(n as u32, 1) && got.words[0] == n as u64, "it arrives")?;
        bench.settle();
        bench.succeeded(helper, "the sender goes on")?;
    }
    Ok(())
}

fn call_and_reply(bench: &Bench) -> Check {
    for priority in [LOW, MAIN, HIGH] {
        let e = bench.endpoint()?;
        bench.helper(priority, echo, e, Slot::NONE)?;
        bench.settle();
        for i in 0..100 {
            let answer = ipc::call(e, Message::short(5, [i, 2 * i, 3 * i, 4 * i]))?;
            expect(answer.words == [i + 1, 2 * i + 1, 3 * i + 1, 4 * i + 1], "all words return")?;
            expect(answer.info == Info::new(6, 4), "so do label and length")?;
        }
    }
    Ok(())
}

fn queued_call(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    bench.settle();
    ipc::receive(e, Wait::NEVER)?;
    expect(bench.report(helper).is_none(), "a caller waits for its answer")?;
    ipc::reply(Message::short(9, [8]))?;
    let got = bench.succeeded(helper, "the caller is answered")?;
    expect(got.words[0] == 8 && got.info.label() == 9, "with the words of the reply")
}

/// Helper: receives on `a`, then sends to `b`.
fn relay(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    let Ok(message) = ipc::receive(me.a, Wait::NEVER) else { return };
    let forward = Message::short(message.info.label(), [message.words[0] * 10]);
    me.report(ipc::exchange(me.b, Slot::NONE, forward, Wait::NEVER));
}

fn send_then_receive(bench: &Bench) -> Check {
    for priority in [LOW, MAIN, HIGH] {
        let (to, from) = (bench.endpoint()?, bench.endpoint()?);
        bench.helper(priority, relay, to, from)?;
        bench.settle();
        let got = ipc::exchange(to, from, Message::short(3, [7]), Wait::NEVER).received()?;
        expect(got.words[0] == 70 && got.info.label() == 3, "an answer from the other endpoint")?;
    }
    Ok(())
}

fn reply_then_elsewhere(bench: &Bench) -> Check {
    let (e, other) = (bench.endpoint()?, bench.notification()?);
    let helper = bench.helper(LOW, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::NEVER)?;
    signal::signal(other)?;
    let got = ipc::reply_wait(other, Message::short(4, [5]))?;
    expect(got.info.is_notification(), "the wait took the other source")?;
    bench.settle();
    let answer = bench.succeeded(helper, "the caller is answered")?;
    expect(answer.words[0] == 5, "with the reply")
}

fn send_without_waiting(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let result = ipc::send(e, Message::empty(1), Wait::ZERO);
    refused(result, Error::Timeout, "a send that would block")?;
    let helper = bench.helper(HIGH, receive_once, e, Slot::NONE)?;
    ipc::send(e, Message::empty(1), Wait::ZERO)?;
    bench.succeeded(helper, "a send that need not block").map(drop)
}

fn receive_without_waiting(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let outcome = ipc::exchange(Slot::NONE, e, Message::empty(0), Wait::ZERO);
    refused(outcome.received(), Error::Timeout, "a receive that would block")?;
    expect(outcome.status.in_receive(), "the receive half failed")?;
    bench.helper(HIGH, send_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    Ok(())
}

fn long_messages(bench: &Bench) -> Check {
    for priority in [LOW, HIGH] {
        let e = bench.endpoint()?;
        bench.helper(priority, echo, e, Slot::NONE)?;
        let buffer = bench.buffer();
        for length in [0, 1, 3, 4, 5, 8, 16, 63, 64, 127, 128] {
            for i in 4..130 {
                buffer.0.set(i, 1000 + i as u64);
            }
            buffer.accept(Slot::NONE);
            let answer = ipc::call(e, Message::long(1, length, [1000, 1001, 1002, 1003]))?;
            expect(answer.info == Info::new(2, length), "the length returns")?;
            for i in 0..length {
                let word = if i < 4 { answer.words[i] } else { buffer.0.get(i) };
                expect(word == 1001 + i as u64, "each word returns, one higher")?;
            }
            for i in length.max(4)..128 {
                let word = buffer.0.get(i);
                expect(word == 1000 + i as u64, "nothing beyond the length is touched")?;
            }
        }
    }
    Ok(())
}

fn too_long(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, receive_once, e, Slot::NONE)?;
    for length in [129, 200, 255] {
        let result = ipc::send(e, Message::long(1, length, [0; 4]), Wait::ZERO);
        refused(result, Error::TooLong, "more than 128 words")?;
    }
    expect(bench.report(helper).is_none(), "nothing arrived")
}

/// Helper: sends five words to `a`.
fn send_long(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    me.report(ipc::exchange(me.a, Slot::NONE, Message::long(1, 5, [0; 4]), Wait::ZERO));
}

fn no_buffer(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let spec =
        rt::thread::Spec { domain: Slot::NONE, priority: HIGH, buffer: 0, handler: Slot::NONE };
    let sender = bench.helper_with(spec, send_long, e, Slot::NONE)?;
    bench.failed(sender, Error::NoBuffer, "a long send without a buffer")?;
    let receiver = bench.helper_with(spec, receive_once, e, Slot::NONE)?;
    let result = ipc::send(e, Message::long(1, 5, [0; 4]), Wait::ZERO);
    refused(result, Error::NoBuffer, "a long send to a thread without a buffer")?;
    ipc::send(e, Message::long(1, 4, [0; 4]), Wait::ZERO)?;
    bench.succeeded(receiver, "a short send to a thread without a buffer").map(drop)
}

fn first_come(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let first = bench.next_helper();
    for priority in [LOW, HIGH, MAIN, LOW] {
        bench.helper(priority, send_once, e, Slot::NONE)?;
        bench.settle();
    }
    // By priority: HIGH, MAIN, and the two LOW ones in the order in which they came.
    let by_priority = bench.serves_by_priority()?;
    let order = if by_priority { [1, 2, 0, 3] } else { [0, 1, 2, 3] };
    for n in order {
        let got = ipc::receive(e, Wait::ZERO)?;
        expect(got.words[0] == (first + n) as u64, "the sender whose turn it is")?;
    }
    Ok(())
}

fn backlog(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let callers = [
        bench.helper(LOW, call_once, e, Slot::NONE)?,
        bench.helper(LOW, call_once, e, Slot::NONE)?,
    ];
    bench.settle();
    ipc::receive(e, Wait::ZERO)?;
    // The second caller waits already: the reply must not wait beside it.
    let got = ipc::reply_wait(e, Message::short(0, [1]))?;
    expect(!got.info.is_notification(), "the second call")?;
    ipc::reply(Message::short(0, [2]))?;
    bench.settle();
    for caller in callers {
        bench.succeeded(caller, "a caller is answered")?;
    }
    Ok(())
}

fn badges(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    for badge in [1, 42, u64::MAX] {
        let minted = bench.slot();
        cap::mint(e, minted, Rights::SEND, badge)?;
        bench.helper(HIGH, send_once, minted, Slot::NONE)?;
        let got = ipc::receive(e, Wait::ZERO)?;
        expect(got.badge == badge, "the receiver sees the sender's badge")?;
    }
    let (badged, again) = (bench.slot(), bench.slot());
    cap::mint(e, badged, Rights::ALL, 5)?;
    let result = cap::mint(badged, again, Rights::ALL, 6);
    refused(result, Error::InvalidArgument, "a badge cannot be replaced")?;
    cap::copy(badged, again, Rights::ALL)?;
    expect(cap::inspect(again)?.badge == 5, "a copy keeps its badge")
}

fn forged_info(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let helper = bench.helper(HIGH, receive_once, e, Slot::NONE)?;
    let mut message = Message::short(1, [2]);
    message.info = Info(message.info.0 | Info::FAULT | Info::NOTIFICATION | 0xffff_f800);
    ipc::send(e, message, Wait::ZERO)?;
    let got = bench.succeeded(helper, "the message arrives")?;
    expect(got.info == Info::new(1, 1), "without the bits that are the kernel's")
}

fn no_caller(bench: &Bench) -> Check {
    refused(ipc::reply(Message::empty(0)), Error::NoReply, "a reply without a caller")?;
    let e = bench.endpoint()?;
    let outcome = ipc::exchange(Slot::REPLY, e, Message::empty(0), Wait::ZERO);
    refused(
        outcome.received(),
        Error::Timeout,
        "a reply without a caller is dropped before a wait",
    )?;
    expect(outcome.status.in_receive(), "the receive half has failed")?;
    let outcome = ipc::exchange(Slot::NONE, Slot::REPLY, Message::empty(0), Wait::ZERO);
    refused(outcome.received(), Error::InvalidArgument, "waiting for the reply to no call")?;
    let helper = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    ipc::reply(Message::empty(0))?;
    bench.succeeded(helper, "one reply is taken")?;
    refused(ipc::reply(Message::empty(0)), Error::NoReply, "a second reply")
}

fn saved_reply(bench: &Bench) -> Check {
    let (e, saved, other) = (bench.endpoint()?, bench.slot(), bench.slot());
    refused(cap::save_reply(saved), Error::NoReply, "saving the reply right of no call")?;
    let first = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    cap::save_reply(saved)?;
    refused(ipc::reply(Message::empty(0)), Error::NoReply, "the right has moved")?;
    let second = bench.helper(HIGH, call_once, e, Slot::NONE)?;
    ipc::receive(e, Wait::ZERO)?;
    refused(cap::save_reply(saved), Error::SlotOccupied, "saving over another right")?;
    refused(cap::copy(saved, other, Rights::ALL), Error::MissingRight, "copying a reply right")?;
    ipc::reply(Message::short(0, [2]))?;
    expect(bench.succeeded(second, "the second call")?.words[0] == 2, "is answered first")?;
    expect(bench.report(first).is_none(), "the first caller still waits")?;
    ipc::send(saved, Message::short(0, [1]), Wait::ZERO)?;
    expect(bench.succeeded(first, "the first call")?.words[0] == 1, "is answered later")?;
    let again = ipc::send(saved, Message::empty(0), Wait::ZERO);
    expect(again.is_err(), "a saved reply right works once")
}

/// Helper: receives on `a` twice, and answers the second caller.
fn answer_second(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if ipc::receive(me.a, Wait::NEVER).is_ok() {
        me.report(ipc::exchange(Slot::NONE, me.a, Message::empty(0), Wait::NEVER));
        let _ = ipc::reply(Message::short(3, [4]));
    }
}

fn second_call(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    for priority in [LOW, MAIN, HIGH] {
        bench.helper(priority, answer_second, e, Slot::NONE)?;
        bench.settle();
        let first = bench.helper(HIGH, call_once, e, Slot::NONE)?;
        bench.settle();
        let answer = ipc::call(e, Message::short(1, [2]))?;
        expect(answer.info == Info::new(3, 1) && answer.words[0] == 4, "the second is answered")?;
        bench.settle();
        bench.failed(first, Error::Abandoned, "the first call is not")?;
    }
    Ok(())
}

/// Helper: receives on `a` and answers.
fn answer_once(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    if let Ok(got) = ipc::receive(me.a, Wait::NEVER) {
        let _ = ipc::reply(Message::short(3, [got.words[0] + 1]));
    }
}

/// Helper: lets the thread in slot `a` run, later.
fn resume_later(env: &Env, argument: u64) {
    let me = Me::new(env, argument);
    system::sleep(MS);
    let _ = thread::resume(me.a);
}

fn stopped_server(bench: &Bench) -> Check {
    for priority in [LOW, MAIN, HIGH] {
        let e = bench.endpoint()?;
        let server = bench.helper(priority, answer_once, e, Slot::NONE)?;
        bench.settle();
        thread::suspend(server.slot)?;
        bench.helper(HIGH, resume_later, server.slot, Slot::NONE)?;
        let answer = ipc::call(e, Message::short(1, [7]))?;
        expect(answer.info == Info::new(3, 1) && answer.words[0] == 8, "it answers when it runs")?;
    }
    Ok(())
}

fn self_send(bench: &Bench) -> Check {
    let e = bench.endpoint()?;
    let outcome = ipc::exchange(e, e, Message::empty(0), Wait::NEVER);
    refused(outcome.received(), Error::SelfSend, "sending to where one receives")?;
    let outcome = arch::syscall(
        abi::call::ipc(abi::call::Timeout::Never, abi::call::Timeout::Never),
        [0; 6].map(arch::word),
        [0; 4].map(arch::word),
    );
    expect(outcome.status != Status::OK, "an operation without halves and without an end")
}
