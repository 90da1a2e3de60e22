/* What a program can set of its processor where the host's executes it. */
#ifndef STRAY_H
#define STRAY_H

/*
 * Has alignment checked, and the base of FS elsewhere, by a selector that the host has for all its
 * programs. The machine does not check it, and the base is the simulation's own.
 */
static inline void stray(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torl $0x40000, (%%rsp)\n\tpopfq\n\t"
                     "lea 128(%%rsp), %%rsp\n\tmov %0, %%fs"
                     :
                     : "r"(0x2b)
                     : "memory", "cc");
}

#endif
