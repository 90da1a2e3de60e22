//! Text that is not TOML, and keys, types and names that are wrong.

use expect_test::expect_file;

use super::Golden;

#[test]
fn text_that_is_not_toml() {
    let mut golden = Golden::default();
    golden.says("name = \"good\"", "name = good");
    golden.says("threads = 10", "threads = 10\nthreads = 11");
    golden.says("[pools]", "[pools");
    golden.says("caps = [", "caps = [[");
    golden.check(expect_file!["golden/text_that_is_not_toml.txt"]);
}

#[test]
fn keys_that_nobody_knows() {
    let mut golden = Golden::default();
    golden.says("priority = 100", "prioritty = 100");
    golden.says("[pools]", "[pool]");
    golden.says("rights = \"rw\"", "right = \"rw\"");
    golden.says("quota = { threads = 2 }", "quota = { treads = 2 }");
    golden.says("stack = \"32K\"", "colour = \"red\"");
    let cap = "{ name = \"x\", endpont = \"greeting\" }";
    golden.says("{ name = \"console\", console = true }", cap);
    golden.check(expect_file!["golden/keys_that_nobody_knows.txt"]);
}

#[test]
fn keys_that_are_missing() {
    let mut golden = Golden::default();
    golden.says("program = \"greeter\"\n", "");
    golden.says("name = \"good\"\n", "");
    golden.says("name = \"alarm\"\nnotification = \"keys\"", "name = \"alarm\"");
    golden.says("line = 4\nnotification = \"keys\"", "line = 4");
    golden.says("size = \"4M\"\n", "");
    golden.says("name = \"console\", ", "");
    golden.check(expect_file!["golden/keys_that_are_missing.txt"]);
}

#[test]
fn values_of_the_wrong_type() {
    let mut golden = Golden::default();
    golden.says("priority = 100", "priority = \"high\"");
    golden.says("name = \"good\"", "name = 5");
    golden.says("memory = \"64M\"", "memory = 64");
    golden.says("tick = \"1ms\"", "tick = 0.5");
    golden.says("quota = { threads = 2 }", "quota = 2");
    golden.says("rights = [\"receive\"]", "rights = \"receive\"");
    golden.says("console = true", "console = \"yes\"");
    golden.says("args = { rounds = 1000 }", "args = { rounds = [1] }");
    golden.check(expect_file!["golden/values_of_the_wrong_type.txt"]);
}

#[test]
fn sections_with_the_wrong_brackets() {
    let mut golden = Golden::default();
    golden.says("[[timer]]", "[timer]");
    golden.says("[pools]", "[[pools]]");
    golden.check(expect_file!["golden/sections_with_the_wrong_brackets.txt"]);
}

#[test]
fn names() {
    let mut golden = Golden::default();
    golden.says("name = \"client\"", "name = \"server\"");
    golden.says("name = \"client\"", "name = \"a-very-long-name\"");
    golden.says("name = \"client\"", "name = \"two words\"");
    golden.says("name = \"client\"", "name = \"\"");
    golden.says("name = \"console\", ", "name = \"greeting\", ");
    golden.says("args = { rounds = 1000 }", "args = { \"größe\" = 1 }");
    golden.says("args = { rounds = 1000 }", "args = { rounds = \"a\\nb\" }");
    golden.check(expect_file!["golden/names.txt"]);
}
