//! What one instruction does.

use crate::machine::{Does, Flow};
use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, Mnemonic, OpAccess};

/// What the instruction of these bytes does.
pub fn does(bytes: &[u8]) -> Does {
    let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
    let mut does = Does::default();
    for used in InstructionInfoFactory::new().info(&instruction).used_memory() {
        use OpAccess::*;
        let access = used.access();
        does.loads += u64::from(matches!(access, Read | CondRead | ReadWrite | ReadCondWrite));
        does.stores += u64::from(matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite));
    }
    let mnemonic = instruction.mnemonic();
    does.flow = match (instruction.flow_control(), mnemonic) {
        (_, Mnemonic::Hlt) => Flow::Halts,
        (FlowControl::Call | FlowControl::IndirectCall, Mnemonic::Call) => Flow::Calls,
        (_, Mnemonic::Ret) => Flow::Returns,
        _ => Flow::On,
    };
    let stays = [FlowControl::Next, FlowControl::Exception, FlowControl::Interrupt];
    does.branches = !stays.contains(&instruction.flow_control());
    does.reads_counter = matches!(mnemonic, Mnemonic::Rdtsc | Mnemonic::Rdtscp);
    does
}

/// The addresses in a stretch of code of instructions that read the counter.
pub fn counter_reads(code: &[u8], at: u64) -> Vec<u64> {
    let reads = |one: &iced_x86::Instruction| one.mnemonic() == Mnemonic::Rdtsc;
    let all = Decoder::with_ip(64, code, at, DecoderOptions::NONE).into_iter();
    all.filter(reads).map(|one| one.ip()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_told_apart() {
        let plain = Does::default();
        let cases: [(&[u8], Does); 9] = [
            (&[0x90], plain),
            (&[0x48, 0x8b, 0x00], Does { loads: 1, ..plain }),
            (&[0x48, 0x89, 0x00], Does { stores: 1, ..plain }),
            (&[0x48, 0xff, 0x00], Does { loads: 1, stores: 1, ..plain }),
            (&[0x48, 0x8d, 0x00], plain),
            (&[0x75, 0x10], Does { branches: true, ..plain }),
            (&[0xe8, 0, 0, 0, 0], Does { flow: Flow::Calls, branches: true, stores: 1, ..plain }),
            (&[0xc3], Does { flow: Flow::Returns, branches: true, loads: 1, ..plain }),
            (&[0x0f, 0x31], Does { reads_counter: true, ..plain }),
        ];
        for (bytes, expected) in cases {
            assert_eq!(does(bytes), expected, "{bytes:02x?}");
        }
        assert_eq!(does(&[0xf4]).flow, Flow::Halts);
    }

    #[test]
    fn counter_reads_are_found_by_address() {
        assert_eq!(counter_reads(&[0x90, 0x0f, 0x31, 0x90, 0x0f, 0x31], 100), [101, 104]);
    }
}
