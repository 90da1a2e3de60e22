use super::*;

/// What a message that the fast path has looked at and left may cost more than on a kernel
/// without one, in instructions.
const MOST_MORE: i64 = 8;

/// A golden figure of this experiment.
fn golden(kernel: &str, metric: &str) -> i64 {
    let all = include_str!("../../../../tests/golden.toml").parse::<toml::Table>().unwrap();
    let key = format!("{kernel} {metric}");
    all["micro"][&key].as_integer().unwrap_or_else(|| panic!("no figure `{key}`"))
}

#[test]
fn messages_that_the_fast_path_leaves_cost_hardly_more() {
    let left = METRIC_NAMES.iter().filter(|name| name.starts_with("refused-"));
    let left = left.chain(&["fault-resume", "send-higher"]);
    for metric in left {
        let more = golden("fastpath", metric) - golden("slowpath", metric);
        assert!(more <= MOST_MORE, "{metric}: {more} more");
    }
}

#[test]
fn typed_calls_cost_no_more_than_calls_by_hand() {
    for kernel in EXPERIMENT.kernels {
        let [typed, by_hand] =
            ["typed", "by-hand"].map(|way| golden(kernel, &format!("round-trip-{way}")));
        assert!(typed <= by_hand, "{kernel}: {typed} instructions, {by_hand} by hand");
    }
}
