//! A control loop whose programs are supervised: a controller asks a sensor each period and tells a
//! logger. The saboteur makes each of them fail.

pub mod lapse;
pub mod relics;
pub mod restarter;
pub mod saboteur;
pub mod victim;

use rt::prelude::*;
use rt::{arch, ipc, system};
use service::service;

/// What the saboteur can order a program to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// To panic.
    Panic = 1,
    /// To execute what is no instruction.
    Fault = 2,
    /// To go on without a heartbeat.
    Hang = 3,
    /// To return.
    End = 4,
}

/// How often a server that is not asked looks for orders and beats.
const PERIOD: Duration = Duration::from_millis(10);
/// How long the controller waits for a server that may be down.
const PATIENCE: Duration = Duration::from_millis(2);

/// What a sensor or a logger can be asked.
#[service]
pub trait Station {
    /// How many requests came before this one.
    fn read(&mut self) -> u64;
    /// The same, to a station that is told a value.
    fn note(&mut self, value: u64) -> u64;
}

/// The requests that came.
struct Requests(u64);

impl Station for Requests {
    fn read(&mut self) -> u64 {
        self.0 += 1;
        self.0 - 1
    }

    fn note(&mut self, _: u64) -> u64 {
        self.read()
    }
}

/// The sensor: capability `sensor` (receive).
pub fn sensor(env: &Env) {
    serve(env, "sensor");
}

/// The logger: capability `log` (receive).
pub fn logger(env: &Env) {
    serve(env, "log");
}

/// Beats each quarter of a millisecond.
pub fn pulse(env: &Env) {
    let (heart, mut ticker) = (env.heartbeat(), Ticker::every(250.us()));
    loop {
        heart.beat();
        ticker.wait();
    }
}

/// Answers requests; beats and obeys each period.
fn serve(env: &Env, endpoint: &str) {
    let (endpoint, heart) = (env.cap(endpoint), env.heartbeat());
    let (mut ticker, mut requests) = (Ticker::every(PERIOD), Requests(0));
    loop {
        match ipc::receive(endpoint, Wait::by(ticker.due())) {
            // A caller that is gone needs no answer.
            Ok(call) => drop(ipc::reply(requests.dispatch(&Request::new(call, None)))),
            Err(Error::Timeout) => {
                ticker.pass();
                heart.beat();
                if obey(env) == Some(Order::End) {
                    return;
                }
            }
            Err(error) => panic!("nothing can be received: {error:?}"),
        }
    }
}

/// The controller: capabilities `sensor`, `log` (send); argument `period` in milliseconds.
pub fn controller(env: &Env) {
    let [sensor, log] = ["sensor", "log"].map(|name| StationClient::new(env.cap(name)));
    let (sensor, log, heart) = (sensor.within(PATIENCE), log.within(PATIENCE), env.heartbeat());
    let mut ticker = Ticker::every(env.number("period", 5).ms());
    loop {
        ticker.wait();
        heart.beat();
        if obey(env) == Some(Order::End) {
            return;
        }
        // A sensor or a logger that was just restarted misses one value.
        if let Ok(value) = sensor.read() {
            let _ = log.note(value);
        }
    }
}

/// Does what was ordered, if anything was; to return is left to the program.
fn obey(env: &Env) -> Option<Order> {
    let orders = env.mem("orders");
    let place = env.number("order", 0) as usize;
    let all = [Order::Panic, Order::Fault, Order::Hang, Order::End];
    let order = all.into_iter().find(|order| *order as u64 == orders.get(place))?;
    orders.set(place, 0);
    match order {
        Order::Panic => panic!("as ordered"),
        Order::Fault => arch::undefined(),
        Order::Hang => system::sleep_until(u64::MAX),
        Order::End => {}
    }
    Some(order)
}
