//! Coroutines whose programs do what no program may.

use super::*;
use crate::context::Trap;
use crate::fiber::Fibers;
use crate::hardware::Hardware;
use rt::arch::hosted::{self, Machine};
use std::hint::black_box;
use std::panic::catch_unwind;
use std::process::Command;
use twin_protocol::Options;

/// An address at which nothing is.
const WILD: usize = 0x1234_5000;
/// An address in the page that holds nothing anywhere.
const NULL: usize = 8;

fn recurse(depth: u64) -> u64 {
    let room = black_box([depth; 64]);
    if room[1] == u64::MAX { depth } else { recurse(depth + 1) + black_box(room)[0] }
}

fn recurse_through_the_machine(depth: u64) -> u64 {
    let room = black_box([depth; 64]);
    if hosted::counter() == u64::MAX {
        depth
    } else {
        recurse_through_the_machine(depth + 1) + room[0]
    }
}

/// A machine without memory, and its coroutines.
fn machine() -> (&'static Hardware, Fibers) {
    watch();
    let hardware: &'static Hardware =
        Box::leak(Box::new(Hardware::new(&Options::default(), 1, &[], None, None)));
    (hardware, Fibers::new(hardware))
}

/// What a coroutine stops with that does this work.
fn stops(work: fn()) -> Trap {
    let (hardware, mut fibers) = machine();
    let before = hosted::install(Some(hardware as &'static dyn Machine));
    let number = fibers.run(move || {
        work();
        panic!("the program was to be stopped")
    });
    let trap = || hardware.here().trap.get();
    fibers.resume(number);
    let first = trap();
    hardware.here().trap.set(Trap::Start);
    fibers.resume(number);
    assert_eq!(trap(), first, "it stands there for ever");
    hosted::install(before);
    first
}

/// What the host refused.
fn refused(work: fn()) -> Refusal {
    match stops(work) {
        Trap::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_overflow_of_the_stack_is_told_in_programs_and_in_the_machines_functions() {
    let refusal = refused(|| {
        black_box(recurse(0));
    });
    assert_eq!((refusal.kind, refusal.address), (FaultKind::Memory, None));
    assert!(refusal.at > 0);
    let refusal = refused(|| {
        black_box(recurse_through_the_machine(0));
    });
    assert_eq!((refusal.kind, refusal.address), (FaultKind::Memory, None));
}

#[test]
fn a_wild_pointer_is_told_with_its_address() {
    // SAFETY: nothing is there, so the host refuses it.
    let read = || unsafe {
        black_box(std::ptr::without_provenance::<u64>(NULL).read_volatile());
    };
    // SAFETY: as above.
    let write = || unsafe { std::ptr::without_provenance_mut::<u64>(WILD).write_volatile(1) };
    for (work, address) in [(read as fn(), NULL), (write, WILD)] {
        let refusal = refused(work);
        let expected = (FaultKind::Memory, Some(address as u64));
        assert_eq!((refusal.kind, refusal.address), expected);
    }
}

#[test]
fn an_instruction_that_does_not_exist_is_told() {
    // SAFETY: the host refuses it.
    let refusal = refused(|| unsafe { std::arch::asm!("ud2") });
    assert_eq!(refusal.kind, FaultKind::Instruction);
}

/// Makes a system call when it is dropped.
struct Calls;

impl Drop for Calls {
    fn drop(&mut self) {
        let _ = hosted::syscall(0, [hosted::word(0); 6], [hosted::word(0); 4]);
    }
}

#[test]
fn what_is_refused_to_a_program_is_told_while_another_one_panics() {
    hosted::remember_panics();
    let (hardware, mut fibers) = machine();
    let before = hosted::install(Some(hardware as &'static dyn Machine));
    let panics = |message: &'static str| {
        move || {
            let caught = catch_unwind(|| {
                let _calls = Calls;
                panic!("{message}");
            });
            assert!(caught.is_err() && hosted::message_of_panic().ends_with(message));
            drop(Calls);
            panic!("it stands in its second call for ever")
        }
    };
    let writes = || {
        // SAFETY: nothing is there, so the host refuses it.
        unsafe { std::ptr::without_provenance_mut::<u64>(WILD).write_volatile(1) };
        panic!("the program was to be stopped")
    };
    let trap = |fibers: &mut Fibers, number| {
        fibers.resume(number);
        hardware.here().trap.replace(Trap::Start)
    };
    let told = |trap: Trap| matches!(trap, Trap::Refused(Refusal { at, .. }) if at > 0);
    let [first, second] = ["one", "two"].map(|message| fibers.run(panics(message)));
    assert_eq!(trap(&mut fibers, first), Trap::Call, "in the midst of a panic");
    let other = fibers.run(writes);
    assert!(told(trap(&mut fibers, other)), "a panic is not another program's");
    assert_eq!(trap(&mut fibers, second), Trap::Call, "two at once");
    assert_eq!(trap(&mut fibers, first), Trap::Call, "each has its own message");
    fibers.end(second);
    let other = fibers.run(writes);
    assert!(told(trap(&mut fibers, other)), "a panic ends with its program");
    let third = fibers.run(panics("three"));
    let calls = [trap(&mut fibers, third), trap(&mut fibers, third)];
    assert_eq!(calls, [Trap::Call; 2], "programs panic as before");
    hosted::install(before);
}

#[test]
fn a_thread_goes_on_and_computes_with_all_its_patience() {
    let (hardware, mut fibers) = machine();
    let before = hosted::install(Some(hardware as &'static dyn Machine));
    let patience = || hardware.here().patience.get();
    let first = fibers.run(move || {
        hosted::counter();
        assert_eq!(patience(), 1);
        Refusal { kind: FaultKind::Other, address: None, at: 0 }
    });
    fibers.resume(first);
    let second = fibers.run(move || {
        assert_eq!(patience(), 0, "what another has used up");
        hosted::counter();
        hardware.compute(1);
        assert_eq!(patience(), 0, "time has passed");
        Refusal { kind: FaultKind::Other, address: None, at: 0 }
    });
    fibers.resume(second);
    assert_eq!(hardware.entries.get(), 1, "it was not stopped");
    hosted::install(before);
}

/// Set for the process that is to die.
const VICTIM: &str = "GIUSTO_TWIN_TEST_VICTIM";

#[test]
fn the_machines_own_faults_end_the_process() {
    if std::env::var_os(VICTIM).is_some() {
        watch();
        stops(|| {
            let _inside = Inside::enter();
            // SAFETY: nothing is there, so the host refuses it.
            unsafe { std::ptr::without_provenance_mut::<u64>(WILD).write_volatile(1) };
        });
        return;
    }
    let me = std::env::current_exe().unwrap();
    let name = "signals::tests::the_machines_own_faults_end_the_process";
    let ended = Command::new(me).args(["--exact", name]).env(VICTIM, "1").output().unwrap();
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(ended.status.signal(), Some(libc::SIGSEGV), "{ended:?}");
}
