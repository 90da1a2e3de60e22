//! The part of QEMU's plugin interface, version 1, that is used here.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// The version of the interface, which QEMU 7 and 8 have.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = 1;

/// A block of instructions that is being translated.
pub enum Block {}

/// An instruction of such a block.
pub enum Instruction {}

/// Registers are neither read nor written.
const NO_REGISTERS: c_int = 0;

type Plugin = u64;
type Executes = extern "C" fn(c_uint, *mut c_void);

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(
        id: Plugin,
        translates: extern "C" fn(Plugin, *mut Block),
    );
    fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut Block,
        executes: Executes,
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        executes: Executes,
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_atexit_cb(
        id: Plugin,
        ends: extern "C" fn(Plugin, *mut c_void),
        data: *mut c_void,
    );
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    fn qemu_plugin_insn_vaddr(instruction: *const Instruction) -> u64;
    fn qemu_plugin_insn_haddr(instruction: *const Instruction) -> *mut c_void;
    fn qemu_plugin_insn_data(instruction: *const Instruction) -> *const u8;
    fn qemu_plugin_insn_size(instruction: *const Instruction) -> usize;
    fn _exit(status: c_int) -> !;
}

/// An instruction as it is translated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// Its address in the guest.
    pub address: u64,
    /// The host's page that holds it: others hold other programs at the same address.
    pub page: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What is told of a run.
pub trait Watcher {
    /// What is told of an instruction whenever it is executed, and to whom.
    fn translates(code: Code) -> Option<(Executes, usize)>;
    /// A block of so many instructions is executed.
    fn executes(instructions: usize);
    /// The emulator ends.
    fn ends();
}

/// Has a run watched.
pub fn watch<W: Watcher>(id: Plugin) {
    // SAFETY: the functions have the types that the interface asks for, and live as long as the
    // plugin.
    unsafe {
        qemu_plugin_register_vcpu_tb_trans_cb(id, translate::<W>);
        qemu_plugin_register_atexit_cb(id, end::<W>, std::ptr::null_mut());
    }
}

extern "C" fn translate<W: Watcher>(_: Plugin, block: *mut Block) {
    // SAFETY: block and instructions are the emulator's, valid during this call; of an instruction
    // there are as many bytes as it says.
    unsafe {
        let count = qemu_plugin_tb_n_insns(block);
        let data = count as *mut c_void;
        qemu_plugin_register_vcpu_tb_exec_cb(block, block_executes::<W>, NO_REGISTERS, data);
        for index in 0..count {
            let instruction = qemu_plugin_tb_get_insn(block, index);
            let size = qemu_plugin_insn_size(instruction);
            let bytes = std::slice::from_raw_parts(qemu_plugin_insn_data(instruction), size);
            let code = Code {
                address: qemu_plugin_insn_vaddr(instruction),
                page: qemu_plugin_insn_haddr(instruction) as u64 >> 12,
                bytes: bytes.to_vec(),
            };
            if let Some((executes, data)) = W::translates(code) {
                let data = data as *mut c_void;
                qemu_plugin_register_vcpu_insn_exec_cb(instruction, executes, NO_REGISTERS, data);
            }
        }
    }
}

extern "C" fn block_executes<W: Watcher>(_: c_uint, count: *mut c_void) {
    W::executes(count as usize);
}

extern "C" fn end<W: Watcher>(_: Plugin, _: *mut c_void) {
    W::ends();
}

/// Ends the emulator at once.
pub fn leave() -> ! {
    // SAFETY: nothing of this process is needed any more.
    unsafe { _exit(0) }
}

/// The arguments of a plugin.
///
/// # Safety
/// They are those that the emulator installs the plugin with.
pub unsafe fn arguments(count: c_int, all: *const *const c_char) -> Vec<String> {
    let one = |index: usize| {
        // SAFETY: the emulator passes so many texts, each with an end.
        let text = unsafe { std::ffi::CStr::from_ptr(*all.add(index)) };
        text.to_string_lossy().into_owned()
    };
    (0..usize::try_from(count).unwrap_or(0)).map(one).collect()
}
