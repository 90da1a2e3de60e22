//! A client of a source of random bytes, which outlives a restart of the driver.

use rt::prelude::*;
use rt::{Console, system};
use supervision::{Name, SupervisionClient};
use virtio::entropy::{EntropyClient, NoEntropy};

/// Requests before and behind the restart.
const REQUESTS: usize = 40;

/// The client: capabilities `entropy` (send), `supervisor`, `console`, `system`.
pub fn main(env: &Env) {
    let (console, supervisor) = (env.console(), SupervisionClient::new(env.cap("supervisor")));
    let source = EntropyClient::new(env.cap("entropy"));
    let status = show(console, source).and_then(|before| {
        supervisor.kill(Name::new("entropy")).expect("the supervisor ends it");
        let after = take_all(source)?;
        let known = after.iter().any(|words| before.contains(words));
        println!(console, "the driver was restarted: {}", if known { "known" } else { "new" });
        Ok(u64::from(known))
    });
    let status = status.unwrap_or_else(|error| {
        println!(console, "no random bytes: {error:?}");
        1
    });
    let _ = system::shutdown(env.cap("system"), status);
}

type Error = service::CallError<NoEntropy>;

/// Prints the first words.
fn show(console: Console, source: EntropyClient) -> Result<[[u64; 4]; REQUESTS], Error> {
    let all = take_all(source)?;
    let [[a, b, c, d], ..] = all;
    println!(console, "random: {a:016x} {b:016x} {c:016x} {d:016x}");
    let ones: u32 = all.iter().flatten().map(|word| word.count_ones()).sum();
    println!(console, "{ones} of {} bits are ones", 64 * 4 * REQUESTS);
    Ok(all)
}

/// What so many requests give.
fn take_all(source: EntropyClient) -> Result<[[u64; 4]; REQUESTS], Error> {
    let mut all = [[0; 4]; REQUESTS];
    for words in &mut all {
        *words = source.take()?;
    }
    Ok(all)
}
