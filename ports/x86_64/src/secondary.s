// Where the other CPUs start: a copy of this lies at 0x8000 (OTHERS), since they begin in real mode. The tables of the boot code are still there; `others` replaces them.

.section .rodata.others, "a"
.global others_begin
.global others_end
.code16
others_begin:
    jmp 1f
    .org 8
    // At OTHERS + 8: stack pointer, address to go to, number of the CPU.
    .quad 0, 0, 0
    // At OTHERS + 32: segments.
    .quad 0, 0x00cf9b000000ffff, 0x00cf93000000ffff, 0x00af9b000000ffff
    // At OTHERS + 64: where they are.
    .word 31
    .long 0x8000 + 32
1:  cli
    cld
    xor ax, ax
    mov ds, ax
    lgdt [0x8000 + 64]
    mov eax, cr0
    or al, 1
    mov cr0, eax
    // Far jumps by their bytes, as in the boot code.
    .byte 0x66, 0xea
    .long 0x8000 + 2f - others_begin
    .word 0x08
.code32
2:  mov ax, 0x10
    mov ds, ax
    mov es, ax
    mov ss, ax
    mov eax, cr4
    or eax, 0x20
    mov cr4, eax
    mov eax, offset boot_pml4
    mov cr3, eax
    mov ecx, 0xc0000080
    rdmsr
    or eax, 0x901
    wrmsr
    mov eax, cr0
    or eax, 0x80010001
    mov cr0, eax
    .byte 0xea
    .long 0x8000 + 3f - others_begin
    .word 0x18
.code64
3:  xor eax, eax
    mov fs, eax
    mov gs, eax
    mov rsp, [0x8000 + 8]
    mov rax, [0x8000 + 16]
    mov rdi, [0x8000 + 24]
    xor ebp, ebp
    push rbp
    jmp rax
others_end:

// Their stacks, laid out as those of the first CPU.
.section .stacks.secondary, "aw", @nobits
    .skip 7 * 10 * 4096
.text
