//! Two domains greet each other: the first message to follow through the kernel.
//!
//! The server waits for greetings on the endpoint `greeting` and answers each; the client sends
//! `rounds` of them, shows what comes back, and ends the run.

use rt::prelude::*;
use rt::{ipc, system};

const HELLO: u32 = 1;
const WELCOME: u32 = 2;
const UNKNOWN: u32 = 3;

/// The client: capabilities `greeting` (send), `console`, `system`.
pub fn client(env: &Env) {
    let (console, greeting) = (env.console(), env.cap("greeting"));
    println!(console, "{}: hello, is anybody there?", env.name());
    let mut status = 0;
    for round in 1..=env.number("rounds", 3) {
        match ipc::call(greeting, Message::short(HELLO, [round])) {
            Ok(Received { info, words: [answer, count, ..], .. }) if info.label() == WELCOME => {
                println!(
                    console,
                    "{}: greeting {round} came back as {answer}; the server has seen {count}",
                    env.name()
                );
                status |= u64::from(answer != round * round);
            }
            Ok(reply) => {
                println!(console, "{}: an answer with label {}", env.name(), reply.info.label());
                status = 1;
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

/// The server: capabilities `greeting` (receive), `console`.
pub fn server(env: &Env) {
    let (console, greeting) = (env.console(), env.cap("greeting"));
    println!(console, "{}: at your service", env.name());
    let mut seen = 0;
    let why = Server::new(greeting).run(|request| match (request.label(), request.words()) {
        (HELLO, &[number, ..]) => {
            seen += 1;
            println!(console, "{}: badge {} says hello {number}", env.name(), request.badge());
            Message::short(WELCOME, [number.wrapping_mul(number), seen])
        }
        _ => Message::empty(UNKNOWN),
    });
    println!(console, "{}: no more greetings: {why:?}", env.name());
}
