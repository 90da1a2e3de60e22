//! Checks what each kind of device does, on wires that lead back.

use rt::device::{Adc, Can, Encoder, Gpio, Pwm, Registers};
use rt::prelude::*;
use rt::{ipc, signal, system, time};

/// A check: what holds, and whether it does.
type Check = (&'static str, fn(&Env) -> bool);

const CHECKS: [Check; 8] = [
    ("adc: what pulses put on a wire is measured", pulses_are_measured),
    ("adc: it interrupts when it has a result", a_result_interrupts),
    ("pwm: it interrupts each period", periods_interrupt),
    ("encoder: it counts, and interrupts when it has moved", moving_interrupts),
    ("gpio: driven pins are seen, and edges interrupt", edges_interrupt),
    ("can: a frame reaches all others, and answers interrupt", frames_are_answered),
    ("can: what does not fit is lost, and said", frames_are_lost),
    ("a register that a device does not have is zero", what_is_not_there_is_zero),
];

/// Makes all checks. Registers `pulses` and `meter` (of wire a), `push` and `wheel` (of wire b),
/// `pins` (wires c, d), `node` and `other` on the bus; capabilities to [`INTERRUPTS`], which all
/// signal `signals`, to `console`, and to `system`, which ends the run.
pub fn main(env: &Env) {
    let mut failed = 0;
    for (name, check) in CHECKS {
        let held = check(env);
        failed += u64::from(!held);
        println!(env.console(), "{} {name}", if held { "ok" } else { "FAILED" });
    }
    let _ = system::shutdown(env.cap("system"), failed.min(1));
}

/// The interrupts, by the bits that they signal.
const INTERRUPTS: [&str; 5] =
    ["interrupt-pulses", "interrupt-meter", "interrupt-wheel", "interrupt-pins", "interrupt-other"];

/// Whether an interrupt comes within a time, for which its reason is taken away by `look`. Others
/// are acknowledged: not each one has a reason.
fn interrupts(env: &Env, within: Duration, look: impl Fn() -> bool) -> bool {
    let until = Instant::now() + within;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        let Ok(signals) = ipc::receive(env.cap("signals"), Wait::within(left)) else {
            return false;
        };
        let seen = look();
        for (bit, name) in INTERRUPTS.into_iter().enumerate() {
            if signals.badge >> bit & 1 != 0 && signal::acknowledge(env.cap(name)).is_err() {
                return false;
            }
        }
        if seen {
            return true;
        }
    }
    false
}

fn pulses_are_measured(env: &Env) -> bool {
    let (pulses, meter) = (Pwm::new(env.mem("pulses")), Adc::new(env.mem("meter")));
    pulses.start(20_000);
    pulses.set(5_000);
    time::sleep(1.ms());
    let quarter = meter.measure();
    pulses.stop();
    time::sleep(1.ms());
    quarter == 1024 && meter.measure() == 0
}

fn a_result_interrupts(env: &Env) -> bool {
    let (pulses, meter) = (Pwm::new(env.mem("pulses")), Adc::new(env.mem("meter")));
    pulses.start(20_000);
    pulses.set_thousandths(1000);
    time::sleep(1.ms());
    meter.start();
    let all = interrupts(env, 2.s(), || meter.result() == Some(Adc::GREATEST));
    pulses.stop();
    all && meter.result().is_none()
}

fn periods_interrupt(env: &Env) -> bool {
    let pulses = Pwm::new(env.mem("pulses"));
    pulses.start_interrupting(200_000);
    let began = Instant::now();
    let each = || interrupts(env, 2.s(), || pulses.has_ended());
    let held = (0..5).all(|_| each());
    pulses.stop();
    let took = began.elapsed();
    held && took >= 900.us() && !interrupts(env, 1.ms(), || pulses.has_ended())
}

fn moving_interrupts(env: &Env) -> bool {
    let (push, wheel) = (Pwm::new(env.mem("push")), Encoder::new(env.mem("wheel")));
    push.start(20_000);
    wheel.interrupt_every(100);
    push.set_thousandths(50);
    let quiet = !interrupts(env, 1.ms(), || wheel.has_moved());
    push.set_thousandths(500);
    let moved = interrupts(env, 2.s(), || wheel.has_moved());
    wheel.interrupt_no_more();
    quiet && moved && wheel.count() == 512
}

fn edges_interrupt(env: &Env) -> bool {
    let pins = Gpio::new(env.mem("pins"));
    pins.drive(0b11);
    pins.interrupt_at(0b01, 0b10);
    pins.set(0b11);
    let rises = interrupts(env, 2.s(), || pins.edges() == 0b01);
    let seen = pins.pins() == 0b11;
    pins.set(0b01);
    let falls = interrupts(env, 2.s(), || pins.edges() == 0b10);
    pins.interrupt_at(0, 0);
    rises && seen && falls && pins.pins() == 0b01
}

fn frames_are_answered(env: &Env) -> bool {
    let (node, other) = (Can::new(env.mem("node")), Can::new(env.mem("other")));
    other.interrupt(true);
    let sent = node.send(0x123, b"turn");
    let first = || other.receive().is_some_and(|it| it.id == 0x123 && it.bytes() == b"turn");
    let heard = interrupts(env, 2.s(), first);
    // What is at the other end answers with the next id, to both.
    let answered = || other.receive().is_some_and(|it| it.id == 0x124 && it.bytes() == b"turn");
    let answers = interrupts(env, 2.s(), answered);
    other.interrupt(false);
    sent && heard && answers && node.receive().is_some_and(|frame| frame.id == 0x124)
}

fn frames_are_lost(env: &Env) -> bool {
    let (node, other) = (Can::new(env.mem("node")), Can::new(env.mem("other")));
    for id in 0..9 {
        while !node.send(id, &[]) {
            system::work(1_000);
        }
    }
    time::sleep(1.ms());
    let lost = other.has_lost() && !other.has_lost();
    let received = (0..).take_while(|_| other.receive().is_some()).count();
    while node.receive().is_some() {}
    lost && received == rt::abi::device::can::ROOM
}

fn what_is_not_there_is_zero(env: &Env) -> bool {
    let registers = Registers::new(env.mem("meter"));
    registers.write(511, 7);
    registers.read(511) == 0
}
