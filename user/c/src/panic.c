/* Errors that a program does not survive: docs/faults.md. */
#include "internal.h"
#include <giusto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A log as crate abi lays it out (`log.rs`), in words: a header, then lines of a fixed size. */
enum { MAGIC, LINES, HZ, BOOT, HEADER = 16 };
enum { NUMBER, TIME, SHAPE, TEXT, LINE = 16 };

/* Bytes of a line's text, and of a path at most, from its end. */
#define ROOM ((size_t)(8 * (LINE - TEXT)))
#define MOST_PATH 40

/* Leaves why and where in the program's log, or in what stands in for one. */
static void leave(const struct giusto_place *place, const char *message)
{
    struct giusto_memory log = giusto_panics();
    if (log.bytes < 8 * (HEADER + LINE))
        return;
    size_t path = place->length < MOST_PATH ? place->length : MOST_PATH;
    const char *file = place->file + (place->length - path);
    union { uint64_t words[LINE - TEXT + 1]; char bytes[8 * (LINE - TEXT + 1)]; } line = {{0}};
    char at[MOST_PATH + 24];
    snprintf(at, sizeof at, ", at %.*s:%u", (int)path, file, (unsigned)place->line);
    size_t room = ROOM - strlen("panicked: ") - strlen(at), reason = strlen(message);
    const char *cut = reason > room ? "..." : "";
    reason = reason > room ? room - strlen(cut) : reason;
    snprintf(line.bytes, sizeof line.bytes, "panicked: %.*s%s%s", (int)reason, message, cut, at);
    uint64_t number = __atomic_fetch_add(&log.words[LINES], 1, __ATOMIC_RELAXED);
    uint64_t lines = (log.bytes / 8 - HEADER) / LINE;
    volatile uint64_t *record = log.words + HEADER + number % lines * LINE;
    record[NUMBER] = 0;
    /* Instants are nanoseconds since boot. */
    log.words[HZ] = 1000000000;
    log.words[BOOT] = 0;
    record[TIME] = giusto_clock();
    record[SHAPE] = 1 | strlen(line.bytes) << 8;
    for (size_t word = 0; word < LINE - TEXT; word++)
        record[TEXT + word] = line.words[word];
    memcpy(line.bytes, "GIUSTOL1", 8);
    log.words[MAGIC] = line.words[0];
    record[NUMBER] = number + 1;
}

void giusto_panic_at(const struct giusto_place *place, const char *message)
{
    printf("%s: panicked at %.*s:%u:\n%s\n", giusto_name(), (int)place->length, place->file,
        (unsigned)place->line, message);
    leave(place, message);
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
