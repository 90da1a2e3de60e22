//! Attacks by threads that own what others wait for: rows of owners, and queues of futexes of each
//! scope.

use super::hostile::{FAR, Herd, Member};
use super::waits::pause;
use rt::futex::Scope;
use rt::{Env, Error, Words, thread};
use sync::{Condvar, InheritCondition, InheritMutex, Mutex, ThreadId};

/// Words of a mutex of a row.
const EACH: usize = InheritMutex::WORDS;
/// The lowest and the highest priority along a row.
const LOW: u64 = 30;
const HIGH: u64 = 199;
/// The word of the condition behind a mutex.
const CONDITION: usize = 8;

/// The mutexes of one row: thread `n` owns number `n`.
fn mutex(env: &Env, number: usize) -> InheritMutex {
    InheritMutex::new(env.mem("own").part(EACH * number, EACH))
}

/// Words that no thread has used.
fn anew(words: Words) -> Words {
    (0..words.len()).for_each(|word| words.set(word, 0));
    words
}

/// Threads that each wait for the one before, all of which inherit.
pub fn row(herd: &Herd) -> Result<(), Error> {
    anew(herd.member.env.mem("own"));
    for number in 0..herd.threads {
        // None is more urgent than those that it waits for, which is followed along the row.
        herd.start_at(LOW, number, link)?;
    }
    Ok(())
}

fn link(env: &Env, number: u64) {
    let (member, me) = (Member::new(env, number), ThreadId::current());
    let own = mutex(env, member.number);
    let _owned = own.lock(me).expect("a free mutex");
    if let Some(before) = member.number.checked_sub(1) {
        let before = mutex(env, before);
        let _ = before.lock_within(me, FAR);
        return;
    }
    let last = mutex(env, member.threads() - 1);
    loop {
        member.pass_gate();
        // The last one waits for this thread, through all the others.
        let _ = last.lock_within(me, FAR);
    }
}

/// The priority of the row's last thread, which all before it inherit.
pub fn priorities(herd: &Herd) -> Result<(), Error> {
    let last = herd.of(0, herd.threads - 1);
    thread::set_priority(last, HIGH)?;
    thread::set_priority(last, LOW)
}

/// The first thread asks for the last one's mutex: a ring, which is searched along the row.
pub fn rings(herd: &Herd) -> Result<(), Error> {
    herd.let_one_through()?;
    pause(herd)
}

/// Threads that wait for a condition of one domain.
pub fn domain(herd: &Herd) -> Result<(), Error> {
    anew(herd.member.env.mem("own"));
    herd.start(|env, _| wait(env.mem("own"), Scope::Domain))
}

/// The same of shared memory.
pub fn shared(herd: &Herd) -> Result<(), Error> {
    anew(herd.member.env.mem("own"));
    herd.start(|env, _| wait(env.mem("own"), Scope::Shared))
}

fn wait(words: Words, scope: Scope) {
    let me = ThreadId::current();
    let (mutex, condition) =
        (Mutex::new(words.part(0, 4), scope), Condvar::new(words, CONDITION, scope));
    let mut guard = mutex.lock(me).expect("the mutex");
    while condition.wait_within(&mut guard, FAR).is_ok() {}
}

/// All of them are woken.
pub fn wake_domain(herd: &Herd) -> Result<(), Error> {
    wake(herd.member.env.mem("own"), Scope::Domain)
}

/// The same of shared memory.
pub fn wake_shared(herd: &Herd) -> Result<(), Error> {
    wake(herd.member.env.mem("own"), Scope::Shared)
}

fn wake(words: Words, scope: Scope) -> Result<(), Error> {
    let mutex = Mutex::new(words.part(0, 4), scope);
    let guard = mutex.lock(ThreadId::current())?;
    Condvar::new(words, CONDITION, scope).notify_all(&guard)?;
    guard.unlock()
}

/// Threads that wait for a condition which its helper, the leader, can make true.
pub fn inherit(herd: &Herd) -> Result<(), Error> {
    let words = anew(herd.member.env.mem("own"));
    let (mutex, condition) = inheriting(words);
    let me = ThreadId::current();
    condition.helpers_add(&mutex.lock(me)?, me.helper())?;
    herd.start(|env, _| {
        let (mutex, condition) = inheriting(env.mem("own"));
        let mut guard = mutex.lock(ThreadId::current()).expect("the mutex");
        while condition.wait_within(&mut guard, FAR).is_ok() {}
    })
}

fn inheriting(words: Words) -> (InheritMutex, InheritCondition) {
    (InheritMutex::new(words.part(0, 4)), InheritCondition::new(words, CONDITION))
}

/// All of them are woken.
pub fn wake_inherit(herd: &Herd) -> Result<(), Error> {
    let (mutex, condition) = inheriting(herd.member.env.mem("own"));
    let guard = mutex.lock(ThreadId::current())?;
    condition.notify_all(&guard)?;
    guard.unlock()
}
