// From QEMU's or a loader's PVH entry (32-bit protected mode, paging off, flat segments, ebx =
// start info) to `start` in the upper half. The tables built here map the first GiB at its
// physical address and in the upper half; `paging` replaces them.

.section .note.pvh, "a", @note
    .align 4
    .long 4, 8, 18
    .asciz "Xen"
    .quad pvh_start

.section .boot, "awx"
.code32
.global pvh_start
pvh_start:
    cld
    rdtsc
    mov [boot_counter], eax
    mov [boot_counter + 4], edx

    mov edi, offset boot_pd
    mov eax, 0x83
    mov ecx, 512
1:  mov [edi], eax
    mov dword ptr [edi + 4], 0
    add eax, 0x200000
    add edi, 8
    dec ecx
    jnz 1b
    mov eax, offset boot_pd
    or eax, 3
    mov [boot_pdpt], eax
    mov [boot_pdpt + 510 * 8], eax
    mov eax, offset boot_pdpt
    or eax, 3
    mov [boot_pml4], eax
    mov [boot_pml4 + 511 * 8], eax

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
    lgdt [boot_gdtr]
    // A far jump: the assembler has no form of it here with a symbol.
    .byte 0xea
    .long 2f
    .word 0x08

.code64
2:  mov eax, 0x10
    mov ds, eax
    mov es, eax
    mov ss, eax
    xor eax, eax
    mov fs, eax
    mov gs, eax
    mov edi, ebx
    mov rsi, [boot_counter]
    movabs rsp, offset __boot_stack_top
    movabs rax, offset start
    xor ebp, ebp
    push rbp
    jmp rax

    .align 8
boot_gdt:
    .quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff
boot_gdtr:
    .word boot_gdtr - boot_gdt - 1
    .long boot_gdt
    .align 8
boot_counter:
    .quad 0

.section .boot_bss, "aw", @nobits
    .align 4096
boot_pml4: .skip 4096
boot_pdpt: .skip 4096
boot_pd:   .skip 4096

// Stacks, each above an unmapped guard page.
.section .stacks, "aw", @nobits
    .align 4096
    .skip 4096
    .skip 4 * 4096
.global __boot_stack_top
__boot_stack_top:
    .skip 4096
    .skip 2 * 4096
.global __fault_stack_top
__fault_stack_top:
    .skip 4096
    .skip 4096
.global __trap_stack_top
__trap_stack_top:
.text
