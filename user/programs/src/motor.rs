//! Turns a shaft by a drive, an encoder and an end switch, and notices when one of them fails.

use rt::device::{Encoder, Gpio, Pwm};
use rt::prelude::*;
use rt::{ipc, signal, system};

/// Counts of a revolution.
const REVOLUTION: i64 = 1024;
/// Counts that it may be off.
const CLOSE: i64 = 8;
/// Nanoseconds of the drive's period.
const PERIOD: u64 = 50_000;
/// Thousandths of the drive that turn the shaft for sure.
const TURNS: u64 = 100;
/// Releases without a count, while it is driven so, after which the encoder is taken to be stuck.
const PATIENCE: u64 = 20;
/// Releases after which it gives up.
const LONGEST: u64 = 2_000;

/// How a run ends.
#[derive(Clone, Copy, PartialEq)]
enum End {
    There = 0,
    Stuck = 2,
    Late = 3,
    AtStop = 4,
}

/// Turns the shaft so many revolutions: argument `turns`. Registers `drive`, `shaft` and `pins`, of
/// which the first one reverses the drive; capabilities `console` and `system`.
pub fn main(env: &Env) {
    let (drive, shaft) = (Pwm::new(env.mem("drive")), Encoder::new(env.mem("shaft")));
    let pins = Gpio::new(env.mem("pins"));
    let goal = env.number("turns", 5) as i64 * REVOLUTION;
    pins.drive(1);
    drive.start(PERIOD);
    let mut ticker = Ticker::every(1.ms());
    let (mut before, mut silent, mut close) = (shaft.count(), 0, 0);
    let mut end = End::Late;
    for _ in 0..LONGEST {
        ticker.wait();
        let (count, at) = (shaft.count(), before);
        before = count;
        let (left, moved) = (goal - count, count - at);
        // It is braked by how fast it turns.
        let push = left - 12 * moved;
        pins.set(u64::from(push < 0));
        let part = push.unsigned_abs().min(1000);
        drive.set_thousandths(part);
        close = if left.abs() <= CLOSE && moved == 0 { close + 1 } else { 0 };
        silent = if moved == 0 && part >= TURNS { silent + 1 } else { 0 };
        if close == PATIENCE || silent == PATIENCE {
            end = if close == PATIENCE { End::There } else { End::Stuck };
            break;
        }
    }
    drive.stop();
    let (console, turns) = (env.console(), (shaft.count() + REVOLUTION / 2) / REVOLUTION);
    let ms = Instant::now().as_nanos() / 1_000_000;
    match end {
        End::There => println!(console, "{turns} revolutions in {ms} ms"),
        End::Stuck => println!(console, "the encoder is stuck at {}: drive off", shaft.count()),
        _ => println!(console, "not there after {LONGEST} ms: drive off"),
    }
    let _ = system::shutdown(env.cap("system"), end as u64);
}

/// Stops the drive when the end switch is pressed, which interrupts. Registers `drive` and
/// `switch`; capabilities `pressed` (receive), `interrupt`, `console` and `system`.
pub fn guard(env: &Env) {
    let (drive, switch) = (Pwm::new(env.mem("drive")), Gpio::new(env.mem("switch")));
    let (pressed, interrupt) = (env.cap("pressed"), env.cap("interrupt"));
    switch.interrupt_at(1, 0);
    loop {
        ipc::receive(pressed, Wait::NEVER).expect("the switch interrupts");
        let edges = switch.edges();
        signal::acknowledge(interrupt).expect("it may");
        // Not each interrupt has a reason.
        if edges != 0 && switch.pins() != 0 {
            drive.stop();
            println!(env.console(), "the end switch is pressed: drive off");
            let _ = system::shutdown(env.cap("system"), End::AtStop as u64);
        }
    }
}
