//! A control loop whose programs are supervised: a controller asks a sensor each period and tells a
//! logger. The saboteur makes each of them fail.

pub mod saboteur;
pub mod victim;

use rt::prelude::*;
use rt::{arch, ipc, system};

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
/// The label of a message that is answered with a number.
const READ: u32 = 1;

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

/// Answers each message with how many came before; beats and obeys each period.
fn serve(env: &Env, endpoint: &str) {
    let (endpoint, heart) = (env.cap(endpoint), env.heartbeat());
    let mut ticker = Ticker::every(PERIOD);
    let mut count = 0;
    loop {
        match ipc::receive(endpoint, Wait::by(ticker.due())) {
            // A caller that is gone needs no answer.
            Ok(_) => drop(ipc::reply(Message::short(READ, [count]))),
            Err(Error::Timeout) => {
                ticker.pass();
                heart.beat();
                if obey(env) == Some(Order::End) {
                    return;
                }
                continue;
            }
            Err(error) => panic!("nothing can be received: {error:?}"),
        }
        count += 1;
    }
}

/// The controller: capabilities `sensor`, `log` (send); argument `period` in milliseconds.
pub fn controller(env: &Env) {
    let (sensor, log, heart) = (env.cap("sensor"), env.cap("log"), env.heartbeat());
    let mut ticker = Ticker::every(env.number("period", 5).ms());
    loop {
        ticker.wait();
        heart.beat();
        if obey(env) == Some(Order::End) {
            return;
        }
        // A sensor or a logger that is just made again misses one value.
        if let Ok(value) = ipc::call_within(sensor, Message::empty(READ), Wait::within(PATIENCE)) {
            let value = Message::short(READ, [value.words[0]]);
            let _ = ipc::call_within(log, value, Wait::within(PATIENCE));
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
