//! What the paper measured, and what we do.

use super::super::spec::Setting;

/// The paper's large machine.
pub const LARGE: Setting = &[
    ("machine", "2 x 14 CPUs, Xeon E5-2683 v3, 2.0 GHz"),
    ("load", "a client and a server on each CPU"),
    ("think", "exponential, 500 to 32,000 cycles, between receive and reply"),
    ("CPUs", "1 to 28"),
    ("lock held", "164 cycles on one CPU, about 300 on a socket, 600 on two"),
    ("window", "1 s after 2 s"),
];

const NATIVE: Setting = &[
    ("machine", "the host's CPUs"),
    ("load", "a client and a server on each CPU"),
    ("think", "exponential, 500 to 32,000 ticks, before each message"),
    ("CPUs", "1 to all of the host"),
    ("lock held", "as it comes"),
    ("window", "25 of 2 ms and more, those that the host left alone"),
];

/// Ours, the kernel's own sections.
pub const OURS_LARGE: &[(&str, Setting)] = &[
    ("native", NATIVE),
    (
        "twin",
        &[
            ("machine", "2 x 14 CPUs with the paper's transfer times"),
            ("load", "a client and a server on each CPU"),
            ("think", "exponential, 500 to 32,000 units, before each message"),
            ("CPUs", "1, 2, 4, 7, 10, 14, 20, 28"),
            ("lock held", "as modelled, and one line from the last owner"),
            ("window", "5 of about 20,000 messages"),
        ],
    ),
];

/// Ours, with the paper's constants where they can be set.
pub const OURS_AS_PAPER: &[(&str, Setting)] = &[
    ("native", NATIVE),
    (
        "twin",
        &[
            ("machine", "2 x 14 CPUs with the paper's transfer times"),
            ("load", "a client and a server on each CPU"),
            ("think", "the same, less what a message takes outside the lock"),
            ("CPUs", "1, 2, 4, 7, 10, 14, 20, 28; think time 1,000: also all up to 14"),
            ("lock held", "164 units, and 1.69 lines from the last owner (S1-13): 358, 532"),
            ("window", "5 of about 20,000 messages"),
        ],
    ),
];

/// The paper's small machine.
pub const SMALL: Setting = &[
    ("machine", "4 CPUs, Cortex-A9 of an i.MX6Q, 1 GHz"),
    ("load", "a client and a server on each CPU"),
    ("think", "exponential, 0 and 500 cycles, between receive and reply"),
    ("CPUs", "1 to 4"),
    ("lock held", "not stated"),
];

/// Ours.
pub const OURS_SMALL: &[(&str, Setting)] = &[
    (
        "native",
        &[
            ("machine", "the host's CPUs, if there are 4"),
            ("load", "a client and a server on each CPU"),
            ("think", "exponential, 0 and 500 ticks, before each message"),
            ("CPUs", "1 to all of the host"),
            ("lock held", "as it comes"),
        ],
    ),
    (
        "twin",
        &[
            ("machine", "4 CPUs with the paper's transfer times"),
            ("load", "a client and a server on each CPU"),
            ("think", "exponential, 0 and 500 units, before each message"),
            ("CPUs", "1 to 4"),
            (
                "lock held",
                "as modelled, with barriers of 12 units and one line from the last owner",
            ),
        ],
    ),
];
