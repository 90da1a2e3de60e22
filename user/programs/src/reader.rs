//! Reads the kernel's trace while it is written, and checks that it goes on in order.

use rt::prelude::*;
use rt::trace::Reader;
use rt::{system, time};

/// Memory `trace`; argument `enough`: after so many records it ends the run with what it found
/// (capabilities `console`, `system`); or `dies`: after so many it is gone.
pub fn main(env: &Env) {
    let mut reader = Reader::new(env.mem("trace")).expect("a trace");
    let (dies, enough) = (env.number("dies", u64::MAX), env.number("enough", u64::MAX));
    let (mut read, mut before, mut disorder) = (0, 0, 0);
    while read < enough {
        while let Some(record) = reader.read() {
            read += 1;
            disorder += u64::from(record.time < before);
            before = record.time;
            assert!(read < dies, "this reader dies here");
        }
        time::sleep(50.us());
    }
    let console = env.console();
    println!(console, "{read} records, {disorder} out of order, {} lost", reader.lost());
    let failed = disorder > 0;
    system::shutdown(env.cap("system"), failed.into()).expect("the run ends");
}
