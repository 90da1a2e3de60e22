//! Has the supervisor end a child again and again, as its failures would.

use rt::prelude::*;
use supervision::{Name, SupervisionClient};

/// Arguments `child`, its name, and `every`, milliseconds; capability `supervisor`.
pub fn main(env: &Env) {
    let supervisor = SupervisionClient::new(env.cap("supervisor"));
    let child = Name::new(env.arg("child").expect("an argument"));
    let mut ticker = Ticker::every(Duration::from_millis(env.number("every", 1000)));
    loop {
        ticker.wait();
        supervisor.kill(child).expect("the supervisor ends it");
    }
}
