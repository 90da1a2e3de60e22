//! Values of the right type that make no sense.

use expect_test::expect_file;

use super::Golden;

#[test]
fn references_to_nothing() {
    let mut golden = Golden::default();
    golden.says("fault_handler = \"greeting\"", "fault_handler = \"gretting\"");
    let endpoint = "name = \"greeting\"\nnotification = \"irq\"";
    golden.says("name = \"greeting\"\nnotification = \"keys\"", endpoint);
    golden.says("[{ memory = \"recording\"", "[{ memory = \"screen\"");
    golden.says("console = true", "domain = \"sever\"");
    golden.says("[[memory]]\nname = \"recording\"\nsize = \"4M\"\n", "");
    golden.check(expect_file!["golden/references_to_nothing.txt"]);
}

#[test]
fn kernels() {
    let mut golden = Golden::default();
    golden.says("memory = \"64M\"", "kernel = \"fastpth\"");
    golden.says("memory = \"64M\"", "kernel = \"linux\"");
    golden.check(expect_file!["golden/kernels.txt"]);
}

#[test]
fn rights() {
    let mut golden = Golden::default();
    golden.says("[\"receive\"]", "[\"recieve\"]");
    golden.says("[\"receive\"]", "[\"write\"]");
    golden.says("[\"receive\"]", "[]");
    golden.says("console = true", "notification = \"keys\", rights = [\"send\"]");
    golden.says("rights = \"rw\"", "rights = \"rwx\"");
    golden.says("rights = \"rw\"", "rights = \"w\"");
    golden.check(expect_file!["golden/rights.txt"]);
}

#[test]
fn badges() {
    let mut golden = Golden::default();
    golden.says("console = true", "console = true, badge = 1");
    golden.says("badge = 2", "badge = 0");
    golden.says("badge = 2", "badge = -2");
    golden.says("fault_handler = \"greeting\"\n", "");
    golden.check(expect_file!["golden/badges.txt"]);
}

#[test]
fn capabilities() {
    let mut golden = Golden::default();
    golden.says("console = true", "rights = [\"copy\"]");
    golden.says("console = true", "console = true, system = true");
    golden.says("console = true", "console = false");
    golden.says("slots = 16", "slots = 2");
    golden.says("slots = 16", "slots = 0");
    golden.check(expect_file!["golden/capabilities.txt"]);
}

#[test]
fn maps() {
    let mut golden = Golden::default();
    let two = "maps = [{ memory = \"recording\", rights = \"r\" }, ";
    golden.says("maps = [", two);
    golden.check(expect_file!["golden/maps.txt"]);
}

#[test]
fn priorities() {
    let mut golden = Golden::default();
    golden.says("priority = 90", "priority = 256");
    golden.says("max_priority = 120", "max_priority = 99");
    golden.check(expect_file!["golden/priorities.txt"]);
}

#[test]
fn cpus() {
    let mut golden = Golden::default();
    golden.says("max_priority = 120", "cpus = 1");
    golden.says("max_priority = 120", "cpus = []");
    golden.says("max_priority = 120", "cpus = [0, 1]");
    golden.check(expect_file!["golden/cpus.txt"]);
}

#[test]
fn sizes() {
    let mut golden = Golden::default();
    golden.says("memory = \"64M\"", "memory = \"64MB\"");
    golden.says("memory = \"64M\"", "memory = \"4G\"");
    golden.says("stack = \"32K\"", "stack = \"5K\"");
    golden.says("stack = \"32K\"", "stack = \"0K\"");
    golden.check(expect_file!["golden/sizes.txt"]);
}

#[test]
fn times() {
    let mut golden = Golden::default();
    golden.says("tick = \"1ms\"", "tick = \"1min\"");
    golden.says("tick = \"1ms\"", "tick = \"0ms\"");
    golden.says("tick = \"1ms\"", "tick = \"3ms\"");
    golden.check(expect_file!["golden/times.txt"]);
}

#[test]
fn attached_notifications() {
    let mut golden = Golden::default();
    let two = "[[endpoint]]\nname = \"second\"\nnotification = \"keys\"\n\n[[notification]]";
    golden.says("[[notification]]", two);
    golden.check(expect_file!["golden/attached_notifications.txt"]);
}

#[test]
fn interrupts() {
    let mut golden = Golden::default();
    golden.says("line = 4", "line = 24");
    let timer = "[[timer]]\nname = \"alarm\"\nnotification = \"keys\"\nbadge = 2";
    let second = "[[interrupt]]\nname = \"second\"\nnotification = \"keys\"\nline = 4";
    golden.says(timer, second);
    golden.check(expect_file!["golden/interrupts.txt"]);
}
