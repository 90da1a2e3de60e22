//! What the instructions of a round trip do besides computing.
//!
//! Counting instructions as time prices all of them at one; these counts stand beside.

use crate::machine::Count;
use crate::machine::debugger::Debugger;
use abi::call::Call;
use anyhow::{Context, Result, bail, ensure};
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::{Object, ObjectSymbol};
use std::ops::Range;
use std::path::Path;

/// Entry code, by the mangled names of its functions: where system calls arrive.
const ENTRIES: [&str; 2] = ["10fast_entry", "11plain_entry"];

/// More instructions than a round trip ever takes.
const LIMIT: u32 = 20_000;

/// Device registers in the direct map.
const DEVICES: Range<u64> = 0xffff_8000_fe00_0000..0xffff_8001_0000_0000;

const LONGEST_INSTRUCTION: usize = 15;
const PAGE: u64 = 4096;

/// The processor's registers, as the debugger shows them.
struct State {
    registers: Vec<u64>,
    at: u64,
    user: bool,
}

impl State {
    fn read(debugger: &mut Debugger) -> Result<State> {
        let bytes = debugger.registers()?;
        let word = |index: usize| {
            let word = bytes.get(index * 8..index * 8 + 8)?;
            Some(u64::from_le_bytes(word.try_into().ok()?))
        };
        let registers: Option<Vec<u64>> = (0..16).map(word).collect();
        // After the general registers: the instruction pointer, 4 bytes of flags, CS.
        let state = registers.zip(word(16)).zip(bytes.get(16 * 8 + 12));
        let ((registers, at), code) = state.context("the emulator shows too few registers")?;
        Ok(State { registers, at, user: code & 3 == 3 })
    }

    /// The number of the system call that arrives.
    fn call(&self) -> u64 {
        self.registers[0] & 0xff
    }

    /// A register's value, for addresses. The kernel has no device registers behind segments, so
    /// their bases do not matter.
    fn register(&self, register: Register) -> Option<u64> {
        use Register::*;
        let order = [RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15];
        if [ES, CS, SS, DS, FS, GS].contains(&register) {
            return Some(0);
        }
        let index = order.into_iter().position(|known| known == register)?;
        Some(self.registers[index])
    }

    /// The instruction that comes next.
    fn instruction(&self, debugger: &mut Debugger) -> Result<Instruction> {
        // Beyond the page there may be none; an instruction that goes on there needs both.
        let here = (PAGE - self.at % PAGE).min(LONGEST_INSTRUCTION as u64) as usize;
        for length in [here, LONGEST_INSTRUCTION] {
            let Some(code) = debugger.memory(self.at, length)? else { continue };
            let decoded = Decoder::with_ip(64, &code, self.at, DecoderOptions::NONE).decode();
            if !decoded.is_invalid() {
                return Ok(decoded);
            }
        }
        bail!("there is no instruction at {:#x}", self.at)
    }
}

/// What was counted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Operations {
    kernel: u64,
    stubs: u64,
    system_calls: u64,
    table_loads: u64,
    msr_writes: u64,
    locked: u64,
    serialising: u64,
    state_saves: u64,
    devices: u64,
    /// In this stretch of user mode: before the first counter read, after the last.
    before: u64,
    after: u64,
    counter_read: bool,
}

impl Operations {
    fn add(&mut self, instruction: &Instruction, state: &State) {
        if state.user {
            self.add_user(instruction)
        } else {
            self.kernel += 1
        }
        let mnemonic = instruction.mnemonic();
        let operands = 0..instruction.op_count();
        let memory = operands.clone().any(|op| instruction.op_kind(op) == OpKind::Memory);
        let to_control = instruction.code() == Code::Mov_cr_r64;
        let exchange = mnemonic == Mnemonic::Xchg && memory;
        self.locked += u64::from(instruction.has_lock_prefix() || exchange);
        match mnemonic {
            Mnemonic::Syscall => self.system_calls += 1,
            Mnemonic::Wrmsr => self.msr_writes += 1,
            Mnemonic::Mov if to_control && instruction.op0_register() == Register::CR3 => {
                self.table_loads += 1;
            }
            Mnemonic::Mov if to_control => self.serialising += 1,
            _ if is_serialising(mnemonic) => self.serialising += 1,
            _ if is_state_save(mnemonic) => self.state_saves += 1,
            Mnemonic::In | Mnemonic::Out => self.devices += 1,
            Mnemonic::Lea => {}
            _ if memory => {
                let address =
                    |op| instruction.virtual_address(op, 0, |reg, _, _| state.register(reg));
                let mut addresses = operands.filter_map(address);
                self.devices += u64::from(addresses.any(|at| DEVICES.contains(&at)));
            }
            _ => {}
        }
    }

    /// What programs do around the two counter reads is theirs, not the stub's.
    fn add_user(&mut self, instruction: &Instruction) {
        if matches!(instruction.mnemonic(), Mnemonic::Rdtsc | Mnemonic::Rdtscp) {
            (self.counter_read, self.after) = (true, 0);
        } else if self.counter_read {
            self.after += 1;
        } else {
            self.before += 1;
        }
        if instruction.mnemonic() == Mnemonic::Syscall {
            self.stubs += self.before + self.after;
            (self.before, self.after, self.counter_read) = (0, 0, false);
        }
    }

    fn counts(&self) -> Vec<Count> {
        let count = |name, value, note| Count { name, value, note };
        vec![
            count("system calls", self.system_calls, "`syscall` instructions"),
            count("page-table loads", self.table_loads, "writes of CR3"),
            count("MSR writes", self.msr_writes, "`wrmsr` instructions"),
            count(
                "locked instructions",
                self.locked,
                "with a lock prefix, and exchanges with memory",
            ),
            count(
                "serialising instructions",
                self.serialising,
                "`iretq`, `cpuid`, fences, invalidations and writes of control registers but CR3",
            ),
            count("state saves", self.state_saves, "saves and restores of x87 and vector state"),
            count("device accesses", self.devices, "port instructions and device registers"),
            count("instructions in the kernel", self.kernel, "from `syscall` to `sysret`"),
            count(
                "instructions in the stubs",
                self.stubs,
                "in user mode, between the system calls and the programs' counter reads",
            ),
        ]
    }
}

fn is_serialising(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    [
        Iretq, Iret, Iretd, Cpuid, Lgdt, Lidt, Lldt, Ltr, Invlpg, Invpcid, Invd, Wbinvd, Rsm,
        Serialize, Mfence, Lfence, Sfence, Clts, Lmsw,
    ]
    .contains(&mnemonic)
}

fn is_state_save(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    [
        Fxsave, Fxsave64, Fxrstor, Fxrstor64, Xsave, Xsave64, Xsavec, Xsavec64, Xsaveopt,
        Xsaveopt64, Xsaves, Xsaves64, Xrstor, Xrstor64, Xrstors, Xrstors64, Fnsave, Frstor,
    ]
    .contains(&mnemonic)
}

/// Counts from behind one system call of the client to behind its next, past the first `skip`.
pub fn count_round_trip(debugger: &mut Debugger, kernel: &Path, skip: usize) -> Result<Vec<Count>> {
    let entries = entries(kernel)?;
    for entry in &entries {
        debugger.break_at(*entry)?;
    }
    let mut calls = 0;
    loop {
        debugger.go()?;
        calls += usize::from(State::read(debugger)?.call() == Call::Call as u64);
        if calls > skip {
            break;
        }
        debugger.step()?;
    }
    for entry in &entries {
        debugger.pass(*entry)?;
    }
    let mut operations = Operations::default();
    for _ in 0..LIMIT {
        let state = State::read(debugger)?;
        let arrived = entries.contains(&state.at) && state.call() == Call::Call as u64;
        if arrived && operations.kernel > 0 {
            return Ok(operations.counts());
        }
        operations.add(&state.instruction(debugger)?, &state);
        debugger.step()?;
    }
    bail!("the client did not call again within {LIMIT} instructions")
}

/// Addresses of the entry code of all kernels in the image.
fn entries(kernel: &Path) -> Result<Vec<u64>> {
    let data = fs_err::read(kernel)?;
    let file = object::File::parse(&*data)?;
    let is_entry = |name: &str| ENTRIES.iter().any(|entry| name.contains(entry));
    let entries: Vec<u64> = file
        .symbols()
        .filter(|symbol| symbol.name().is_ok_and(is_entry))
        .map(|symbol| symbol.address())
        .collect();
    ensure!(!entries.is_empty(), "the kernel image has no function {}", ENTRIES.join(" or "));
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts machine code, in kernel or user mode, with all registers zero but one.
    fn counted(code: &[u8], user: bool, rax: u64) -> Operations {
        let mut operations = Operations::default();
        let mut registers = vec![0; 16];
        registers[0] = rax;
        let state = State { registers, at: 0, user };
        for instruction in Decoder::new(64, code, DecoderOptions::NONE) {
            assert!(!instruction.is_invalid());
            operations.add(&instruction, &state);
        }
        operations
    }

    fn kernel(code: &[u8]) -> Operations {
        counted(code, false, 0)
    }

    #[test]
    fn operations_are_told_apart() {
        let one = |operations: Operations| Operations { kernel: 1, ..operations };
        let none = Operations::default;
        let cases: [(&[u8], Operations); 14] = [
            (&[0x0f, 0x22, 0xd8], Operations { table_loads: 1, ..none() }),
            (&[0x0f, 0x20, 0xd8], none()),
            (&[0x0f, 0x22, 0xc0], Operations { serialising: 1, ..none() }),
            (&[0x0f, 0x06], Operations { serialising: 1, ..none() }),
            (&[0x48, 0xcf], Operations { serialising: 1, ..none() }),
            (&[0x0f, 0x01, 0x38], Operations { serialising: 1, ..none() }),
            (&[0x0f, 0x30], Operations { msr_writes: 1, ..none() }),
            (&[0xf0, 0x48, 0xff, 0x00], Operations { locked: 1, ..none() }),
            (&[0x48, 0x87, 0x18], Operations { locked: 1, ..none() }),
            (&[0x48, 0x87, 0xd8], none()),
            (&[0x48, 0x0f, 0xae, 0x00], Operations { state_saves: 1, ..none() }),
            (&[0x48, 0x0f, 0xae, 0x08], Operations { state_saves: 1, ..none() }),
            (&[0xee], Operations { devices: 1, ..none() }),
            (&[0x48, 0x8b, 0x00], none()),
        ];
        for (code, expected) in cases {
            assert_eq!(kernel(code), one(expected), "{code:02x?}");
        }
    }

    #[test]
    fn device_registers_are_recognised_by_address() {
        let store = [0xc7, 0x80, 0xb0, 0, 0, 0, 0, 0, 0, 0];
        let at = |rax| counted(&store, false, rax).devices;
        assert_eq!(at(0xffff_8000_fee0_0000), 1);
        assert_eq!(at(0xffff_8000_0020_0000), 0);
    }

    #[test]
    fn only_the_stub_counts_in_user_mode() {
        let (nop, counter, call) = ([0x90].as_slice(), [0x0f, 0x31], [0x0f, 0x05]);
        let code = [nop, nop, &counter, nop, nop, nop, &counter, nop, &call, nop, &counter, &call]
            .concat();
        let operations = counted(&code, true, 0);
        assert_eq!((operations.stubs, operations.system_calls, operations.kernel), (6, 2, 0));
    }
}
