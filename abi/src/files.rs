//! What the packer of files and the server of files agree on: how many, how long, called what.
//!
//! Files lie in a memory object as a cpio archive of the format `newc`.

/// Files and folders in an archive at most.
pub const MOST: usize = 512;
/// Bytes in the name of a file or folder at most.
pub const LONGEST_NAME: usize = 64;
/// Bytes in a path at most.
pub const LONGEST_PATH: usize = 240;
/// Bytes of an archive at most.
pub const MOST_BYTES: u64 = 64 << 20;

/// Whether a file or folder may be called so: one component of a path, without control characters,
/// that is not `.` or `..`.
pub fn is_name(name: &str) -> bool {
    let length = (1..=LONGEST_NAME).contains(&name.len());
    length && name != "." && name != ".." && !name.contains(is_refused)
}

fn is_refused(char: char) -> bool {
    char == '/' || char.is_control()
}

/// Whether this is a path from the root: names with a slash between each two.
pub fn is_path(path: &str) -> bool {
    path.len() <= LONGEST_PATH && path.split('/').all(is_name)
}

/// A path as the folder that it lies in, empty at the root, and its name there.
pub fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_names_with_slashes_between() {
        for good in ["a", "a/b", "index.html", "a b/ü", "...", "a/.b"] {
            assert!(is_path(good), "{good}");
        }
        for bad in ["", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a\nb", "a\0"] {
            assert!(!is_path(bad), "{bad:?}");
        }
        let name = [b'x'; LONGEST_NAME + 1];
        let name = core::str::from_utf8(&name).expect("ASCII");
        assert_eq!([is_name(&name[1..]), is_name(name)], [true, false]);
        let mut path = [b'/'; LONGEST_PATH + 1];
        path.iter_mut().step_by(2).for_each(|byte| *byte = b'x');
        let path = core::str::from_utf8(&path).expect("ASCII");
        assert_eq!([is_path(&path[2..]), is_path(path)], [true, false]);
    }

    #[test]
    fn a_path_is_a_folder_and_a_name() {
        let parts = ["a", "a/b", "a/b/c"].map(split);
        assert_eq!(parts, [("", "a"), ("a", "b"), ("a/b", "c")]);
    }
}
