//! Good archives: what they hold is found, and nothing else.

use crate::{Tree, archive, children, packed, tree};
use files::{Node, Volume};
use proptest::prelude::*;

/// Compares a volume with the tree that was packed.
fn agrees(volume: &Volume<&[u8]>, tree: &Tree) {
    assert_eq!(volume.count(), tree.len());
    for (path, content) in tree {
        let node = volume.find(path).unwrap_or_else(|| panic!("{path} is there"));
        assert_eq!(volume.is_folder(node), content.is_none());
        if let Some(content) = content {
            assert_eq!(volume.size(node) as usize, content.len());
            for offset in [0, 1, content.len().saturating_sub(1), content.len()] {
                let mut into = [0; 16];
                let count = volume.read(node, offset as u64, &mut into);
                let rest = &content[offset.min(content.len())..];
                assert_eq!(into[..count], rest[..rest.len().min(16)], "{path} from {offset}");
            }
            assert_eq!(volume.read(node, u64::MAX, &mut [0; 16]), 0);
        }
    }
    let folders = tree.iter().filter(|(_, content)| content.is_none()).map(|(path, _)| &**path);
    for folder in folders.chain([""]) {
        let node = volume.find(folder).expect("it is there");
        let listed: Vec<String> = (0..)
            .map_while(|number| volume.child(node, number, |_, name| name.to_string()))
            .collect();
        assert_eq!(listed, children(tree, folder), "what is in {folder:?}");
        assert_eq!(volume.size(node) as usize, listed.len());
    }
}

proptest! {
    #[test]
    fn what_was_packed_is_found_in_whatever_order(
        tree in tree(),
        order in any::<prop::sample::Index>(),
        is_dotted: bool,
    ) {
        let mut entries: Vec<_> = tree.iter().collect();
        if !entries.is_empty() {
            let count = entries.len();
            entries.rotate_left(order.index(count));
        }
        // As `find . | cpio` writes it.
        let prefix = if is_dotted { "./" } else { "" };
        let named: Vec<_> =
            entries.iter().map(|(path, content)| (format!("{prefix}{path}"), content)).collect();
        let root = is_dotted.then_some((".", None));
        let rest = named.iter().map(|(path, content)| (path.as_str(), content.as_deref()));
        let bytes = archive(root.into_iter().chain(rest));
        let (volume, corrupt) = Volume::of(&bytes[..]);
        prop_assert_eq!(corrupt, None);
        agrees(&volume, &tree);
    }

    #[test]
    fn what_was_not_packed_is_not_found(tree in tree(), wanted in "[ab./ü-]{1,9}") {
        let bytes = packed(&tree);
        let (volume, _) = Volume::of(&bytes[..]);
        let found = volume.find(&wanted).is_some_and(|node| node != Node::Root);
        prop_assert_eq!(found, tree.contains_key(&wanted), "{}", wanted);
    }
}
