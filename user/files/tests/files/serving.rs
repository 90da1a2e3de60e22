//! Requests of several clients against a model of what each has open.

use crate::{Tree, children, packed, tree};
use files::{CLIENTS, FileError, FileServer, Files, HANDLES, Handle, Kind, MOST_READ, Stat};
use proptest::prelude::*;
use service::Badge;
use std::collections::BTreeMap;

/// What a client does. Paths and handles are chosen from those that there are, and some others.
#[derive(Clone, Debug)]
enum Step {
    Begin,
    Stat(prop::sample::Index),
    Open(prop::sample::Index),
    Close(prop::sample::Index),
    Read(prop::sample::Index, u64, u32),
    List(prop::sample::Index, u32),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    let offset = prop_oneof![0u64..50, any::<u64>()];
    let length = prop_oneof![0u32..50, any::<u32>()];
    prop_oneof![
        1 => Just(Step::Begin),
        2 => index().prop_map(Step::Stat),
        8 => index().prop_map(Step::Open),
        3 => index().prop_map(Step::Close),
        6 => (index(), offset, length).prop_map(|(at, from, count)| Step::Read(at, from, count)),
        6 => (index(), prop_oneof![0u32..6, any::<u32>()]).prop_map(|(at, n)| Step::List(at, n)),
        1 => Just(Step::Restart),
    ]
}

/// What is open, by client and handle, and all handles that ever were.
struct Model<'a> {
    tree: &'a Tree,
    open: BTreeMap<(u64, u64), String>,
    handles: Vec<u64>,
}

impl Model<'_> {
    fn stat(&self, path: &str) -> Result<Stat, FileError> {
        let content = if path.is_empty() { Some(&None) } else { self.tree.get(path) };
        Ok(match content.ok_or(FileError::NotFound)? {
            Some(content) => Stat { kind: Kind::File, size: content.len() as u32 },
            None => Stat { kind: Kind::Folder, size: children(self.tree, path).len() as u32 },
        })
    }

    fn path(&self, at: &prop::sample::Index) -> String {
        let others = ["", "nowhere", "a/", "/a", ".."].map(String::from);
        let all: Vec<String> = self.tree.keys().cloned().chain(others).collect();
        at.get(&all).clone()
    }

    fn handle(&self, at: &prop::sample::Index) -> u64 {
        let all: Vec<u64> = self.handles.iter().copied().chain([0, u64::MAX]).collect();
        *at.get(&all)
    }

    fn opened(&self, who: Badge, handle: u64) -> Result<(&str, Stat), FileError> {
        let is_client = (1..=CLIENTS as u64).contains(&who.0);
        is_client.then_some(()).ok_or(FileError::NoClient)?;
        let path = self.open.get(&(who.0, handle)).ok_or(FileError::NoHandle)?;
        Ok((path, self.stat(path).expect("it is there")))
    }

    fn of(&self, who: Badge) -> usize {
        self.open.range((who.0, 0)..=(who.0, u64::MAX)).count()
    }

    /// Asks the server and compares what it answers.
    fn ask(&mut self, server: &mut FileServer<&[u8]>, who: Badge, step: &Step) {
        let is_client = (1..=CLIENTS as u64).contains(&who.0);
        let client = is_client.then_some(()).ok_or(FileError::NoClient);
        match step {
            Step::Restart => unreachable!("the server itself is made anew"),
            Step::Begin => {
                assert_eq!(server.begin(who), client);
                self.open.retain(|(badge, _), _| *badge != who.0);
            }
            Step::Stat(at) => {
                let path = self.path(at);
                let expected = client.and_then(|()| self.stat(&path));
                assert_eq!(server.stat(who, &path), expected, "{path}");
            }
            Step::Open(at) => self.open_one(server, who, at),
            Step::Close(at) => {
                let handle = self.handle(at);
                let expected = self.opened(who, handle).map(drop);
                assert_eq!(server.close(who, Handle(handle)), expected);
                self.open.remove(&(who.0, handle));
            }
            Step::Read(at, offset, length) => {
                let handle = self.handle(at);
                let expected = self.opened(who, handle).and_then(|(path, stat)| {
                    let is_file = stat.kind == Kind::File;
                    is_file.then_some(path).ok_or(FileError::IsFolder)
                });
                let expected = expected.map(|path| {
                    let content = self.tree[path].as_deref().unwrap_or_default();
                    let from = (*offset).min(content.len() as u64) as usize;
                    let count = (*length as usize).min(content.len() - from).min(MOST_READ);
                    content[from..from + count].to_vec()
                });
                let read = server.read(who, Handle(handle), *offset, *length);
                assert_eq!(read.map(|chunk| chunk.bytes().to_vec()), expected);
            }
            Step::List(at, cursor) => {
                let handle = self.handle(at);
                let expected = self.opened(who, handle).and_then(|(path, stat)| {
                    let is_folder = stat.kind == Kind::Folder;
                    is_folder.then_some(path).ok_or(FileError::IsFile)
                });
                let name = |path: &str| {
                    children(self.tree, path).get(*cursor as usize).map(|name| name.to_string())
                };
                let listed = server.list(who, Handle(handle), *cursor);
                let listed = listed.map(|it| it.map(|entry| entry.name.text().to_string()));
                assert_eq!(listed, expected.map(name));
            }
        }
    }

    fn open_one(&mut self, server: &mut FileServer<&[u8]>, who: Badge, at: &prop::sample::Index) {
        let path = self.path(at);
        let is_client = (1..=CLIENTS as u64).contains(&who.0);
        let expected = is_client.then_some(()).ok_or(FileError::NoClient);
        let expected = expected.and_then(|()| self.stat(&path)).and_then(|stat| {
            let has_room = self.of(who) < HANDLES;
            has_room.then_some(stat).ok_or(FileError::TooManyHandles)
        });
        let opened = server.open(who, &path);
        assert_eq!(opened.map(|(_, stat)| stat), expected, "{path}");
        if let Ok((handle, _)) = opened {
            assert!(!self.handles.contains(&handle.0), "no handle comes twice");
            self.handles.push(handle.0);
            self.open.insert((who.0, handle.0), path);
        }
    }
}

proptest! {
    #[test]
    fn each_client_has_what_it_has_opened(
        tree in tree(),
        steps in prop::collection::vec((prop_oneof![1u64..4, Just(0), Just(17)], step()), 1..120),
    ) {
        let bytes = packed(&tree);
        let mut life = 1_000;
        let mut server = FileServer::new(&bytes[..], life);
        let mut model = Model { tree: &tree, open: BTreeMap::new(), handles: Vec::new() };
        for (who, step) in steps {
            if matches!(step, Step::Restart) {
                life += 1_000;
                server = FileServer::new(&bytes[..], life);
                model.open.clear();
            } else {
                model.ask(&mut server, Badge(who), &step);
            }
            prop_assert_eq!(server.handles(), model.open.len());
        }
    }
}

#[test]
fn a_client_that_uses_up_its_handles_takes_none_of_another() {
    let tree = Tree::from([("a".to_string(), Some(b"content".to_vec()))]);
    let bytes = packed(&tree);
    let mut server = FileServer::new(&bytes[..], 1);
    for _ in 0..HANDLES {
        server.open(Badge(1), "a").expect("there is room");
    }
    assert_eq!(server.open(Badge(1), "a").err(), Some(FileError::TooManyHandles));
    assert!(server.open(Badge(2), "a").is_ok());
    server.begin(Badge(1)).expect("it is a client");
    assert_eq!(server.handles(), 1);
}

#[test]
fn a_server_of_a_corrupt_archive_says_so() {
    let mut server = FileServer::new(&b"no archive"[..], 1);
    assert!(server.corrupt().is_some());
    assert_eq!(server.stat(Badge(1), "a"), Err(FileError::Corrupt));
    assert_eq!(server.open(Badge(1), "").map(|(_, stat)| stat), Err(FileError::Corrupt));
    assert_eq!(server.begin(Badge(1)), Ok(()));
}
