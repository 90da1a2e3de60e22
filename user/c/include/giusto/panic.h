/**
 * Errors that a program does not survive.
 *
 * A panic prints the domain's name, file, line and message on the console. It ends the run with
 * status `GIUSTO_PANIC_STATUS` if the program holds `system`; else it is a memory fault at
 * `GIUSTO_PANIC` plus the address of the place, which the thread's handler takes. What no handler
 * takes `./giusto run` tells (docs/faults.md).
 */
#ifndef GIUSTO_PANIC_H
#define GIUSTO_PANIC_H

#include <giusto/abi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A place in the source; `abi::message::PANIC` says the same. */
struct giusto_place {
    /** The file's name, and its length in bytes. */
    const char *file;
    uint64_t length;
    /** Line from 1; column from 1, or 0 if it is not known. */
    uint32_t line;
    uint32_t column;
};

/** The address of the place in the source where this stands. */
#define GIUSTO_HERE \
    (__extension__({ \
        static const struct giusto_place giusto_here = { \
            __FILE__, sizeof __FILE__ - 1, __LINE__, 0}; \
        &giusto_here; \
    }))

/** Ends the thread, or the run, with a message. */
#define giusto_panic(message) giusto_panic_at(GIUSTO_HERE, message)

/** `giusto_panic` on behalf of another place, which must be a constant of the program. */
__attribute__((noreturn)) void
giusto_panic_at(const struct giusto_place *place, const char *message);

#ifdef __cplusplus
}
#endif
#endif
