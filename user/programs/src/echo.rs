//! Small servers for the shell to play with. `echo` is no typed service: it answers whatever comes,
//! and `ping` takes the time of bare messages with it.

use rt::ipc;
use rt::prelude::*;
use service::service;

/// Answers each message on `echo` with the same label, and its first four words.
pub fn main(env: &Env) {
    let echo = Server::new(env.cap("echo"));
    echo.run(|request| Message::build(request.label()).words(request.words()));
}

/// What the counter can be asked.
#[service]
pub trait Counter {
    /// How far it has come.
    fn count(&mut self) -> u64;
}

/// Milliseconds.
struct Count(u64);

impl Counter for Count {
    fn count(&mut self) -> u64 {
        self.0
    }
}

/// Counts milliseconds, and tells each caller on `count` how far it has come.
pub fn counter(env: &Env) {
    let on = env.cap("count");
    let (mut ticker, mut count) = (Ticker::every(1.ms()), Count(0));
    loop {
        match ipc::receive(on, Wait::by(ticker.due())) {
            // The client may be gone by now.
            Ok(call) => drop(ipc::reply(count.dispatch(&Request::new(call, None)))),
            Err(Error::Timeout) => {
                ticker.pass();
                count.0 += 1;
            }
            Err(_) => return,
        }
    }
}
