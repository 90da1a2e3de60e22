/* Devices' registers by pointers: docs/devices.md lists them. */
#include "check.h"
#include <giusto.h>
#include <stdlib.h>

enum { OUT, IN, DRIVEN };
enum { CONTROL, STATUS, RESULT };
enum { START = 1, DONE = 1, BUSY = 2, FULL = 4095 };

int main(void)
{
    volatile uint64_t *pins = giusto_memory("pins").words, *gauge = giusto_memory("gauge").words;
    int failed = check("a pin is not driven", pins[IN] == 0 && pins[DRIVEN] == 0);
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
