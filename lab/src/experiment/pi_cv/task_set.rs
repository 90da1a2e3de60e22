//! The task set of the paper's Table I and Fig. 6 in RTSim's language, also with servers in a row.

use super::{CLIENTS, Shape};
use std::fmt::Write;

/// Units of the run, periods and own computation of the clients.
const DURATION: u64 = 200_000;
const PERIODS: [u64; CLIENTS] = [676, 683, 687];
const OWN: u64 = 50;

/// What one party asks another for: the messages go to `to`, the reply comes to `reply`.
fn call(to: &str, reply: &str) -> String {
    format!(
        "fixed(1); lock({to}M); fixed(2); pushptr({to}Q, {reply}Q, {reply}CV, {reply}M); \
         fixed(1); unlock({to}M); fixed(2); signal({to}M, {to}CV); \
         fixed(1); lock({reply}M); waitq({reply}M, {reply}CV, {reply}Q); fixed(2); pop({reply}Q); \
         fixed(1); unlock({reply}M);"
    )
}

/// The name of a server, from 1; its requests go by it, and its pointers have a `p` in front.
fn server(number: u64) -> String {
    format!("Server{number}")
}

/// The text of the task set.
pub fn text(phases: [u64; CLIENTS], shape: Shape) -> String {
    let Shape { chain, call: length, critical } = shape;
    let inside = length * critical / 100;
    let [inside, outside] = [inside, length - inside].map(|units| match units {
        0 => String::new(),
        units => format!("fixed({units});"),
    });
    let mut text = format!("duration {DURATION};\nblocking 2;\n");
    let clients = (1..=CLIENTS).map(|client| format!("Client{client}"));
    // Who waits for a reply, and the server that gives it.
    let helped: Vec<(String, String)> = clients
        .map(|client| (client, server(1)))
        .chain((1..chain).map(|number| (format!("Reply{number}"), server(number + 1))))
        .collect();
    let servers = (1..=chain).map(server);
    for name in helped.iter().map(|(name, _)| name.clone()).chain(servers) {
        // Writing to a text does not fail.
        let _ = writeln!(text, "mutex {name}M; condition {name}CV; queue {name}Q;");
    }
    for name in (1..=chain).map(server) {
        let _ = writeln!(text, "pointer p{name}M, p{name}CV, p{name}Q;");
    }
    for (reply, server) in &helped {
        let _ = writeln!(text, "helpers {reply}CV {server};");
    }
    for (index, (period, phase)) in PERIODS.into_iter().zip(phases).enumerate() {
        let number = index + 1;
        let code = call(&server(1), &format!("Client{number}"));
        let _ = writeln!(
            text,
            "task Client{number} priority {number} period {period} phase {phase} \
             {{ fixed({OWN}); {code} }}"
        );
    }
    for number in 1..=chain {
        let (name, priority) = (server(number), CLIENTS as u64 + number);
        let next = match number < chain {
            true => call(&server(number + 1), &format!("Reply{number}")),
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "task {name} priority {priority} forever {{ \
             fixed(1); lock({name}M); waitq({name}M, {name}CV, {name}Q); \
             fixed(2); popptr({name}Q, p{name}Q, p{name}CV, p{name}M); \
             {inside} fixed(1); unlock({name}M); {outside} {next} \
             fixed(1); lock(*p{name}M); fixed(2); push(*p{name}Q); fixed(1); unlock(*p{name}M); \
             fixed(2); signal(*p{name}M, *p{name}CV); }}"
        );
    }
    text
}
