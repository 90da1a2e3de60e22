use super::*;
use crate::testing::{conversation, made};
use abi::trace::Keep;
use expect_test::expect;

fn names() -> Names {
    Names::of(["ping-client", "ping-server"])
}

#[test]
fn a_conversation() {
    let view = View { width: 80, ..View::default() };
    expect![[r#"
        fastpath on CPU 0, 0 ns to 18.470 us since boot; a column is 302.8 ns
                           |+0 ns              |+6055 ns           |+12.111 us
        CPU 0              -kkKkk-KkK-kKkk-kkK--Kkk-kkkk-KK-kKKKK--k--kk...............k
        ping-server/2 200  =#+............................+###..........................
        ping-client/1 100  ===##+c+##cc##+c+##cc##+c+##cc+#=====#######sssssssssssssssss
        ping-server/1 90   ==#+.###.+##+.###.+##+.###.+###..............................
        CPU: K kernel, at least half of the column, k less; - a thread runs; . idle
        threads: # running, at least half of the column, + less; = ready;
                 . receiving, c calling, s sending, w waiting for a mutex or condition,
                 z suspended, b blocked otherwise
               1660 ns  ping-server/1 runs on the time of ping-client/1 (x6, last at
                        8510 ns)
               9450 ns  a deadline of ping-server/2 passes
             10.190 us  ping-server/2 marks 42
             11.230 us  preemption point in a lazy dequeue: no interrupt waits
             11.330 us  a look-up finds ping-client/1 and drops 7 on the way
             12.210 us  IRQ 4
             13.240 us  ping-client/1 faults, kind 14
    "#]]
    .assert_eq(&timeline(&conversation().trace(), &names(), &view));
}

#[test]
fn a_window_of_it_for_a_narrow_terminal() {
    let trace = conversation().trace();
    let view = View { width: 60, from: Some(9000), to: Some(12_000), threads: 1, events: 2 };
    expect![[r#"
        fastpath on CPU 0, 9000 ns to 12.000 us since boot; a column
        is 73.2 ns
                           |+0 ns              |+1463 ns
        CPU 0              --KKKKKKKk------k--KKKKKKKKKKKKKK--------
        ping-client/1 100  ccc+####+======================+#########
        ... and 2 more threads, less busy
        CPU: K kernel, at least half of the column, k less; - a
                 thread runs; . idle
        threads: # running, at least half of the column, + less; =
                 ready;
                 . receiving, c calling, s sending, w waiting for a
                 mutex or condition,
                 z suspended, b blocked otherwise
               9450 ns  a deadline of ping-server/2 passes
             10.190 us  ping-server/2 marks 42
                   ...  2 more kinds of notable event
    "#]]
    .assert_eq(&timeline(&trace, &names(), &view));
}

#[test]
fn what_is_lost_is_said() {
    let maker = conversation();
    let lost = |keep| {
        let trace = Trace::decode(&maker.bytes(keep, 50)).unwrap();
        let view = View { width: 100, ..View::default() };
        timeline(&trace, &names(), &view).lines().nth(1).unwrap().to_string()
    };
    let many = maker.records.len() - 50;
    assert_eq!(lost(Keep::First), format!("{many} records lost after the end: the trace was full"));
    let before = "records lost before the beginning: newer ones took their place";
    assert_eq!(lost(Keep::Last), format!("{many} {before}"));
    let nothing = Trace::decode(&maker.bytes(Keep::First, 0)).unwrap();
    assert!(timeline(&nothing, &names(), &View::default()).contains("holds no records"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let trace = conversation().trace();
    for width in [40, 55, 80, 100, 500] {
        let text = timeline(&trace, &names(), &View { width, ..View::default() });
        assert!(text.lines().all(|line| line.len() <= width.min(160)), "{text}");
    }
    let odd = View { from: Some(u64::MAX), to: Some(0), ..View::default() };
    assert!(timeline(&trace, &names(), &odd).contains("CPU 0"));
}

#[test]
fn what_programs_make_has_their_names() {
    let text = timeline(&made().trace(), &names(), &View::default());
    for line in [
        "ping-client/pump/t~ 50",
        "ping-client/fan/1 50",
        "ping-client/1 makes a domain (x2",
        "a thread of ping-client/pump is made",
        "a call of ping-client/fan/1 fails: Stale",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
