/* The program's first instruction: the environment's address is in the first argument. */
__asm__(".section .text._start, \"ax\", @progbits\n"
        ".global _start\n"
        ".type _start, @function\n"
        "_start:\n\t"
        "xorl %ebp, %ebp\n\t"
        "call giusto_begin\n\t"
        "ud2\n"
        ".size _start, . - _start\n"
        ".text\n");

/* An object file consists of more than assembly, by the standard. */
typedef int giusto_not_empty;
