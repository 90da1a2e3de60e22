//! Files of a manifest: what is packed, and what is told about those that cannot be.

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::PathBuf;

use abi::PAGE;
use abi::files::{MOST, MOST_BYTES};
use cpio::NewcReader;
use manifest::{Problems, System, pack, parse_in};

/// A folder with some files, for the test of this name.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("files").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("site/inner/empty")).unwrap();
    for (path, content) in [("site/b", "of b"), ("site/inner/a", ""), ("motd", "hello")] {
        fs::write(folder.join(path), content).unwrap();
    }
    folder
}

/// The system in the folder of a test whose memory has these keys.
fn read(test: &str, keys: &str) -> Result<System, Problems> {
    parse_in(&folder(test), "s.toml", &text(keys, "r"))
}

/// A system whose memory has these keys, and is mapped with these rights.
fn text(keys: &str, rights: &str) -> String {
    format!(
        "[system]\nname = \"s\"\nmemory = \"16M\"\n[[memory]]\nname = \"m\"\n{keys}\n[[domain]]\n\
         name = \"d\"\npriority = 1\nprogram = \"greeter\"\n\
         maps = [{{ memory = \"m\", rights = \"{rights}\" }}]\n\
         caps = [{{ name = \"m\", memory = \"m\" }}]\n"
    )
}

/// What an archive holds: files by their paths, folders without content.
fn unpacked(archive: &[u8]) -> BTreeMap<String, Option<String>> {
    let (mut rest, mut all) = (archive, BTreeMap::new());
    loop {
        let mut entry = NewcReader::new(rest).unwrap();
        if entry.entry().is_trailer() {
            return all;
        }
        let (path, mode) = (entry.entry().name().to_string(), entry.entry().mode());
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        all.insert(path, (mode & 0o170000 == 0o100000).then_some(content));
        rest = entry.finish().unwrap();
    }
}

fn expected(all: &[(&str, Option<&str>)]) -> BTreeMap<String, Option<String>> {
    let owned =
        |(path, content): &(&str, Option<&str>)| (path.to_string(), content.map(String::from));
    all.iter().map(owned).collect()
}

#[test]
fn a_folder_is_packed_with_all_that_it_holds() {
    let system = read("folder", "files = \"site\"").unwrap();
    let all = [("b", Some("of b")), ("inner", None), ("inner/a", Some("")), ("inner/empty", None)];
    assert_eq!(unpacked(&system.memories[0].contents), expected(&all));
    assert_eq!(system.memories[0].bytes, PAGE);
}

#[test]
fn a_list_is_packed_under_names_and_paths() {
    let files = "files = [\"motd\", \"site/inner\", { path = \"etc/x/b\", file = \"site/b\" }]";
    let system = read("list", files).unwrap();
    let all = [
        ("etc", None),
        ("etc/x", None),
        ("etc/x/b", Some("of b")),
        ("inner", None),
        ("inner/a", Some("")),
        ("inner/empty", None),
        ("motd", Some("hello")),
    ];
    assert_eq!(unpacked(&system.memories[0].contents), expected(&all));
}

#[test]
fn the_archive_is_what_the_memory_begins_with() {
    let system = read("begin", "size = \"8K\"\nfiles = \"site\"").unwrap();
    assert_eq!(system.memories[0].bytes, 2 * PAGE);
    let contents = &system.memories[0].contents;
    let packed = pack(&system, &support::program, 0).unwrap();
    let mut pages = packed.bytes.chunks(PAGE as usize);
    assert!(pages.any(|page| page.starts_with(contents)));
    // It is the same each time.
    let again = read("begin", "files = \"site\"").unwrap();
    assert_eq!(&again.memories[0].contents, contents);
    let rights = system.domains[0].caps[0].rights;
    assert!(rights.contains(abi::Rights::READ));
    assert!(!rights.contains(abi::Rights::WRITE) && !rights.contains(abi::Rights::EXECUTE));
}

/// Looks that one problem is told, with this message, and a help that has something.
fn told(said: Problems, message: &str, help: &str) {
    let [problem] = &said.0[..] else { panic!("{said}") };
    assert_eq!(problem.message, message);
    assert!(problem.help.contains(help), "{}", problem.help);
}

#[test]
fn what_cannot_be_packed_is_told_with_a_remedy() {
    for (files, message, help) in [
        ("\"no\"", "`no` cannot be packed: No such file or directory (os error 2)", "wrong`"),
        ("[\"no\"]", "`no` cannot be packed: No such file or directory (os error 2)", "wrong`"),
        ("\"motd\"", "`motd` cannot be packed: Not a directory (os error 20)", "looked for in"),
        ("1", "these are no files", "write \"FOLDER\", or a list of"),
        ("[1]", "this list has what is no file", "write \"FOLDER\", or a list of"),
        ("[\"..\"]", "`..` cannot be packed: it has no name", "looked for in"),
        ("[{ path = \"a\" }]", "a file of this list has no `file`", "path = \"PATH\", file ="),
        (
            "[{ path = \"a\", flie = \"motd\" }]",
            "`flie` is not a key of a file",
            "did you mean `file`?",
        ),
        (
            "[{ path = \"a/../b\", file = \"motd\" }]",
            "`a/../b` cannot be the path of a file",
            "without `.` and `..`",
        ),
        ("[\"motd\", \"motd\"]", "two files have the path `motd`", "give one another path"),
        (
            "[\"site\", { path = \"site/b\", file = \"motd\" }]",
            "two files have the path `site/b`",
            "give one another path",
        ),
        (
            "[\"motd\", { path = \"motd/x/b\", file = \"motd\" }]",
            "`motd/x` would lie in a file",
            "give `motd` another path",
        ),
        (
            "[{ path = \"a/b\", file = \"motd\" }, { path = \"a\", file = \"motd\" }]",
            "two files have the path `a`",
            "give one another path",
        ),
    ] {
        let said = read("wrong", &format!("files = {files}")).expect_err(files);
        told(said, message, help);
    }
}

#[test]
fn sizes_and_rights_that_do_not_fit_are_told() {
    told(read("none", "").unwrap_err(), "`size` is missing", "size = \"64K\"");
    let site = folder("rights");
    for rights in ["rw", "rx"] {
        let said = parse_in(&site, "s.toml", &text("files = \"site\"", rights)).unwrap_err();
        told(said, "memory `m` holds files, which stay", "map it \"r\"");
    }
    fs::write(site.join("large"), [0; 5000]).unwrap();
    let keys = text("size = \"4K\"\nfiles = [\"large\"]", "r");
    let said = parse_in(&site, "s.toml", &keys).unwrap_err();
    told(said, "the files of this memory take 8K", "write \"8K\", or leave it out");
}

#[test]
fn too_many_and_too_large_files_are_told() {
    let keys = text("files = \"site\"", "r");
    let many = folder("many");
    let files = (0..MOST).map(|number| many.join("site").join(number.to_string()));
    files.for_each(|file| fs::write(file, "").unwrap());
    let said = parse_in(&many, "s.toml", &keys).unwrap_err();
    told(said, "there are more than 512 files and folders", "leave some out");
    let large = folder("large");
    // A hole: it takes no room, and is not read.
    let hole = fs::File::create(large.join("site/hole")).unwrap();
    hole.set_len(MOST_BYTES + 1).unwrap();
    let said = parse_in(&large, "s.toml", &keys).unwrap_err();
    told(said, "the files have more than 64M", "leave some out");
}
