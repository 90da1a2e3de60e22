/* Panics or faults in the way that the argument `how` says, without the right to end the run. */
#include <assert.h>
#include <giusto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASSERTED, FREED_TWICE, WRITTEN_BEYOND, SMASHED, UNKNOWN_CONVERSION };
enum { NULL_USED = UNKNOWN_CONVERSION + 1, OVERFLOWN, MISSED };

/* Writes so many bytes to an array of 8. */
static void smash(size_t length)
{
    char bytes[8];
    memset(bytes, 'x', length);
}

/* Uses more stack than there is. */
static uint64_t deeper(uint64_t depth)
{
    volatile uint64_t room[32] = {depth};
    return depth == 0 ? 0 : deeper(depth - 1) + room[0];
}

int main(void)
{
    char *block = malloc(16);
    const char *format = "%d of %f\n";
    uint64_t how = giusto_number("how", ASSERTED);
    assert(how != ASSERTED);
    switch (how) {
    case FREED_TWICE:
        free(block);
        free(block);
        break;
    case WRITTEN_BEYOND:
        memset(block, 'x', 17);
        free(block);
        break;
    case SMASHED:
        smash(64);
        break;
    case UNKNOWN_CONVERSION:
        printf(format, 1, 2.0);
        break;
    case NULL_USED:
        *(volatile char *)(uintptr_t)(how - NULL_USED) = 1;
        break;
    case OVERFLOWN:
        deeper(1000000);
        break;
    case MISSED:
        giusto_cap("what it lacks");
        break;
    }
    return 0;
}
