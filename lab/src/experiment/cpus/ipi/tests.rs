use super::*;
use crate::experiment::testing::{report, verdict};
use results::{Verdict, WAKE_UP};

fn judge(remote: u64) -> Verdict {
    let rows = [
        ("fastpath", WAKE_UP, CASES[0], 400),
        ("fastpath", WAKE_UP, CASES[1], 900),
        ("fastpath", REMOTE, IDLE, 400),
        ("slowpath", WAKE_UP, CASES[0], 400),
        ("slowpath", WAKE_UP, CASES[1], remote),
        ("slowpath", REMOTE, IDLE, 400),
    ];
    verdict(&EXPERIMENT, &report("qemu-x86_64", &rows), "S2C-C09")
}

#[test]
fn it_can_go_either_way() {
    assert_eq!(judge(800), Verdict::Reproduced);
    assert_eq!(judge(699), Verdict::Contradicted, "less than the way between CPUs");
    assert_eq!(judge(390), Verdict::Contradicted, "no later at all");
    assert_eq!(judge(1001), Verdict::Contradicted, "more than that way explains");
    let alone = report("qemu-x86_64", &[("fastpath", REMOTE, IDLE, 400)]);
    assert_eq!(verdict(&EXPERIMENT, &alone, "S2C-C09"), Verdict::NotJudged);
}
