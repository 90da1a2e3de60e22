//! What a message costs under each locking, uncontended: ping-pong on one CPU (S1-E01).
//!
//! Lockings take turns in rounds of one short batch each, so that what the host does meanwhile
//! meets them all alike.

use crate::driver::Drive;
use crate::request::Request;
use crate::{kernels, pin};
use serde::Serialize;

/// Round trips of a locking before anything is recorded.
const WARM_UP: u64 = 10_000;

/// What a locking gave.
#[derive(Serialize)]
pub struct Cost {
    /// Its name.
    pub locking: &'static str,
    /// Ticks of each batch.
    pub batches: Vec<u64>,
    /// Messages in a batch.
    pub messages_in_batch: u64,
    /// Messages that were sent in all, warm-up included.
    pub messages: u64,
}

/// Measures.
pub fn measure(request: &Request, hertz: u64) -> Result<Vec<Cost>, String> {
    pin::pin(pin::choose(1)?[0])?;
    let mut all: Vec<(Cost, Box<dyn Drive>)> = Vec::new();
    for locking in &request.lockings {
        let mut cpus = kernels::boot(&request.kernel, locking, hertz, 1)?;
        let mut cpu = cpus.remove(0);
        cpu.batch(WARM_UP.min(request.trips * 100));
        let messages_in_batch = 2 * request.trips;
        let batches = Vec::with_capacity(request.rounds as usize);
        all.push((Cost { locking, batches, messages_in_batch, messages: 0 }, cpu));
    }
    for round in 0..request.rounds as usize {
        // Each locking comes after each other one equally often.
        let count = all.len();
        for turn in 0..count {
            let (cost, cpu) = &mut all[(round + turn) % count];
            // The first trips find the caches as the locking before has left them.
            cpu.batch(2);
            cost.batches.push(cpu.batch(request.trips));
        }
    }
    let done = |(cost, cpu): (Cost, Box<dyn Drive>)| Cost { messages: cpu.messages(), ..cost };
    Ok(all.into_iter().map(done).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter;
    use crate::kernels::LOCKINGS;

    #[test]
    fn messages_of_each_locking_are_counted() {
        let words = ["cost", "--trips", "10", "--rounds", "3"].map(String::from);
        let request = Request::parse(&words).expect("a command line");
        let found = measure(&request, counter::hertz()).expect("it measures");
        assert_eq!(found.len(), LOCKINGS.len());
        for cost in found {
            // A thousand trips before all batches, two before each.
            assert_eq!(cost.messages, 2 * (1000 + 3 * (2 + 10)), "{}", cost.locking);
            assert_eq!((cost.batches.len(), cost.messages_in_batch), (3, 20), "{}", cost.locking);
        }
    }
}
