//! Archives that may say anything.

use crate::{archive, packed, tree};
use files::{Corrupt, MOST, Node, Volume};
use proptest::prelude::*;

/// Looks at all that a volume shows: nothing of it lies outside of the archive.
fn walk(volume: &Volume<&[u8]>, folder: Node, seen: &mut usize) {
    for number in 0..volume.size(folder) {
        let shown = volume.child(folder, number, |node, name| (node, name.to_string()));
        let (node, name) = shown.expect("as many as are said");
        assert!(files::is_path(&name), "{name:?}");
        *seen += 1;
        if volume.is_folder(node) {
            walk(volume, node, seen);
        } else {
            let size = volume.size(node);
            let mut into = vec![0; size as usize + 1];
            assert_eq!(volume.read(node, 0, &mut into), size as usize);
        }
    }
}

/// Opens an archive; why it is corrupt.
fn open(bytes: &[u8]) -> Option<Corrupt> {
    let (volume, corrupt) = Volume::of(bytes);
    let mut seen = 0;
    walk(&volume, Node::Root, &mut seen);
    assert_eq!(seen, volume.count());
    assert!(corrupt.is_none() || seen == 0);
    corrupt
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_change_of_an_archive_harms(
        tree in tree(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        digits: bool,
        end in any::<prop::sample::Index>(),
        is_cut: bool,
    ) {
        let mut bytes = packed(&tree);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            // A digit changes a number, where any byte mostly makes a header none.
            bytes[at] = if digits { b"0123456789abcdef/."[usize::from(byte) % 18] } else { byte };
        }
        if is_cut {
            bytes.truncate(end.index(bytes.len()));
        }
        open(&bytes);
    }

    #[test]
    fn no_bytes_harm(bytes in prop::collection::vec(any::<u8>(), 0..300), is_begun: bool) {
        let begin: &[u8] = if is_begun { b"070701" } else { b"" };
        prop_assert!(open(&[begin, &bytes].concat()).is_some());
    }

    #[test]
    fn an_archive_without_its_end_is_corrupt(
        tree in tree(),
        end in any::<prop::sample::Index>(),
    ) {
        let bytes = packed(&tree);
        let end = end.index(bytes.len());
        // The last entry is filled up with up to three zeros, which nothing needs.
        let is_whole = bytes.len() - end < 4;
        prop_assert_eq!(open(&bytes[..end]).is_none(), is_whole, "{} of {}", end, bytes.len());
    }
}

#[test]
fn each_reason_is_told() {
    let file: Option<&[u8]> = Some(b"x");
    let long = ["x"; 121].join("/");
    let many: Vec<String> = (0..=MOST).map(|number| number.to_string()).collect();
    let many: Vec<_> = many.iter().map(|name| (name.as_str(), None)).collect();
    for (entries, reason) in [
        (vec![("a", file), ("a", file)], Corrupt::Twice),
        (vec![("a", file), ("./a", file)], Corrupt::Twice),
        (vec![("b/a", file)], Corrupt::NoFolder),
        (vec![("b", file), ("b/a", file)], Corrupt::NoFolder),
        (vec![("/a", file)], Corrupt::Name),
        (vec![("a/../b", file)], Corrupt::Name),
        (vec![("", file)], Corrupt::Name),
        (vec![(".", file)], Corrupt::Name),
        (vec![(&*long, file)], Corrupt::Name),
        (many.clone(), Corrupt::TooMany),
    ] {
        assert_eq!(open(&archive(entries)), Some(reason));
    }
    assert_eq!(open(&archive(many[..MOST].to_vec())), None);
    let mut bytes = archive([("a", file)]);
    bytes[14..22].copy_from_slice(b"0000a1ff");
    assert_eq!(open(&bytes), Some(Corrupt::Type), "a symbolic link");
    bytes[14] = b'x';
    assert_eq!(open(&bytes), Some(Corrupt::Header));
    assert_eq!(open(&[]), Some(Corrupt::Short));
}
