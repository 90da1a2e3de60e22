//! Measures the kernel's core on this host and prints what it found as JSON.
//!
//! Exit status: 0 measured, 2 wrong usage or too few CPUs; a message on standard error says why.

use locks::Transactions;
use native::request::{Command, Request, USAGE};
use native::{cost, counter, lines, mix, pin, scaling, series};
use rtm::Rtm;
use serde_json::{Value, json};
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match Request::parse(&words).and_then(|request| measure(&request)) {
        Ok(found) => {
            println!("{found}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn measure(request: &Request) -> Result<Value, String> {
    let hertz = counter::hertz();
    let transactions = Rtm::is_usable();
    // Before anything is pinned.
    let sockets: Vec<usize> = pin::available()?.into_iter().map(pin::socket).collect();
    let locks = matches!(request.command, Command::Cost | Command::Scaling);
    let elides = locks && request.lockings.contains(&"elided");
    if elides && !transactions {
        eprintln!(
            "THIS PROCESSOR HAS NO USABLE TRANSACTIONS: `elided` runs on its fall-back, the lock"
        );
    }
    let found = match request.command {
        Command::Cost => json!(cost::measure(request, hertz)?),
        Command::Scaling => json!(scaling::measure(request, hertz)?),
        Command::Lines => json!(lines::measure(request)?),
        Command::Ring | Command::Queue => json!(series::measure(request, hertz)?),
        Command::Mix => json!(mix::measure(request, hertz)?),
    };
    Ok(json!({
        "hertz": hertz,
        "transactions": transactions,
        "processor": counter::processor(),
        "sockets": sockets,
        "found": found,
    }))
}
