//! What a life leaves behind is not there in the next one, but for what is shared.

use rt::prelude::*;
use rt::{arch, ipc, signal, system};

/// What the notification `signals` tells: the alarm, the serial line, the program itself.
const LINE: u64 = 2;
/// When the alarm rings that the first life sets.
const LATER: Duration = Duration::from_millis(20);

/// Its first life leaves an alarm that is to ring, a signal and an interrupt that is not
/// acknowledged, and faults; the second one finds none of them, but what it has signalled to a
/// notification that another domain holds too. Capabilities `alarm`, `line` (control), `signals`
/// (receive), `self` (signal), `shared` (receive, signal), `console`, `system`; memory `lives`;
/// somebody types.
pub fn main(env: &Env) {
    let [signals, shared] = ["signals", "shared"].map(|name| env.cap(name));
    let typed = ipc::receive(signals, Wait::within(10_000.ms())).expect("somebody types").badge;
    assert!(typed == LINE, "at the begin of a life the line alone signals, not {typed:#b}");
    if env.mem("lives").add(0, 1) == 0 {
        signal::set_timer(env.cap("alarm"), (Instant::now() + LATER).as_nanos())
            .expect("it is set");
        for notification in [env.cap("self"), shared] {
            signal::signal(notification).expect("it can be signalled");
        }
        // A panic of a program that may end the run would end it.
        arch::undefined();
    }
    let none = ipc::receive(signals, Wait::within(2 * LATER));
    assert!(none.is_err(), "a timer of an earlier life rings: {none:?}");
    let kept = ipc::receive(shared, Wait::ZERO);
    assert!(kept.is_ok(), "what is shared stays: {kept:?}");
    println!(env.console(), "nothing is left of an earlier life");
    let _ = system::shutdown(env.cap("system"), 0);
}
