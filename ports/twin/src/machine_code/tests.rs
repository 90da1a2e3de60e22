//! Accesses to devices' registers, and the instructions that make them.

use super::x86_64::{Registers, SINGLE_STEP, reads_first, stopped};
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

/// The register's words in the page that stands in.
fn word() -> &'static AtomicU64 {
    // SAFETY: a test uses it while the page is there, and it is an atomic.
    unsafe { &*std::ptr::without_provenance(AT as usize) }
}

#[test]
fn time_that_passes_leaves_an_access_to_a_register_as_it_is() {
    // Nothing is mapped of the RAM.
    let (_, file) = Ram::in_file(1).unwrap();
    let (options, window) = (Options::default(), Window::new(file, 0));
    let machine = Hardware::new(&options, 1, &[], None, Some(window));
    let machine: &'static Hardware = Box::leak(Box::new(machine));
    Hardware::install(Some(machine));
    let mut registers: Registers = [0; 23];
    let begin = |reads, registers: &mut Registers| {
        assert!(machine.begin_step(&REGISTER, AT, Rights::WRITE, reads));
        registers[REG_EFL as usize] = SINGLE_STEP;
    };
    begin(false, &mut registers);
    assert_eq!(word().swap(7, Relaxed), 0, "a store does not read");
    stopped(libc::SIGVTALRM, 0, &mut registers);
    assert_eq!(registers[REG_EFL as usize], SINGLE_STEP, "it is executed next still");
    assert_eq!(REGISTER.load(Relaxed), 5);
    stopped(libc::SIGTRAP, 0, &mut registers);
    assert_eq!((registers[REG_EFL as usize], REGISTER.load(Relaxed)), (0, 7));
    begin(true, &mut registers);
    assert_eq!(word().load(Relaxed), 7, "what it writes depends on what is there");
    stopped(libc::SIGTRAP, 0, &mut registers);
    Hardware::install(None);
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
