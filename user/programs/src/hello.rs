//! Two domains greet each other: the first message to follow through the kernel.
//!
//! The server waits for greetings on the endpoint `greeting` and answers each; the client sends
//! `rounds` of them, shows what comes back, and ends the run.

use rt::prelude::*;
use rt::{Console, system};
use service::{Badge, service};

/// What the server can be asked.
#[service]
pub trait Greeting {
    /// Greets with a number: its square, and how many greetings the server has seen.
    fn hello(&mut self, who: Badge, number: u64) -> (u64, u64);
}

/// The client: capabilities `greeting` (send), `console`, `system`.
pub fn client(env: &Env) {
    let (console, greeting) = (env.console(), GreetingClient::new(env.cap("greeting")));
    println!(console, "{}: hello, is anybody there?", env.name());
    let mut status = 0;
    for round in 1..=env.number("rounds", 3) {
        match greeting.hello(round) {
            Ok((answer, count)) => {
                println!(
                    console,
                    "{}: greeting {round} came back as {answer}; the server has seen {count}",
                    env.name()
                );
                status |= u64::from(answer != round * round);
            }
            Err(error) => {
                println!(console, "{}: the call failed: {error:?}", env.name());
                status = 1;
            }
        }
    }
    println!(console, "{}: goodbye", env.name());
    let ended: Result<(), Error> = system::shutdown(env.cap("system"), status);
    println!(console, "{}: cannot end the run: {ended:?}", env.name());
}

/// The server, and how many greetings it has seen.
struct Greeter {
    name: &'static str,
    console: Console,
    seen: u64,
}

impl Greeting for Greeter {
    fn hello(&mut self, who: Badge, number: u64) -> (u64, u64) {
        self.seen += 1;
        println!(self.console, "{}: badge {} says hello {number}", self.name, who.0);
        (number.wrapping_mul(number), self.seen)
    }
}

/// The server: capabilities `greeting` (receive), `console`.
pub fn server(env: &Env) {
    let mut greeter = Greeter { name: env.name(), console: env.console(), seen: 0 };
    println!(greeter.console, "{}: at your service", greeter.name);
    let why = greeter.serve(env.cap("greeting"));
    println!(greeter.console, "{}: no more greetings: {why:?}", greeter.name);
}
