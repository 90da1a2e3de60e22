/* Time that passes where a program computes. */
#include <giusto.h>

/* The system call by which a program computes in the simulation, which sets it; 0 elsewhere. */
extern const volatile uint64_t giusto_simulated_work;
const volatile uint64_t giusto_simulated_work = 0;

void giusto_work(uint64_t n)
{
    uint64_t call = giusto_simulated_work;
    struct giusto_arguments in = {{n}, {0}};
    if (call == 0)
        giusto_count_down(n / 2);
    else
        giusto_syscall(call, in);
}
