//! Small servers for the shell to play with.

use rt::ipc;
use rt::prelude::*;

/// Answers each message on `echo` with the same label, and its first four words.
pub fn main(env: &Env) {
    let echo = Server::new(env.cap("echo"));
    echo.run(|request| Message::build(request.label()).words(request.words()));
}

/// Counts milliseconds, and tells each caller on `count` how far it has come.
pub fn counter(env: &Env) {
    let on = env.cap("count");
    let (mut ticker, mut count) = (Ticker::every(1.ms()), 0);
    loop {
        match ipc::receive(on, Wait::by(ticker.due())) {
            // The client may be gone by now.
            Ok(_) => drop(ipc::reply(Message::short(0, [count]))),
            Err(Error::Timeout) => {
                ticker.pass();
                count += 1;
            }
            Err(_) => return,
        }
    }
}
