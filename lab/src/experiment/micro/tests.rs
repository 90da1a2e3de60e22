use super::*;

/// What a message that the fast path has looked at and left may cost more than on a kernel
/// without one, in instructions.
const MOST_MORE: i64 = 8;

#[test]
fn messages_that_the_fast_path_leaves_cost_hardly_more() {
    let golden = include_str!("../../../../tests/golden.toml").parse::<toml::Table>().unwrap();
    let figure = |kernel: &str, metric: &str| {
        let key = format!("{kernel} {metric}");
        golden["micro"][&key].as_integer().unwrap_or_else(|| panic!("no figure `{key}`"))
    };
    let left = METRIC_NAMES.iter().filter(|name| name.starts_with("refused-"));
    let left = left.chain(&["fault-resume", "send-higher"]);
    for metric in left {
        let more = figure("fastpath", metric) - figure("slowpath", metric);
        assert!(more <= MOST_MORE, "{metric}: {more} more");
    }
}
