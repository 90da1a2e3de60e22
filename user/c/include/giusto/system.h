/**
 * Clock, console, and the end of the run.
 */
#ifndef GIUSTO_SYSTEM_H
#define GIUSTO_SYSTEM_H

#include <giusto/call.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Nanoseconds since boot. */
static inline uint64_t giusto_clock(void)
{
    struct giusto_arguments in = {{0}, {0}};
    return giusto_syscall(GIUSTO_CALL_CLOCK, in).results[0];
}

/** Waits until an instant in nanoseconds since boot. */
static inline void giusto_sleep_until(uint64_t instant)
{
    /* No half, and a timeout: the only way out is the deadline. */
    struct giusto_arguments in = {{0, 0, instant}, {0}};
    giusto_syscall(GIUSTO_CALL_IPC
            | (uint64_t)GIUSTO_TIMEOUT_AT << GIUSTO_SEND_TIMEOUT_SHIFT
            | (uint64_t)GIUSTO_TIMEOUT_AT << GIUSTO_RECEIVE_TIMEOUT_SHIFT,
        in);
}

/** Waits for some nanoseconds. */
static inline void giusto_sleep(uint64_t nanoseconds)
{
    uint64_t now = giusto_clock();
    giusto_sleep_until(nanoseconds > UINT64_MAX - now ? UINT64_MAX : now + nanoseconds);
}

/**
 * Computes for `n` units of time: about `n` instructions. In the simulation time passes here and in
 * the kernel alone: a loop that waits for something without a system call has to call this.
 */
void giusto_work(uint64_t n);

/**
 * Writes text to the console in a slot, 32 bytes with each system call. Where there is no room for
 * it, it sleeps for a millisecond and tries again. Returns the first other error: what is behind it
 * is not written. `printf` writes to the capability `console`.
 */
giusto_status giusto_write(giusto_slot console, const char *text, size_t length);

/** The next byte that was typed, or -1 if there is none. */
static inline int giusto_read(giusto_slot console)
{
    struct giusto_arguments in = {{console}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_CONSOLE_READ, in);
    return out.status == 0 ? (int)out.results[0] : -1;
}

/** Ends the run with a status, of which 32 bits count; returns only if it fails. */
static inline giusto_status giusto_shutdown(giusto_slot system, uint64_t status)
{
    return giusto_simple(GIUSTO_CALL_SHUTDOWN, system, (uint32_t)status, 0);
}

#ifdef __cplusplus
}
#endif
#endif
