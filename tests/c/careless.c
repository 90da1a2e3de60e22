/* Panics in the way that the argument `how` says, without the right to end the run. */
#include <assert.h>
#include <giusto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASSERTED, FREED_TWICE, WRITTEN_BEYOND, SMASHED, UNKNOWN_CONVERSION };

/* Writes so many bytes to an array of 8. */
static void smash(size_t length)
{
    char bytes[8];
    memset(bytes, 'x', length);
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
    }
    return 0;
}
