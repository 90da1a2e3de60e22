//! Makes programs fail in all ways, by seed, and looks that each comes back and nothing is lost.

use super::Order;
use crate::random::Random;
use abi::call::Table;
use abi::object::Resource;
use rt::prelude::*;
use rt::{Console, ipc, system, time};
use service::CallError;
use supervision::{Name, Refused, State, SupervisionClient};

/// The programs, in the order of their orders, as `restarts` tells of them.
const PROGRAMS: [&str; 3] = ["logger", "sensor", "controller"];
/// Their places; the controller depends on the sensor.
const LOGGER: usize = 0;
const SENSOR: usize = 1;
const CONTROLLER: usize = 2;
/// The ways in which they fail by themselves.
const WAYS: [Order; 4] = [Order::Panic, Order::Fault, Order::Hang, Order::End];
/// How long the programs have to come to rest.
const REST: Duration = Duration::from_millis(50);

/// What is in use of each resource.
type Used = [u64; Resource::COUNT];

/// The saboteur: capabilities `supervisor`, `restarts` (receive), `console`, `system`; memory
/// `orders`; arguments `seed`, `failures`, and in milliseconds `pause` between them and
/// `patience`, the time in which a program has to come back.
pub fn main(env: &Env) {
    let (console, machine) = (env.console(), env.cap("system"));
    let failures = env.number("failures", 12);
    let supervisor = SupervisionClient::new(env.cap("supervisor"));
    let mut random = Random::new(env.number("seed", 1));
    time::sleep(REST);
    let before = used(machine);
    let mut expected = [0; PROGRAMS.len()];
    for _ in 0..failures {
        time::sleep(env.number("pause", 400).ms());
        let victim = random.below(PROGRAMS.len() as u64) as usize;
        // What was told of earlier restarts does not count.
        let _ = ipc::receive(env.cap("restarts"), Wait::ZERO);
        // The logger alone is restarted for that.
        let ends = victim == LOGGER;
        match random.below(if ends { 5 } else { 4 }) {
            0 => {
                let killed = supervisor.kill(Name::new(PROGRAMS[victim]));
                killed.unwrap_or_else(|error| panic!("the supervisor refuses: {error:?}"));
            }
            way => order(env, victim, WAYS[way as usize - 1]),
        }
        await_restart(env, victim);
        expected[victim] += 1;
        if victim == SENSOR {
            expected[CONTROLLER] += 1;
        }
    }
    report(console, &supervisor, expected);
    ask(env, &supervisor);
    time::sleep(REST);
    let after = used(machine);
    for (resource, (before, after)) in Resource::ALL.iter().zip(before.iter().zip(after)) {
        assert!(*before == after, "{}: {before} before, {after} after", resource.name());
    }
    println!(console, "{failures} failures; all are up, and what is in use is as before");
    let _ = system::shutdown(machine, 0);
}

/// Waits until a program was restarted.
fn await_restart(env: &Env, victim: usize) {
    let end = Instant::now() + env.number("patience", 500).ms();
    let mut told = 0;
    while told >> victim & 1 == 0 {
        match ipc::receive(env.cap("restarts"), Wait::by(end)) {
            Ok(received) => told |= received.badge,
            Err(error) => panic!("{} was not restarted: {error:?}", PROGRAMS[victim]),
        }
    }
}

fn order(env: &Env, program: usize, order: Order) {
    env.mem("orders").set(program, order as u64);
}

/// Tries what the supervisor can be asked besides; all are up behind that.
fn ask(env: &Env, supervisor: &SupervisionClient) {
    let [sensor, controller] = [SENSOR, CONTROLLER].map(|place| Name::new(PROGRAMS[place]));
    let states = |sensor: State, controller: State| {
        let state = |place: usize| supervisor.child(place as u32).map(|child| child.state);
        assert!((state(SENSOR), state(CONTROLLER)) == (Ok(sensor), Ok(controller)));
    };
    let refused = |result: Result<(), CallError<Refused>>, why| {
        assert!(result == Err(CallError::Server(why)), "{result:?} instead of {why:?}");
    };
    refused(supervisor.kill(Name::new("stranger")), Refused::Unknown);
    assert!(supervisor.stop(sensor).is_ok());
    states(State::Stopped, State::Waiting);
    refused(supervisor.restart(controller), Refused::DependencyDown);
    assert!(supervisor.restart(sensor).is_ok());
    states(State::Up, State::Up);
    // A program that ends has not failed, and what depends on it stays.
    order(env, SENSOR, Order::End);
    time::sleep(REST);
    states(State::Ended, State::Up);
    assert!(supervisor.restart(sensor).is_ok());
    states(State::Up, State::Up);
}

/// Says how often each program was restarted, which is as often as it had to be. All are up.
fn report(console: Console, supervisor: &SupervisionClient, expected: [u32; PROGRAMS.len()]) {
    for (number, expected) in (0..).zip(expected) {
        let child = supervisor.child(number);
        let child = child.unwrap_or_else(|error| panic!("no child {number}: {error:?}"));
        assert!(child.state == State::Up, "{} is {:?}", child.name, child.state);
        assert!(child.restarts == expected, "{} instead of {expected} restarts", child.restarts);
        println!(console, "{}: {expected} restarts", child.name);
    }
}

pub(crate) fn used(machine: Slot) -> Used {
    core::array::from_fn(|resource| {
        let row = system::inspect(machine, Table::Pool, resource as u64);
        row.expect("the kernel counts its pools").results[0]
    })
}
