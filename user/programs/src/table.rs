//! All programs by name, for machines that run them in their own process.

use rt::Env;

/// A program: its name, as its binary is called, and its function.
pub type Program = (&'static str, fn(&Env));

/// All programs.
pub const PROGRAMS: &[Program] = &[
    ("busy", crate::busy::main),
    ("counter", crate::echo::counter),
    ("cross", crate::cross::main),
    ("curfew", crate::curfew::main),
    ("cyclictest", crate::cyclictest::main),
    ("echo", crate::echo::main),
    ("elevator", crate::latency::elevator),
    ("fuzz", crate::fuzz::main),
    ("hello-client", crate::hello::client),
    ("hello-server", crate::hello::server),
    ("hostile-client", crate::hostile_client::main),
    ("hostile", crate::hostile::main),
    ("hot-potato", crate::potato::main),
    ("ipc-chain", crate::latency::chain),
    ("judge", crate::hostile::judge),
    ("latency", crate::latency::main),
    ("micro-peer", crate::micro::peer),
    ("micro", crate::micro::main),
    ("mix-client", crate::mix::client),
    ("mix-device", crate::mix::device),
    ("mix-server", crate::mix::server),
    ("pairs-client", crate::pairs::client),
    ("pairs-server", crate::pairs::server),
    ("ping-client", crate::ping::client),
    ("ping-same", crate::ping::same),
    ("ping-server", crate::ping::server),
    ("queueing", crate::queue::main),
    ("reader", crate::reader::main),
    ("selftest-partner", crate::selftest::partner),
    ("selftest", crate::selftest::main),
    ("shell", crate::shell::main),
    ("start-stop", crate::latency::start_stop),
    ("storm", crate::latency::storm),
    ("stress", crate::stress::main),
    ("threads", crate::threads::main),
    ("worst", crate::worst::main),
];
