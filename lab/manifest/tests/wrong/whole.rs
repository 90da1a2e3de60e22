//! Systems that do not fit, and manifests that are hard to show.

use expect_test::expect_file;
use manifest::parse;

use super::{GOOD, Golden};

#[test]
fn pools_that_are_too_small() {
    let mut golden = Golden::default();
    golden.says("threads = 10", "threads = 3");
    golden.says("threads = 10", "slots = 64");
    golden.says("threads = 10", "threads = 0");
    golden.check(expect_file!["golden/pools_that_are_too_small.txt"]);
}

#[test]
fn memory_that_is_too_small() {
    let mut golden = Golden::default();
    golden.says("size = \"4M\"", "size = \"60M\"");
    golden.says("threads = 2\n", "threads = 4000\n");
    golden.says("stack = \"32K\"\nthreads = 2", "stack = \"16M\"\nthreads = 20");
    golden.check(expect_file!["golden/memory_that_is_too_small.txt"]);
}

#[test]
fn systems_without_substance() {
    let mut golden = Golden::default();
    let refuse = |text| parse("good.toml", text).expect_err("something is missing");
    let no_domain = &GOOD[..GOOD.find("[[domain]]").expect("there are domains")];
    golden.shown("no domain", &refuse(no_domain));
    let no_system = &GOOD[GOOD.find("[pools]").expect("there are pools")..];
    golden.shown("no system", &refuse(no_system));
    golden.shown("nothing", &refuse(""));
    golden.check(expect_file!["golden/systems_without_substance.txt"]);
}

#[test]
fn long_lines_and_odd_characters() {
    let mut golden = Golden::default();
    let about = format!("about = \"{}\", oops", "lengthy ".repeat(30));
    golden.says("memory = \"64M\"", &about);
    let many: String = (0..20).map(|index| format!("argument{index} = 1, ")).collect();
    let args = format!("args = {{ {many}last = 1.5 }}");
    golden.says("args = { rounds = 1000 }", &args);
    golden.says("args = { rounds = 1000 }", "args = {\trounds\t=\t[]\t}");
    let name = format!("name = \"{}\"", "x".repeat(300));
    golden.says("name = \"client\"", &name);
    golden.check(expect_file!["golden/long_lines_and_odd_characters.txt"]);
}
