/**
 * Further threads, on the stacks that the manifest lays out (`threads = N`, and a quota of N - 1
 * threads).
 */
#ifndef GIUSTO_THREAD_H
#define GIUSTO_THREAD_H

#include <giusto/call.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Tells the program's supervisor that it works; nothing if it has none: docs/supervisor.md. */
void giusto_beat(void);

/**
 * Lets further thread `n`, 1 or more, of the environment run a function with an argument, at a
 * priority of at most the domain's. The thread goes into an empty slot and has message buffer `n`.
 * When the function returns, the thread waits for ever. Its faults go where the
 * program's supervisor, if it has one, takes them. Its stack must not be in use. If it fails,
 * the slot may hold a thread that does not run. Panics if `n` is 0, or not below
 * `giusto_threads()`.
 */
giusto_status giusto_start_thread(
    unsigned n, giusto_slot slot, uint64_t priority, void (*work)(uint64_t), uint64_t argument);

/** Lets a suspended thread run. */
static inline giusto_status giusto_resume(giusto_slot thread)
{
    return giusto_simple(GIUSTO_CALL_THREAD_RESUME, thread, 0, 0);
}

/** Stops a thread; an operation that it is blocked in goes on. */
static inline giusto_status giusto_suspend(giusto_slot thread)
{
    return giusto_simple(GIUSTO_CALL_THREAD_SUSPEND, thread, 0, 0);
}

/** Sets a thread's priority, at most the domain's. */
static inline giusto_status giusto_set_priority(giusto_slot thread, uint64_t priority)
{
    return giusto_simple(GIUSTO_CALL_THREAD_PRIORITY, thread, priority, 0);
}

/** Lets the next thread of the same priority run. */
static inline giusto_status giusto_yield(void)
{
    return giusto_simple(GIUSTO_CALL_YIELD, GIUSTO_NOTHING, 0, 0);
}

#ifdef __cplusplus
}
#endif
#endif
