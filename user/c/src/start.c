/* How a program begins and ends. */
#include "internal.h"
#include <giusto.h>
#include <stdlib.h>

int main(void);

/* The first compiled function: the entry code passes the address of the environment's text. */
__attribute__((noreturn)) void giusto_begin(const char *environment);

void giusto_begin(const char *environment)
{
    giusto_environment = environment;
    giusto_find_row();
    exit(main());
}

void giusto_wait_for_ever(void)
{
    for (;;)
        giusto_sleep_until(UINT64_MAX);
}

void exit(int status)
{
    giusto_slot system = giusto_find_cap("system");
    if (system != GIUSTO_NOTHING)
        giusto_shutdown(system, (uint64_t)(unsigned char)status);
    giusto_tell_end();
    giusto_wait_for_ever();
}
