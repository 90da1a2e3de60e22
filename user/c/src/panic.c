/* Errors that a program does not survive: docs/faults.md. */
#include "internal.h"
#include <giusto.h>
#include <stdio.h>
#include <stdlib.h>

void giusto_panic_at(const struct giusto_place *place, const char *message)
{
    printf("%s: panicked at %.*s:%u:\n%s\n", giusto_name(), (int)place->length, place->file,
        (unsigned)place->line, message);
    giusto_slot system = giusto_find_cap("system");
    uint64_t at = (uint64_t)(uintptr_t)place;
    if (system != GIUSTO_NOTHING)
        giusto_simple(GIUSTO_CALL_SHUTDOWN, system, at << 32 | GIUSTO_PANIC_STATUS, 0);
    *(volatile unsigned char *)(uintptr_t)(GIUSTO_PANIC + at) = 0;
    giusto_wait_for_ever();
}

void(abort)(void)
{
    giusto_panic("abort");
}

/* What a function compares before it returns that is built with -fstack-protector. */
uintptr_t __stack_chk_guard = UINT64_C(0x00d1f2c3b4a59687);

__attribute__((noreturn)) void __stack_chk_fail(void);

void __stack_chk_fail(void)
{
    char message[80];
    snprintf(message, sizeof message, "a local variable was written beyond, in the function at %p",
        __builtin_return_address(0));
    giusto_panic(message);
}
