/* Mutexes and conditions: what all parts use, and the program. */
#include "threads.h"
#include "check.h"
#include <stdlib.h>

/* Of the threads that the manifest has. */
static giusto_slot slots[7];

void end(unsigned n)
{
    if (slots[n] != 0)
        giusto_destroy(slots[n]);
    slots[n] = 0;
}

void run(unsigned n, uint64_t priority, void (*work)(uint64_t), uint64_t argument)
{
    static giusto_slot fresh[7];
    end(n);
    if (fresh[n] == 0)
        fresh[n] = giusto_fresh_slot();
    slots[n] = fresh[n];
    giusto_status status = giusto_start_thread(n, slots[n], priority, work, argument);
    if (status != 0)
        giusto_panic(giusto_error_name(status));
}

void settle(void)
{
    giusto_sleep(2 * MILLISECOND);
}

struct timespec in(uint64_t nanoseconds)
{
    uint64_t at = giusto_clock() + nanoseconds;
    return (struct timespec){(time_t)(at / 1000000000), (long)(at % 1000000000)};
}

int main(void)
{
    int failed = mutexes() + protocols() + conditions() + helpers();
    /* Where the counter does not count instructions, there is nothing to hold. */
    failed += giusto_number("counts", 1) != 0 ? cost() : 0;
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
