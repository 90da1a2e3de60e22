//! What the program `cyclictest` prints, in the simulation.

use crate::image::Images;
use crate::machine::{self, Boot, Exit, Outcome};
use crate::systems;
use crate::systems::set;
use serde_json::Value;
use std::time::Duration;

/// Runs it with options; its exit status and what it printed.
fn run(options: &str) -> (u32, Vec<String>) {
    run_on(1, options)
}

/// The same on so many CPUs.
fn run_on(cpus: u32, options: &str) -> (u32, Vec<String>) {
    let mut system = systems::load("cyclictest").unwrap();
    system.cpus = cpus;
    set(&mut system, "options", options);
    let twin = machine::find("twin").unwrap();
    let images = Images::default();
    let boot = Boot::new(twin, &images, &system).seed(1).timeout(Duration::from_secs(60));
    let Outcome { exit: Exit::Done(status), console, .. } = machine::boot(&boot).unwrap() else {
        panic!("`{options}` does not come to its end");
    };
    let own = |line: &&str| !line.starts_with("twin: ") && !line.starts_with("giusto ");
    let own = |line: &&str| own(line) && !line.starts_with("boot: ");
    let lines = console.lines().map(|line| line.trim_end_matches('\r'));
    (status, lines.filter(own).map(ToString::to_string).collect())
}

/// The histogram in what was printed, the empty last line included: lines end with `$`, and `^I`
/// is a tab.
fn histogram(options: &str) -> String {
    let (status, lines) = run(options);
    assert_eq!(status, 0, "{lines:?}");
    let from = lines.iter().position(|line| line == "# Histogram").expect("a histogram");
    let to = lines[from..].iter().position(|line| line.is_empty()).expect("an empty last line");
    lines[from..=from + to].iter().map(|line| format!("{line}$\n").replace('\t', "^I")).collect()
}

#[test]
fn a_histogram_without_overflows() {
    let options = "-m -S -p 99 -i 1000 -D 1s -h 4";
    let all = histogram(options);
    expect_test::expect![[r#"
        # Histogram$
        000000 001000$
        # Min Latencies: 00000$
        # Avg Latencies: 00000$
        # Max Latencies: 00000$
        # Histogram Overflows: 00000$
        # Histogram Overflow at cycle number:$
        # Thread 0: $
        $
    "#]]
    .assert_eq(&all);
    let first = |options: &str| run(options).1.remove(0);
    assert_eq!(first(&format!("{options} -q")), "# Histogram", "it stands for the lines");
    assert!(first("-p99 -l 3 -q").starts_with("T: 0 "));
}

#[test]
fn cycles_of_overflows_are_named_as_by_rt_tests() {
    // More bins than overflows, fewer, and as many.
    for (options, golden) in [
        (
            "-t 2 -p99 -l 5 -N -q -h 1400",
            expect_test::expect![[r#"
            # Histogram$
            000337 000005^I000000$
            000741 000000^I000001$
            000909 000000^I000004$
            # Min Latencies: 00337 00741$
            # Avg Latencies: 00337 00875$
            # Max Latencies: 00337 00909$
            # Histogram Overflows: 00000 00000$
            # Histogram Overflow at cycle number:$
            # Thread 0: $
            # Thread 1: $
            $
        "#]],
        ),
        (
            "-t 2 -p99 -l 5 -N -q -h 3",
            expect_test::expect![[r#"
            # Histogram$
            # Min Latencies: 00337 00741$
            # Avg Latencies: 00337 00875$
            # Max Latencies: 00337 00909$
            # Histogram Overflows: 00005 00005$
            # Histogram Overflow at cycle number:$
            # Thread 0: 00000 00001 00002 # 00002 others$
            # Thread 1: 00000 00001 00002 # 00002 others$
            $
        "#]],
        ),
        (
            "-p99 -l 5 -N -q -h 5",
            expect_test::expect![[r#"
            # Histogram$
            # Min Latencies: 00286$
            # Avg Latencies: 00286$
            # Max Latencies: 00286$
            # Histogram Overflows: 00005$
            # Histogram Overflow at cycle number:$
            # Thread 0: 00000 00001 00002 00003 00004 # 00000 others$
            $
        "#]],
        ),
    ] {
        golden.assert_eq(&histogram(options));
    }
}

#[test]
fn a_thread_without_samples_has_the_least_of_rt_tests() {
    expect_test::expect![[r#"
        # Histogram$
        # Min Latencies: 1000000 1000000$
        # Avg Latencies: 00000 00000$
        # Max Latencies: 00000 00000$
        # Histogram Overflows: 00000 00000$
        # Histogram Overflow at cycle number:$
        # Thread 0: $
        # Thread 1: $
        $
    "#]]
    .assert_eq(&histogram("-t 2 -p99 -D 1ms -i 2000 -q -h 5"));
}

#[test]
fn threads_have_their_own_intervals() {
    let (status, lines) = run("-t3 -p99 --interval=2000 -d 500 -D 30ms -N --quiet");
    assert_eq!((status, lines.len()), (0, 3));
    for (line, (interval, count)) in lines.iter().zip([(2000, 15), (2500, 12), (3000, 10)]) {
        assert!(line.contains(&format!(" I:{interval} C:{count:7} ")), "{line}");
        let most: u64 = line.rsplit("Max:").next().unwrap().trim().parse().unwrap();
        assert!((100..5000).contains(&most), "nanoseconds: {line}");
    }
    let (_, lines) = run("-t3 -p99 -i 2000 -D 30ms -N -h 5");
    for (line, thread) in lines.iter().zip(0..3) {
        let begin = format!("T: {thread} ({:5}) P:99 I:2000 C:     15 ", thread + 1);
        assert!(line.starts_with(&begin), "one interval with a histogram: {line}");
    }
    let (_, lines) = run("-l 7 -p1 -qv -N");
    assert_eq!(lines.len(), 8, "seven samples and their summary: {lines:?}");
}

#[test]
fn json_is_shaped_as_that_of_rt_tests() {
    let (status, lines) = run("-Sp99 -t 2 -D 20ms -h 9000 -N --json");
    assert_eq!(status, 0);
    let json: Value = serde_json::from_str(&lines.join("\n")).unwrap();
    assert_eq!(json["file_version"], 1);
    assert_eq!(json["num_threads"], 2);
    assert_eq!(json["cmdline:"], "cyclictest -Sp99 -t 2 -D 20ms -h 9000 -N --json");
    let cycles = 20;
    for thread in ["0", "1"] {
        let thread = &json["thread"][thread];
        assert_eq!(thread["cycles"], cycles);
        let bins = thread["histogram"].as_object().unwrap();
        let values =
            || bins.iter().map(|(bin, n)| (bin.parse::<u64>().unwrap(), n.as_u64().unwrap()));
        assert_eq!(values().map(|(_, count)| count).sum::<u64>(), cycles);
        assert_eq!(values().map(|(bin, _)| bin).max(), thread["max"].as_u64());
        let mean = values().map(|(bin, n)| bin * n).sum::<u64>() as f64 / cycles as f64;
        assert!((thread["avg"].as_f64().unwrap() - mean).abs() < 0.01);
    }
    let (_, lines) = run("-Sp99 -t 2 -D 20ms -N --json");
    let json: Value = serde_json::from_str(&lines.join("\n")).unwrap();
    let cycles = ["0", "1"].map(|thread| json["thread"][thread]["cycles"].as_u64());
    assert_eq!(cycles, [Some(20), Some(13)], "without a histogram each has its own interval");
    let (_, lines) = run("-p99 -l 2 --json");
    serde_json::from_str::<Value>(&lines.join("\n")).expect("an empty histogram is JSON too");
}

#[test]
fn threads_are_spread_over_cpus() {
    for (options, cpus) in [
        ("-S -p99 -l 5", [0, 1]),
        ("-t -a -p99 -l 5", [0, 1]),
        ("-t 2 -a 1 -p99 -l 5", [1, 1]),
        ("-t 2 -p99 -l 5", [0, 0]),
    ] {
        let (status, lines) = run_on(2, &format!("{options} -d 0 --json"));
        let json: Value = serde_json::from_str(&lines.join("\n")).expect("JSON");
        let own = ["0", "1"].map(|thread| &json["thread"][thread]);
        assert_eq!((status, own.map(|own| own["cycles"].as_u64())), (0, [Some(5); 2]), "{options}");
        assert_eq!(own.map(|own| own["cpu"].as_u64()), cpus.map(Some), "{options}");
    }
}

#[test]
fn what_means_nothing_is_warned_of() {
    let warned = |options: &str, of: &str| {
        let (status, lines) = run(options);
        let found = lines.iter().any(|line| line.starts_with("WARN: ") && line.contains(of));
        assert!(status == 0 && found, "`{options}` is warned of {of}: {lines:?}");
    };
    warned("-p99 -i 200 -l 3 -q", "below the tick of 1000 us");
    warned("-p99 -i 5 -l 3 -q", "no time between wake-ups");
    warned("-l 3 -q", "no real-time priority");
    warned("-p99 -D 1ms -i 2000 -q", "shorter than an interval of 2000 us");
    warned("-p99 -l 3 -h 2 -N -q", "3 of 3 samples of thread 0 are beyond the histogram; give -h");
    warned("-p99 -l 3 -h 20 -b 30 -q", "beyond the histogram");
    warned("-p99 -l 3 -h 20 -d 500 -q", "-d is ignored with -h");
    let (_, lines) = run("-p99 -l 3 -h 20 -q");
    assert!(lines.iter().all(|line| !line.contains("WARN")), "{lines:?}");
}

#[test]
fn a_latency_above_the_limit_ends_the_run() {
    // The second thread is as high and has the same instants as the first one, which comes first,
    // and sees at its next instant that the run has ended.
    let (status, lines) = run("-t 8 -p99 -d 0 -b 1 -D 1s -N -q");
    assert_eq!(status, 0);
    let at = lines.iter().position(|line| line.starts_with("# Break thread: ")).unwrap();
    let value: u64 = lines[at + 1].strip_prefix("# Break value: ").unwrap().parse().unwrap();
    assert!(value > 1000, "{lines:?}");
    assert!(lines[0].contains(" C:      2 ") && lines[1].contains(" C:      1 "), "{lines:?}");
}

#[test]
fn options_that_cannot_be_used_are_one_clear_line() {
    let refused = |options: &str, why: &str| {
        let (status, lines) = run(options);
        assert_eq!((status, lines.len()), (2, 1), "`{options}`: {lines:?}");
        assert!(lines[0].starts_with("cyclictest: ") && lines[0].contains(why), "{lines:?}");
    };
    refused("-m -x", "there is no option `-x`");
    refused("--intervall 5", "there is no option `--intervall`");
    refused("1000", "there is no option `1000`");
    refused("-p", "option `-p` needs a value");
    refused("-i soon", "needs a whole number below 2^32, not `soon`");
    refused("-D 5y", "`5y` is no duration");
    refused("-p 100", "priority 100 is out of range");
    refused("-p 99 -a 1-x", "`1-x` is no set of CPUs");
    refused("-p 99 -a 0-3", "there is no CPU 3; this machine has 1");
    refused("-i 0 -p99", "an interval of 0 us");
    refused("-t 9 -p99 -l 1", "9 threads, but the manifest has room for 8");
    refused("-h 99999 -p99 -l 1", "give the memory `samples` as many");
}
