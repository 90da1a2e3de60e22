use super::*;
use crate::Samples;
use crate::testing::{micro, ping_pong};

fn named(charts: &[Chart], name: &str) -> (String, String) {
    let chart = charts.iter().find(|chart| chart.name == name);
    let chart = chart.unwrap_or_else(|| panic!("there is no {name}"));
    (chart.title.clone(), chart.svg().unwrap())
}

fn names(charts: &[Chart]) -> Vec<&str> {
    charts.iter().map(|chart| chart.name.as_str()).collect()
}

#[test]
fn each_experiment_gets_its_charts() {
    let of = |report: &Report| names(&charts(report, None)).join(" ");
    assert_eq!(of(&ping_pong().0), "words-call words-reply-wait words-pair medians");
    assert_eq!(of(&micro().0), "medians");
    let (mut empty, _) = micro();
    empty.rows.clear();
    assert_eq!(of(&empty), "");
}

#[test]
fn bars_carry_their_figures() {
    let (title, svg) = named(&charts(&ping_pong().0, None), "medians");
    assert_eq!(title, "Median instructions by kernel");
    for figure in ["240", "395", "1,406", "ping-pong on bench (emulated), commit 0123456789"] {
        assert!(svg.contains(figure), "{figure} is not in the bar chart");
    }
}

#[test]
fn metrics_of_other_units_are_drawn_apart() {
    let (mut report, _) = micro();
    report.units.insert("yield".into(), "millionths".into());
    report.units.insert("map".into(), "millionths".into());
    let charts = charts(&report, None);
    assert_eq!(names(&charts), ["medians", "medians-1"]);
    let (title, svg) = named(&charts, "medians-1");
    assert_eq!(title, "Median millionths by kernel");
    assert!(svg.contains("yield") && svg.contains("map") && !svg.contains("null-call"));
}

/// Hops, simulated.
fn ring() -> Report {
    let mut samples = Samples::default();
    for (kernel, cost) in [("direct-lazy", 600), ("strict-lazy", 720), ("ipc-heap", 590)] {
        for messages in [1, 10, 249] {
            let case = format!("messages={messages}");
            samples.push(kernel, "hop", &case, vec![cost + messages; 3]);
        }
    }
    let (mut report, _) = micro();
    report.experiment = "hot-potato".into();
    report.machine = "twin".into();
    report.origin = Origin::SIMULATED;
    report.rows = samples.rows();
    report
}

#[test]
fn a_figure_of_a_paper_is_drawn_again_and_relative() {
    let charts = charts(&ring(), None);
    assert_eq!(names(&charts), ["messages-hop", "messages-hop-relative"]);
    let (title, absolute) = named(&charts, "messages-hop");
    assert!(title.contains("figures 5.3 and 5.4") && absolute.contains("does not begin at 0"));
    let (title, relative) = named(&charts, "messages-hop-relative");
    assert!(title.contains("direct-lazy") && relative.contains("+20 %"));
    for svg in [absolute, relative] {
        assert!(svg.contains("on twin (simulated)"));
        for name in ["direct-lazy", "strict-lazy", "ipc-heap", "\nsimulated\n"] {
            assert!(svg.contains(name), "{name} is missing");
        }
    }
}

/// Wake-ups under two kernels, of which one is late once.
fn late() -> (Report, Samples) {
    let mut samples = Samples::default();
    let mut late = vec![400; 900];
    late.extend([401, 402, 402, 12_345]);
    for (case, values) in
        [("call threads=50", vec![1, 2]), ("call threads=250", late), ("idle", vec![300; 5])]
    {
        samples.push("fastpath", WAKE_UP, case, values.clone());
        samples.push("strict-eager", WAKE_UP, case, vec![500; 10]);
    }
    let (mut report, _) = micro();
    report.rows = samples.rows();
    (report, samples)
}

#[test]
fn latencies_have_a_panel_for_each_kernel_and_the_worst_case_in_the_title() {
    let (report, samples) = late();
    let charts = charts(&report, Some(&samples));
    assert_eq!(names(&charts), ["latency-call-threads-250", "latency-idle"]);
    let (title, svg) = named(&charts, "latency-call-threads-250");
    assert_eq!(title, "call threads=250: worst case 12,345 instructions, under fastpath");
    for name in [
        "fastpath: median 400, worst 12,345",
        "strict-eager: median 500, worst 500",
        "wake-up latency in instructions, columns of 200",
        "wake-ups, of 10 to 904 under each kernel",
    ] {
        assert!(svg.contains(name), "{name} is missing");
    }
    let of = |chart: &Chart| match &chart.body {
        crate::chart::Body::Panels { panels, .. } => panels[0].series[0].points.clone(),
        crate::chart::Body::Bars(_) => Vec::new(),
    };
    // 400 to 402 share a column, and the late one has its own.
    assert_eq!(of(&charts[0]), [(400.0, 903.0), (12_200.0, 1.0)]);
    assert_eq!(
        named(&charts, "latency-idle").0,
        "idle: worst case 500 instructions, under strict-eager"
    );
    assert!(names(&super::charts(&report, None)).is_empty(), "there are no samples");
}
