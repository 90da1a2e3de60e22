/* Devices' registers by pointers: docs/devices.md lists them. */
#include "arch/stray.h"
#include "check.h"
#include <giusto.h>
#include <stdlib.h>

enum { OUT, IN, DRIVEN };
enum { CONTROL, STATUS, RESULT };
enum { START = 1, DONE = 1, BUSY = 2, FULL = 4095 };

int main(void)
{
    union {
        char bytes[16];
        uint64_t words[2];
    } room = {{0}};
    stray();
    *(volatile uint64_t *)(uintptr_t)(room.bytes + 1) = 1;
    int strayed = check("what a program sets of its processor is its own", room.words[0] == 256);
    stray();
    volatile uint64_t *pins = giusto_memory("pins").words, *gauge = giusto_memory("gauge").words;
    int failed = strayed + check("a pin is neither driven nor written by half",
        pins[OUT] == 0 && pins[IN] == 0 && pins[DRIVEN] == 0);
    pins[DRIVEN] = 1;
    pins[OUT] |= 1;
    /* A wire is measured as at the plant's last step. */
    giusto_sleep(1000000);
    failed += check("a pin is driven", pins[IN] == 1 && pins[OUT] == 1 && pins[DRIVEN] == 1);
    __atomic_fetch_or(&pins[OUT], 2, __ATOMIC_RELAXED);
    failed += check("an instruction that reads and writes does both", pins[OUT] == 3);
    uint64_t before = giusto_clock();
    gauge[CONTROL] = START;
    failed += check("a measurement takes time", gauge[STATUS] == BUSY);
    while (gauge[STATUS] != DONE)
        continue;
    failed += check("and ends", giusto_clock() - before >= 10000);
    failed += check("what is read is over", gauge[RESULT] == FULL && gauge[STATUS] == 0);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
