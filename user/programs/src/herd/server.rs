//! The victim's server: at an instant that the victim orders it signals, or serves its queue until
//! the victim has its answer. Between orders it serves no caller, so that the herd fills its queue.

use super::Control;
use rt::arch::counter;
use rt::{Env, Info, Wait, ipc, signal, system};

/// Labels of orders; their word is the instant.
pub const SIGNAL: u32 = 1;
pub const ANSWER: u32 = 2;

/// The badge of the victim's calls.
pub const VICTIM: u64 = 1;

/// Never ends: capabilities `orders` and `service` (receive), `bell` (signal); memory `control`.
pub fn main(env: &Env) {
    let (orders, service, bell) = (env.cap("orders"), env.cap("service"), env.cap("bell"));
    let control = Control(env.mem("control"));
    loop {
        let order = ipc::receive(orders, Wait::NEVER).expect("an order");
        system::sleep_until(order.words[0]);
        if order.info.label() == SIGNAL {
            control.set_stamp(counter());
            signal::signal(bell).expect("the victim waits");
            continue;
        }
        let mut call = ipc::receive(service, Wait::NEVER);
        loop {
            let victim = call.expect("a call").badge == VICTIM;
            control.set_stamp(counter());
            if victim {
                // Whatever comes of it, the next order is waited for.
                ipc::reply(rt::Message::empty(0)).expect("the victim waits");
                break;
            }
            call = ipc::reply_wait_short(service, Info::new(0, 0), []).received();
        }
    }
}
