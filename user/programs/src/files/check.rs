//! A client that tries a server of files: what it packs is there, what is wrong is refused, and a
//! restart of the server costs its clients their handles alone.

use super::text::Text;
use crate::supervised::saboteur::used;
use core::fmt::Write;
use files::{File, FileError, FilesClient, HANDLES, Handle, Kind, MOST_READ};
use rt::abi::object::Resource;
use rt::arch::counter;
use rt::prelude::*;
use rt::{Console, system, time};
use service::CallError;
use supervision::{Name, State, SupervisionClient};

/// How long what has to come may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long other programs have to come to rest.
const REST: Duration = Duration::from_millis(20);

/// The client: capabilities `files` (send), `supervisor`, `console`, `system`; memory `lives`;
/// argument `large`, the path of a file with more than [`MOST_READ`] bytes.
pub fn main(env: &Env) {
    let (console, machine) = (env.console(), env.cap("system"));
    let files = FilesClient::new(env.cap("files")).with_buffer(env.buffer(0));
    let large = env.arg("large").expect("an argument");
    files.begin().expect("the server is up");
    let sum = show(console, files, &Text::new());
    println!(console, "check: the sum of all bytes is {sum}");
    refused(files, large);
    println!(console, "check: what is wrong is refused");
    costs(console, files, large);
    await_holder(env);
    println!(console, "check: a client that ends with open files opens as many again");
    let before = used(machine);
    restart(env, files, large);
    time::sleep(REST);
    let after = used(machine);
    for (resource, (before, after)) in Resource::ALL.iter().zip(before.iter().zip(after)) {
        assert!(*before == after, "{}: {before} before, {after} after", resource.name());
    }
    let again = show_none(files, &Text::new());
    assert!(sum == again, "{again} after the restart");
    println!(console, "check: the restarted server has the same files");
    let _ = system::shutdown(machine, 0);
}

/// Prints what lies in a folder, and in all folders in it; the sum of all bytes of all files.
fn show(console: Console, files: FilesClient, path: &Text) -> u64 {
    walk(files, path, &|path, stat| match stat.kind {
        Kind::File => println!(console, "check: {} has {} bytes", path.as_str(), stat.size),
        Kind::Folder => println!(console, "check: {} is a folder", path.as_str()),
    })
}

fn show_none(files: FilesClient, path: &Text) -> u64 {
    walk(files, path, &|_, _| ())
}

fn walk(files: FilesClient, path: &Text, shown: &dyn Fn(&Text, files::Stat)) -> u64 {
    let folder = File::open(files, path.as_str()).expect("it is there");
    let mut sum = 0;
    for entry in folder.entries() {
        let entry = entry.expect("it is there");
        let mut inner = path.clone();
        let slash = if path.as_str().is_empty() { "" } else { "/" };
        write!(inner, "{slash}{}", entry.name.text()).expect("it is short");
        shown(&inner, entry.stat);
        sum += match entry.stat.kind {
            Kind::File => sum_of(files, inner.as_str()),
            Kind::Folder => walk(files, &inner, shown),
        };
    }
    sum
}

/// The sum of the bytes of a file, which has as many as is said.
fn sum_of(files: FilesClient, path: &str) -> u64 {
    let file = File::open(files, path).expect("it is there");
    let (mut bytes, mut sum, mut at) = ([0; 256], 0, 0);
    loop {
        let count = file.read(at, &mut bytes).expect("it is read");
        if count == 0 {
            assert!(at == u64::from(file.stat().size), "{path} has {at} bytes");
            return sum;
        }
        sum += bytes[..count].iter().map(|byte| u64::from(*byte)).sum::<u64>();
        at += count as u64;
    }
}

/// Asks for what the server has to refuse.
fn refused(files: FilesClient, large: &str) {
    let no = |error| Some(CallError::Server(error));
    assert!(files.stat("nowhere").err() == no(FileError::NotFound));
    assert!(files.stat("/").err() == no(FileError::NotFound));
    assert!(files.close(Handle(u64::MAX)).err() == no(FileError::NoHandle));
    let closed = File::open(files, large).map(|file| file.handle()).expect("it is there");
    assert!(files.read(closed, 0, 1).err() == no(FileError::NoHandle));
    let folder = File::open(files, "").expect("the root");
    assert!(files.read(folder.handle(), 0, 1).err() == no(FileError::IsFolder));
    let file = File::open(files, large).expect("it is there");
    assert!(files.list(file.handle(), 0).err() == no(FileError::IsFile));
    assert!(files.read(file.handle(), u64::MAX, u32::MAX).is_ok_and(|it| it.bytes().is_empty()));
    let more: [_; HANDLES - 2] = core::array::from_fn(|_| File::open(files, large));
    assert!(more.iter().all(Result::is_ok), "a client has {HANDLES} handles");
    assert!(File::open(files, large).err() == no(FileError::TooManyHandles));
}

/// Prints what requests cost.
fn costs(console: Console, files: FilesClient, large: &str) {
    let timed = |what: &str, ask: &dyn Fn()| {
        // The first time translations and lines of caches are loaded.
        ask();
        let (begin, before) = (counter(), counter());
        ask();
        // What reading the counter takes is no part of it.
        println!(console, "cost: {what} {}", counter() - before - (before - begin));
    };
    let file = File::open(files, large).expect("it is there");
    let read = |length| files.read(file.handle(), 0, length).map(|chunk| chunk.bytes().len());
    timed("stat", &|| assert!(files.stat(large).is_ok()));
    timed("read of 1 byte", &|| assert!(read(1) == Ok(1)));
    timed("read of the most bytes", &|| assert!(read(MOST_READ as u32) == Ok(MOST_READ)));
}

/// Waits until the holder has had its last life.
fn await_holder(env: &Env) {
    let end = Instant::now() + PATIENCE;
    while env.mem("lives").get(super::holder::DONE) == 0 {
        assert!(Instant::now() < end, "the holder does not end");
        time::sleep(REST);
    }
}

/// Ends the server behind an open file: its handle means nothing then, and the file opens again.
fn restart(env: &Env, files: FilesClient, large: &str) {
    let supervisor = SupervisionClient::new(env.cap("supervisor"));
    let file = File::open(files, large).expect("it is there");
    supervisor.kill(Name::new("files")).expect("the supervisor ends it");
    let read = files.within(PATIENCE).read(file.handle(), 0, 1);
    assert!(read.err() == Some(CallError::Server(FileError::NoHandle)), "a handle has two lives");
    let child = (0..).map_while(|number| supervisor.child(number).ok());
    let child = child.into_iter().find(|child| child.name == Name::new("files"));
    assert!(child.is_some_and(|child| child.state == State::Up && child.restarts == 1));
}
