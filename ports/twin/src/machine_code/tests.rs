//! Accesses to devices' registers, and the instructions that make them.

use super::device::{Ended, Registers};
use super::x86_64::{SINGLE_STEP, reads_first, stopped};
use crate::hardware::Hardware;
use crate::memory::Ram;
use crate::window::Window;
use abi::{PAGE, Rights};
use libc::REG_EFL;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use twin_protocol::Options;

static REGISTER: AtomicU64 = AtomicU64::new(5);
/// An address in a page that no other test uses.
const AT: u64 = 0x5000_0000 + PAGE + 8;

/// A word in the page that stands in.
fn word(at: u64) -> &'static AtomicU64 {
    // SAFETY: a test uses it while the page is there, and it is an atomic.
    unsafe { &*std::ptr::without_provenance(at as usize) }
}

/// A machine without memory, which is this thread's.
fn machine() -> &'static Hardware {
    let (_, file) = Ram::in_file(1).unwrap();
    let (options, window) = (Options::default(), Window::new(file, 0));
    let machine = Hardware::new(&options, 1, &[], None, Some(window));
    let machine: &'static Hardware = Box::leak(Box::new(machine));
    Hardware::install(Some(machine));
    machine
}

/// A store or another instruction that writes is executed next.
fn begin(machine: &Hardware, reads: bool, registers: &mut Registers) {
    assert!(machine.begin_step(&REGISTER, (AT, Rights::WRITE), reads, registers));
    registers[REG_EFL as usize] = SINGLE_STEP;
}

#[test]
fn accesses_are_steps_on_a_page_that_stands_in() {
    let machine = machine();
    time_that_passes_leaves_an_access_as_it_is(machine);
    what_is_written_is_one_register_whole(machine);
    Hardware::install(None);
}

fn time_that_passes_leaves_an_access_as_it_is(machine: &Hardware) {
    let mut registers: Registers = [0; 23];
    begin(machine, false, &mut registers);
    assert_ne!(word(AT).swap(7, Relaxed), 5, "a store does not read");
    stopped(libc::SIGVTALRM, 0, &mut registers);
    assert_eq!(registers[REG_EFL as usize], SINGLE_STEP, "it is executed next still");
    assert_eq!(REGISTER.load(Relaxed), 5);
    stopped(libc::SIGTRAP, 0, &mut registers);
    assert_eq!((registers[REG_EFL as usize], REGISTER.load(Relaxed)), (0, 7));
    begin(machine, true, &mut registers);
    assert_eq!(word(AT).load(Relaxed), 7, "what it writes depends on what is there");
    stopped(libc::SIGTRAP, 0, &mut registers);
}

/// The bytes that a store of so many bits leaves in a word that had others.
fn stored(before: u64, value: u64, bits: u32) -> u64 {
    let mask = u64::MAX >> (64 - bits);
    before & !mask | value & mask
}

fn what_is_written_is_one_register_whole(machine: &Hardware) {
    let mut registers: Registers = [3; 23];
    let mut store = |value, bits| {
        begin(machine, false, &mut registers);
        let mut steps = 0;
        loop {
            steps += 1;
            word(AT).store(stored(word(AT).load(Relaxed), value, bits), Relaxed);
            match machine.end_step(true).unwrap() {
                Ended::Again(before) => assert_eq!((before[0], steps), (3, 1)),
                ended => return (ended == Ended::Done, steps, REGISTER.load(Relaxed)),
            }
        }
    };
    assert_eq!(store(0x0102_0304_0506_0708, 64), (true, 1, 0x0102_0304_0506_0708));
    // A byte that the page has had before.
    let filled = 0x5a;
    assert_eq!(store(filled << 56, 64), (true, 2, filled << 56));
    for bits in [8, 16, 32] {
        assert_eq!(store(0, bits), (false, 2, filled << 56), "{bits} bits");
    }
    begin(machine, true, &mut registers);
    word(AT + 8).store(0, Relaxed);
    assert!(matches!(machine.end_step(true), Some(Ended::Refused(_))), "two registers");
}

#[test]
fn stores_are_told_from_what_reads_before_it_writes() {
    let reads: [&[u8]; 6] = [
        &[0x48, 0x83, 0x08, 0x01],       // or qword ptr [rax], 1
        &[0x48, 0x09, 0x08],             // or [rax], rcx
        &[0xf0, 0x48, 0x0f, 0xc1, 0x08], // lock xadd [rax], rcx
        &[0x48, 0x87, 0x08],             // xchg [rax], rcx
        &[0x48, 0xff, 0x00],             // inc qword ptr [rax]
        &[0x48, 0xd1, 0x20],             // shl qword ptr [rax], 1
    ];
    let stores: [&[u8]; 4] = [
        &[0x48, 0x89, 0x08],             // mov [rax], rcx
        &[0x48, 0xc7, 0x00, 1, 0, 0, 0], // mov qword ptr [rax], 1
        &[0x66, 0x0f, 0xd6, 0x00],       // movq [rax], xmm0
        &[0x48, 0x0f, 0xc3, 0x08],       // movnti [rax], rcx
    ];
    for (instructions, reads) in [(&reads[..], true), (&stores[..], false)] {
        for bytes in instructions {
            assert_eq!(reads_first(bytes.iter().copied()), reads, "{bytes:x?}");
        }
    }
}
