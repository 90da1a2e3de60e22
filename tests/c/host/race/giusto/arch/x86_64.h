/* In place of the processor's: system calls are the test's. */
#ifndef GIUSTO_ARCH_X86_64_H
#define GIUSTO_ARCH_X86_64_H
struct giusto_outcome giusto_test_syscall(uint64_t number, struct giusto_arguments in);
static inline struct giusto_outcome giusto_syscall(uint64_t number, struct giusto_arguments in)
{
    return giusto_test_syscall(number, in);
}
static inline uint64_t giusto_below(uint64_t top)
{
    return top;
}
#endif
