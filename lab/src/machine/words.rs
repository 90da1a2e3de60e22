//! Words that belong to one kind of processor, for the rule that only its port may use them.

/// Names of machines, which are data anywhere.
pub const MACHINES: [&str; 1] = ["qemu-x86_64"];

/// The compiler's condition on the architecture.
pub const CONDITION: &str = "target_arch";

/// Architectures, their registers, instructions and devices, in lower case, with blanks between.
pub const ARCHITECTURE: &str = "\
    x86 amd64 aarch64 arm64 riscv riscv64 loongarch loongarch64 apic lapic ioapic x2apic \
    cr0 cr2 cr3 cr4 efer msr rdmsr wrmsr rdtsc rdtscp cpuid swapgs fsgsbase syscall64 \
    sysret sysretq iretq invlpg pcid invpcid gdt idt tss smep smap rflags eflags rax rbx \
    rcx rdx rsi rdi rbp rsp xmm0 fxsave xsave xsaveopt pvh gicv2 gicv3 plic clint sbi";
