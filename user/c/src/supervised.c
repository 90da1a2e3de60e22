/* What a program does for its supervisor, if it has one: docs/supervisor.md. */
#include "internal.h"
#include <giusto.h>

/* The capabilities of a supervised program, and the label of its end: abi/src/supervision.rs. */
static const char FAULTS[] = "supervisor-faults", BEATS[] = "supervisor-beats";
enum { ENDED = 1 };

giusto_slot giusto_fault_handler(void)
{
    return giusto_find_cap(FAULTS);
}

void giusto_tell_end(void)
{
    giusto_slot supervisor = giusto_fault_handler();
    struct giusto_message message = giusto_message(ENDED, 0, 0, 0);
    /* A program whose supervisor does not listen just ends. */
    if (supervisor != GIUSTO_NOTHING)
        giusto_send(supervisor, &message, giusto_never());
}

void giusto_beat(void)
{
    giusto_slot beats = giusto_find_cap(BEATS);
    if (beats != GIUSTO_NOTHING)
        giusto_signal(beats);
}
