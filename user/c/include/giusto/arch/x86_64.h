/**
 * The system call instruction. docs/system-calls.md has the table of registers.
 *
 * The kernel preserves the stack pointer, flags and vector registers. `rbp` may be the frame
 * pointer, which inline assembly may not name as destroyed, so it is saved on the stack: below the
 * 128 bytes that a function may use there without moving the stack pointer.
 */
static inline __attribute__((always_inline)) struct giusto_outcome
giusto_syscall(uint64_t number, struct giusto_arguments in)
{
    uint64_t status = number, a0 = in.a[0], a1 = in.a[1], a2 = in.a[2];
    register uint64_t a3 __asm__("r8") = in.a[3];
    register uint64_t a4 __asm__("r9") = in.a[4];
    register uint64_t a5 __asm__("r10") = in.a[5];
    register uint64_t w0 __asm__("r12") = in.w[0];
    register uint64_t w1 __asm__("r13") = in.w[1];
    register uint64_t w2 __asm__("r14") = in.w[2];
    register uint64_t w3 __asm__("r15") = in.w[3];
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
                     "pushq %%rbp\n\t"
                     "syscall\n\t"
                     "popq %%rbp\n\t"
                     "leaq 128(%%rsp), %%rsp"
                     : "+a"(status), "+D"(a0), "+S"(a1), "+d"(a2), "+r"(a3), "+r"(a4), "+r"(a5),
                       "+r"(w0), "+r"(w1), "+r"(w2), "+r"(w3)
                     :
                     : "rbx", "rcx", "r11", "cc", "memory");
    struct giusto_outcome out = {status, {a0, a1}, {w0, w1, w2, w3}};
    return out;
}

/** How far the stack pointer is below an address. */
static inline __attribute__((always_inline)) uint64_t giusto_below(uint64_t address)
{
    __asm__("subq %%rsp, %0" : "+r"(address) : : "cc");
    return address;
}

/** Counts down from a number: two instructions each time, once at least. */
static inline void giusto_count_down(uint64_t from)
{
    __asm__ volatile("1:\n\t"
                     "decq %0\n\t"
                     "jg 1b"
                     : "+r"(from)
                     :
                     : "cc");
}
