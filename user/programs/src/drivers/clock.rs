//! The driver of a PC's real-time clock, and a client.

use clock::{Clock, ClockClient, NoTime, Registers};
use rt::ports::Ports;
use rt::prelude::*;
use rt::{system, time};
use supervision::{Name, SupervisionClient};

/// The first of the clock's ports takes the number of a register, the second one has that register.
struct Chip(Ports);

impl Registers for Chip {
    fn read(&mut self, register: u8) -> u8 {
        let read = self.0.write_8(0, register).and_then(|()| self.0.read_8(1));
        read.expect("the ports are the driver's")
    }

    fn pause(&mut self) {
        time::sleep(1.ms());
    }
}

impl Clock for Chip {
    fn now(&mut self) -> Result<u64, NoTime> {
        clock::read(self)
    }
}

/// The driver: capabilities `ports` (read, write), of the two ports, and `clock` (receive).
pub fn driver(env: &Env) {
    let why = Chip(Ports::new(env.cap("ports"))).serve(env.cap("clock"));
    panic!("no more requests: {why:?}");
}

/// How long the client waits between two looks.
const WAIT: Duration = Duration::from_secs(2);

/// The client: capabilities `clock` (send), `supervisor`, `console`, `system`.
pub fn client(env: &Env) {
    let (console, clock) = (env.console(), ClockClient::new(env.cap("clock")));
    let supervisor = SupervisionClient::new(env.cap("supervisor"));
    let look = || clock.now().expect("the clock is set");
    let first = look();
    println!(console, "{first} seconds since 1970");
    time::sleep(WAIT);
    let passed = look() - first;
    println!(console, "{passed} seconds later");
    supervisor.kill(Name::new("clock")).expect("the supervisor ends it");
    let behind = look() - first;
    println!(console, "the driver was restarted, and the clock went on: {}", behind >= passed);
    let _ = system::shutdown(env.cap("system"), u64::from(behind < passed));
}
