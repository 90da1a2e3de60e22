//! Claims about how lockings scale (S1-E02 to E04), judged by points of any machine.

mod figures;
mod settings;

use super::spec::{self, Band, Spec, silent};
use crate::experiment::lock_scaling::COMPARED;
use figures::*;
use results::{Bound, Claim, Report};
use settings::{LARGE, OURS_AS_PAPER, OURS_LARGE, OURS_SMALL, SMALL};

/// CPUs below which passes find the lock in their own cache often (S1-13).
const FEW: usize = 4;
/// CPUs of a socket of the paper's large machine.
const SOCKET: usize = 14;

/// S1-C03 to C11.
pub static CLAIMS: [Spec; 9] = [
    Spec {
        id: "S1-C03",
        statement: "The model fitted to think time 2,000 within a socket predicts the curves of \
                    the other six",
        paper: LARGE,
        ours: OURS_LARGE,
        hidden: |report| too_few(&large(report), FEW),
        bands: &[
            Band {
                quantity: "share of the variance of the six that is predicted, r squared",
                unit: "",
                bound: Bound::Above(0.99),
                from: "the ledger",
                figure: |report| predicted_share(&large(report)),
            },
            Band {
                quantity: "residuals of the worst of the six, root of the mean square",
                unit: "%",
                bound: Bound::AtMost(5.0),
                from: "choice: what `very well` is in a plot; 4 CPUs and more, as for S1-C04",
                figure: |report| worst_residual(&large(report)),
            },
        ],
        remark: |report| residuals(&large(report)),
    },
    Spec {
        id: "S1-C04",
        statement: "Beyond a socket throughput falls below the prediction except with much think \
                    time, and stays between the curves of the least and the greatest s (the \
                    paper's: 323 and 613)",
        paper: LARGE,
        ours: OURS_AS_PAPER,
        hidden: unbounded,
        bands: &[
            Band {
                quantity: "throughput on all CPUs over the prediction, the greatest of all think \
                           times but the two largest",
                unit: "",
                bound: Bound::Below(1.0),
                from: "the paper: it breaks down except for the highest delay times",
                figure: |report| most_of_prediction(&as_paper(report)),
            },
            Band {
                quantity: "farthest point outside the curves of the least and the greatest time \
                           for which the lock is held, think times 500 and 4,000, 4 CPUs and more",
                unit: "%",
                bound: Bound::AtMost(1.0),
                from: "the paper: between them; 1 % is the scatter of the points",
                figure: farthest_outside,
            },
        ],
        remark: bounds,
    },
    Spec {
        id: "S1-C05",
        statement: "A think time of 4,000 scales to a socket but not to two, 16,000 to two",
        paper: LARGE,
        ours: OURS_AS_PAPER,
        hidden: |report| one_socket(&as_paper(report)),
        bands: &[
            Band {
                quantity: "of N/(a + s), think time 4,000 on one socket",
                unit: "",
                bound: Bound::AtLeast(0.78),
                from: "the ledger",
                figure: |report| {
                    let scene = as_paper(report);
                    efficiency(&scene, 4000, scene.in_socket)
                },
            },
            Band {
                quantity: "of N/(a + s), think time 4,000 on both",
                unit: "",
                bound: Bound::Below(0.78),
                from: "the ledger's band for scaling, missed",
                figure: |report| {
                    let scene = as_paper(report);
                    efficiency(&scene, 4000, scene.most("big"))
                },
            },
            Band {
                quantity: "of N/(a + s), think time 16,000 on both",
                unit: "",
                bound: Bound::AtLeast(0.85),
                from: "the ledger",
                figure: |report| {
                    let scene = as_paper(report);
                    efficiency(&scene, 16_000, scene.most("big"))
                },
            },
        ],
        remark: |report| fitted_service(&as_paper(report)),
    },
    Spec {
        id: "S1-C06",
        statement: "The curve of think time 1,000 peaks near 7 CPUs, then declines slowly",
        paper: LARGE,
        ours: OURS_AS_PAPER,
        hidden: |report| too_few(&as_paper(report), SOCKET),
        bands: &[
            Band {
                quantity: "most throughput within a socket, at",
                unit: "CPUs",
                bound: Bound::Within(5.0, 9.0),
                from: "the ledger",
                figure: |report| Some(highest(&peaked(&as_paper(report)))?.0 as f64),
            },
            Band {
                quantity: "decline from there to the whole socket",
                unit: "%",
                bound: Bound::Within(1.0, 25.0),
                from: "choice: more than the points' scatter, and slowly",
                figure: |report| {
                    let curve = peaked(&as_paper(report));
                    Some((1.0 - curve.last()?.1 / highest(&curve)?.1) * 100.0)
                },
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S1-C07",
        statement: "The time for which the lock is held is dominated by line transfers",
        paper: LARGE,
        ours: OURS_LARGE,
        hidden: |report| one_socket(&large(report)),
        bands: &[
            Band {
                quantity: "lock held on one CPU, over that within a socket",
                unit: "",
                bound: Bound::Below(0.6),
                from: "the ledger (the paper: 164 and 300 cycles)",
                figure: |report| held_over(report, HELD_SOCKET),
            },
            Band {
                quantity: "lock held on one CPU, over that on both sockets",
                unit: "",
                bound: Bound::Below(0.5),
                from: "transfers are more than half (the paper: 164 and 600 cycles)",
                figure: |report| held_over(report, HELD_ALL),
            },
        ],
        remark: held_times,
    },
    Spec {
        id: "S1-C08",
        statement: "Transactions scale as fine-grained locks do: both linearly to all CPUs",
        paper: LARGE,
        ours: OURS_LARGE,
        hidden: |report| too_few(&large(report), FEW),
        bands: &[
            Band {
                quantity: "of perfect scaling on all CPUs, transactions",
                unit: "",
                bound: Bound::AtLeast(0.95),
                from: "the paper: linear; 5 % is our limit for it",
                figure: |report| on_all(&large(report), "elided", COMPARED),
            },
            Band {
                quantity: "of perfect scaling on all CPUs, fine-grained locks",
                unit: "",
                bound: Bound::AtLeast(0.95),
                from: "the paper: linear; 5 % is our limit for it",
                figure: |report| on_all(&large(report), "fine", COMPARED),
            },
            Band {
                quantity: "throughput of transactions over that of fine-grained locks",
                unit: "",
                bound: Bound::Within(0.95, 1.05),
                from: "the paper: the same",
                figure: |report| {
                    let scene = large(report);
                    let of = |name| scene.throughput(name, COMPARED, scene.most("fine"));
                    Some(of("elided")? / of("fine")?)
                },
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S1-C09",
        statement: "The big lock has its knee near one socket and a lower plateau across",
        paper: LARGE,
        ours: OURS_AS_PAPER,
        hidden: |report| one_socket(&as_paper(report)),
        bands: &[
            Band {
                quantity: "knee 1 + a/s, think time 4,000",
                unit: "CPUs",
                bound: Bound::Within(10.5, 17.5),
                from: "choice: a socket of 14, give or take a quarter (the paper: 12)",
                figure: |report| knee(&as_paper(report)),
            },
            Band {
                quantity: "of N/(a + s) on half a socket",
                unit: "",
                bound: Bound::AtLeast(0.9),
                from: "choice: before the knee",
                figure: |report| {
                    let scene = as_paper(report);
                    efficiency(&scene, COMPARED, scene.in_socket / 2)
                },
            },
            Band {
                quantity: "of N/(a + s) on one socket",
                unit: "",
                bound: Bound::Below(0.9),
                from: "choice: the knee",
                figure: |report| {
                    let scene = as_paper(report);
                    efficiency(&scene, COMPARED, scene.in_socket)
                },
            },
            Band {
                quantity: "throughput on all CPUs, over the most of the curve",
                unit: "",
                bound: Bound::Below(0.95),
                from: "choice: clearly lower",
                figure: |report| {
                    let curve = as_paper(report).curve("big", COMPARED);
                    Some(curve.last()?.1 / highest(&curve)?.1)
                },
            },
        ],
        remark: |report| {
            let own = knee(&large(report))?;
            Some(format!("with sections of their own length the knee is at {own:.0} CPUs"))
        },
    },
    Spec {
        id: "S1-C10",
        statement: "On a small machine the big lock beats fine-grained ones with a think time of \
                    500 and scales linearly to 4 CPUs",
        paper: SMALL,
        ours: OURS_SMALL,
        hidden: |report| not_small(&small(report)),
        bands: &[
            Band {
                quantity: "throughput over that of fine-grained locks, think time 500, 4 CPUs",
                unit: "",
                bound: Bound::Above(1.0),
                from: "the ledger",
                figure: |report| over_fine(&small(report), 500),
            },
            Band {
                quantity: "of perfect scaling, think time 500, 4 CPUs",
                unit: "",
                bound: Bound::AtLeast(0.9),
                from: "choice: linear",
                figure: |report| share(&small(report), "big", 500, FEW),
            },
        ],
        remark: silent,
    },
    Spec {
        id: "S1-C11",
        statement: "Without think time the big lock saturates at 3 CPUs and fine-grained ones \
                    overtake it",
        paper: SMALL,
        ours: OURS_SMALL,
        hidden: |report| not_small(&small(report)),
        bands: &[
            Band {
                quantity: "throughput on 4 CPUs over that on 3, no think time",
                unit: "",
                bound: Bound::Below(1.05),
                from: "choice: a plateau rises by less than 5 %",
                figure: |report| {
                    let scene = small(report);
                    Some(scene.throughput("big", 0, 4)? / scene.throughput("big", 0, 3)?)
                },
            },
            Band {
                quantity: "throughput over that of fine-grained locks, no think time, 4 CPUs",
                unit: "",
                bound: Bound::Below(1.0),
                from: "the ledger",
                figure: |report| over_fine(&small(report), 0),
            },
        ],
        remark: silent,
    },
];

/// S1-C03 to C11.
pub fn all(report: &Report) -> Vec<Claim> {
    spec::judge(&CLAIMS, report)
}

#[cfg(test)]
mod tests;
