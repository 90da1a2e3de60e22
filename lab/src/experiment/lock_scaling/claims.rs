//! Claims about how lockings scale (S1-E02 to E04), judged by points of any machine.

use super::COMPARED;
use super::figures::*;
use crate::experiment::claim::Ours::{Each, Same};
use crate::experiment::claim::{Ours, Setting, Spec, claim};
use results::Bound::{Above, AtLeast, AtMost, Below, Within};

/// CPUs below which passes find the lock in their own cache often (S1-13).
pub const FEW: usize = 4;
/// CPUs of a socket of the paper's large machine.
const SOCKET: usize = 14;

/// The setting of the paper's large machine, with the kernel's own sections or the paper's.
macro_rules! large {
    ($think:literal, $cpus:literal, $held:literal) => {
        &[
            (
                "machine",
                "2 x 14 CPUs, Xeon E5-2683 v3, 2.0 GHz",
                Each(["", "2 x 14 CPUs with the paper's transfer times", "the host's CPUs"]),
            ),
            LOAD,
            (
                "think",
                "exponential, 500 to 32,000 cycles, between receive and reply",
                Each(["", $think, "exponential, 500 to 32,000 ticks, before each message"]),
            ),
            ("CPUs", "1 to 28", Each(["", $cpus, "1 to all of the host"])),
            (
                "lock held",
                "164 cycles on one CPU, about 300 on a socket, 600 on two",
                Each(["", $held, "as it comes"]),
            ),
            (
                "window",
                "1 s after 2 s",
                Each([
                    "",
                    "5 of about 20,000 messages",
                    "25 of 2 ms and more, those that the host left alone",
                ]),
            ),
        ]
    };
}

const LOAD: (&str, &str, Ours) =
    ("load", "a client and a server on each CPU", Same("a client and a server on each CPU"));

/// With the kernel's own sections.
const OWN: Setting = large!(
    "exponential, 500 to 32,000 units, before each message",
    "1, 2, 4, 7, 10, 14, 20, 28",
    "as modelled, and one line from the last owner"
);

/// With the paper's constants where they can be set.
const AS_PAPER: Setting = large!(
    "the same, less what a message takes outside the lock",
    "1, 2, 4, 7, 10, 14, 20, 28; think time 1,000: also all up to 14",
    "164 units, and 1.69 lines from the last owner (S1-13): 358, 532"
);

/// On the paper's small machine.
const SMALL: Setting = &[
    (
        "machine",
        "4 CPUs, Cortex-A9 of an i.MX6Q, 1 GHz",
        Each(["", "4 CPUs with the paper's transfer times", "the host's CPUs, if there are 4"]),
    ),
    LOAD,
    (
        "think",
        "exponential, 0 and 500 cycles, between receive and reply",
        Each([
            "",
            "exponential, 0 and 500 units, before each message",
            "exponential, 0 and 500 ticks, before each message",
        ]),
    ),
    ("CPUs", "1 to 4", Each(["", "1 to 4", "1 to all of the host"])),
    (
        "lock held",
        "not stated",
        Each([
            "",
            "as modelled, with barriers of 12 units and one line from the last owner",
            "as it comes",
        ]),
    ),
];

/// S1-C03 to C11.
pub fn claims() -> Vec<Spec> {
    let mut claims = predictions();
    claims.extend(shapes());
    claims.extend(lockings());
    claims
}

/// What the model predicts.
fn predictions() -> Vec<Spec> {
    vec![
        claim(
            "S1-C03",
            "The model fitted to think time 2,000 within a socket predicts the curves of \
             the other six",
            OWN,
        )
        .hidden(|r| too_few(&large(r), FEW))
        .figure("share of the variance of the six that is predicted, r squared", "", |r| {
            predicted_share(&large(r))
        })
        .lies(Above(0.99), "the ledger")
        .figure("residuals of the worst of the six, root of the mean square", "%", |r| {
            worst_residual(&large(r))
        })
        .lies(AtMost(5.0), "choice: what `very well` is in a plot; 4 CPUs and more, as for S1-C04")
        .remark(|r| residuals(&large(r))),
        claim(
            "S1-C04",
            "Beyond a socket throughput falls below the prediction except with much think \
             time, and stays between the curves of the least and the greatest s (the \
             paper's: 323 and 613)",
            AS_PAPER,
        )
        .hidden(unbounded)
        .figure(
            "throughput on all CPUs over the prediction, the greatest of all think times \
             but the two largest",
            "",
            |r| most_of_prediction(&as_paper(r)),
        )
        .lies(Below(1.0), "the paper: it breaks down except for the highest delay times")
        .figure(
            "farthest point outside the curves of the least and the greatest time for \
             which the lock is held, think times 500 and 4,000, 4 CPUs and more",
            "%",
            farthest_outside,
        )
        .lies(AtMost(1.0), "the paper: between them; 1 % is the scatter of the points")
        .remark(bounds),
        claim(
            "S1-C05",
            "A think time of 4,000 scales to a socket but not to two, 16,000 to two",
            AS_PAPER,
        )
        .hidden(|r| one_socket(&as_paper(r)))
        .figure("of N/(a + s), think time 4,000 on one socket", "", |r| {
            let scene = as_paper(r);
            efficiency(&scene, 4000, scene.in_socket)
        })
        .lies(AtLeast(0.78), "the ledger")
        .figure("of N/(a + s), think time 4,000 on both", "", |r| {
            let scene = as_paper(r);
            efficiency(&scene, 4000, scene.most("big"))
        })
        .lies(Below(0.78), "the ledger's band for scaling, missed")
        .figure("of N/(a + s), think time 16,000 on both", "", |r| {
            let scene = as_paper(r);
            efficiency(&scene, 16_000, scene.most("big"))
        })
        .lies(AtLeast(0.85), "the ledger")
        .remark(|r| fitted_service(&as_paper(r))),
    ]
}

/// Which shape curves have.
fn shapes() -> Vec<Spec> {
    vec![
        claim(
            "S1-C06",
            "The curve of think time 1,000 peaks near 7 CPUs, then declines slowly",
            AS_PAPER,
        )
        .hidden(|r| too_few(&as_paper(r), SOCKET))
        .figure("most throughput within a socket, at", "CPUs", |r| {
            Some(highest(&peaked(&as_paper(r)))?.0 as f64)
        })
        .lies(Within(5.0, 9.0), "the ledger")
        .figure("decline from there to the whole socket", "%", |r| {
            let curve = peaked(&as_paper(r));
            Some((1.0 - curve.last()?.1 / highest(&curve)?.1) * 100.0)
        })
        .lies(Within(1.0, 25.0), "choice: more than the points' scatter, and slowly"),
        claim("S1-C07", "The time for which the lock is held is dominated by line transfers", OWN)
            .hidden(|r| one_socket(&large(r)))
            .figure("lock held on one CPU, over that within a socket", "", |r| {
                held_over(r, HELD_SOCKET)
            })
            .lies(Below(0.6), "the ledger (the paper: 164 and 300 cycles)")
            .figure("lock held on one CPU, over that on both sockets", "", |r| {
                held_over(r, HELD_ALL)
            })
            .lies(Below(0.5), "transfers are more than half (the paper: 164 and 600 cycles)")
            .remark(held_times),
        claim(
            "S1-C09",
            "The big lock has its knee near one socket and a lower plateau across",
            AS_PAPER,
        )
        .hidden(|r| one_socket(&as_paper(r)))
        .figure("knee 1 + a/s, think time 4,000", "CPUs", |r| knee(&as_paper(r)))
        .lies(Within(10.5, 17.5), "choice: a socket of 14, give or take a quarter (the paper: 12)")
        .figure("of N/(a + s) on half a socket", "", |r| {
            let scene = as_paper(r);
            efficiency(&scene, COMPARED, scene.in_socket / 2)
        })
        .lies(AtLeast(0.9), "choice: before the knee")
        .figure("of N/(a + s) on one socket", "", |r| {
            let scene = as_paper(r);
            efficiency(&scene, COMPARED, scene.in_socket)
        })
        .lies(Below(0.9), "choice: the knee")
        .figure("throughput on all CPUs, over the most of the curve", "", |r| {
            let curve = as_paper(r).curve("big", COMPARED);
            Some(curve.last()?.1 / highest(&curve)?.1)
        })
        .lies(Below(0.95), "choice: clearly lower")
        .remark(|r| {
            let own = knee(&large(r))?;
            Some(format!("with sections of their own length the knee is at {own:.0} CPUs"))
        }),
    ]
}

/// How lockings compare.
fn lockings() -> Vec<Spec> {
    vec![
        claim(
            "S1-C08",
            "Transactions scale as fine-grained locks do: both linearly to all CPUs",
            OWN,
        )
        .hidden(|r| too_few(&large(r), FEW))
        .figure("of perfect scaling on all CPUs, transactions", "", |r| {
            on_all(&large(r), "elided", COMPARED)
        })
        .lies(AtLeast(0.95), "the paper: linear; 5 % is our limit for it")
        .figure("of perfect scaling on all CPUs, fine-grained locks", "", |r| {
            on_all(&large(r), "fine", COMPARED)
        })
        .lies(AtLeast(0.95), "the paper: linear; 5 % is our limit for it")
        .figure("throughput of transactions over that of fine-grained locks", "", |r| {
            let scene = large(r);
            let of = |name| scene.throughput(name, COMPARED, scene.most("fine"));
            Some(of("elided")? / of("fine")?)
        })
        .lies(Within(0.95, 1.05), "the paper: the same"),
        claim(
            "S1-C10",
            "On a small machine the big lock beats fine-grained ones with a think time of \
             500 and scales linearly to 4 CPUs",
            SMALL,
        )
        .hidden(|r| not_small(&small(r)))
        .figure("throughput over that of fine-grained locks, think time 500, 4 CPUs", "", |r| {
            over_fine(&small(r), 500)
        })
        .lies(Above(1.0), "the ledger")
        .figure("of perfect scaling, think time 500, 4 CPUs", "", |r| {
            share(&small(r), "big", 500, FEW)
        })
        .lies(AtLeast(0.9), "choice: linear"),
        claim(
            "S1-C11",
            "Without think time the big lock saturates at 3 CPUs and fine-grained ones \
             overtake it",
            SMALL,
        )
        .hidden(|r| not_small(&small(r)))
        .figure("throughput on 4 CPUs over that on 3, no think time", "", |r| {
            let scene = small(r);
            Some(scene.throughput("big", 0, 4)? / scene.throughput("big", 0, 3)?)
        })
        .lies(Below(1.05), "choice: a plateau rises by less than 5 %")
        .figure("throughput over that of fine-grained locks, no think time, 4 CPUs", "", |r| {
            over_fine(&small(r), 0)
        })
        .lies(Below(1.0), "the ledger"),
    ]
}
