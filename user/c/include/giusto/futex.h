/**
 * The calls that mutexes and conditions are made of: docs/system-calls.md says what each needs, and
 * docs/mutexes.md what the two words of each hold. `pthread.h` has mutexes and conditions.
 */
#ifndef GIUSTO_FUTEX_H
#define GIUSTO_FUTEX_H

#include <giusto/call.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How long a call may block. */
struct giusto_limit {
    /** As long as it takes, not at all, or until `deadline`. */
    enum giusto_timeout timeout;
    /** An instant in nanoseconds since boot. */
    uint64_t deadline;
};

/** The number word of a call in the scope of the caller's domain. */
static inline uint64_t giusto_futex_number(uint64_t call, struct giusto_limit limit)
{
    return call | (uint64_t)limit.timeout << GIUSTO_SEND_TIMEOUT_SHIFT;
}

/** The calling thread's id in futexes of the domain that it is in; on each visit another one. */
static inline uint32_t giusto_futex_identity(void)
{
    struct giusto_arguments in = {{GIUSTO_FACT_IDENTITY}, {0}};
    return (uint32_t)giusto_syscall(GIUSTO_CALL_FACT, in).results[0];
}

/** Waits for a mutex whose first word is `expected`; the caller owns it with success. */
static inline giusto_status
giusto_mutex_wait(uint64_t mutex, uint32_t expected, struct giusto_limit limit)
{
    struct giusto_arguments in = {{mutex, expected, limit.deadline}, {0}};
    uint64_t number = giusto_futex_number(GIUSTO_CALL_MUTEX_WAIT, limit);
    return giusto_status_of(giusto_syscall(number, in));
}

/** Hands a mutex to the thread that has waited longest, or frees it. */
static inline giusto_status giusto_mutex_wake(uint64_t mutex)
{
    return giusto_simple(GIUSTO_CALL_MUTEX_WAKE, mutex, 0, 0);
}

/** Waits for a condition whose first word is `expected`, and then for its mutex. */
static inline giusto_status giusto_cond_wait(
    uint64_t condition, uint32_t expected, uint64_t mutex, struct giusto_limit limit)
{
    struct giusto_arguments in = {{condition, expected, mutex, limit.deadline}, {0}};
    uint64_t number = giusto_futex_number(GIUSTO_CALL_COND_WAIT, limit);
    return giusto_status_of(giusto_syscall(number, in));
}

/** Lets one thread that waits for a condition, or all, wait for their mutex, which is owned. */
static inline giusto_status giusto_cond_requeue(uint64_t condition, bool all)
{
    return giusto_simple(GIUSTO_CALL_COND_REQUEUE, condition, all, 0);
}

/**
 * Waits for an inheriting mutex whose first word is `expected`. `*died`: its last owner has ended.
 */
static inline giusto_status
giusto_inherit_wait(uint64_t mutex, uint32_t expected, struct giusto_limit limit, bool *died)
{
    struct giusto_arguments in = {{mutex, expected, limit.deadline}, {0}};
    uint64_t number = giusto_futex_number(GIUSTO_CALL_INHERIT_WAIT, limit);
    struct giusto_outcome out = giusto_syscall(number, in);
    *died = out.results[0] == GIUSTO_FUTEX_OWNER_DIED;
    return giusto_status_of(out);
}

/** Hands an inheriting mutex, which the caller owns, over, or frees it. */
static inline giusto_status giusto_inherit_wake(uint64_t mutex)
{
    return giusto_simple(GIUSTO_CALL_INHERIT_WAKE, mutex, 0, 0);
}

/**
 * Waits for an inheriting condition whose first word is `expected`, and then for its mutex. Those
 * that may make it true have the ids in `helpers`, of which 0 is none. `*died`: the last owner of
 * the mutex has ended.
 */
static inline giusto_status giusto_inherit_cond_wait(uint64_t condition, uint32_t expected,
    uint64_t mutex, struct giusto_limit limit, const uint32_t helpers[GIUSTO_FUTEX_HELPERS],
    bool *died)
{
    uint64_t low = helpers[0] | (uint64_t)helpers[1] << 32;
    uint64_t high = helpers[2] | (uint64_t)helpers[3] << 32;
    struct giusto_arguments in = {{condition, expected, mutex, limit.deadline, low, high}, {0}};
    uint64_t number = giusto_futex_number(GIUSTO_CALL_INHERIT_COND_WAIT, limit);
    struct giusto_outcome out = giusto_syscall(number, in);
    *died = out.results[0] == GIUSTO_FUTEX_OWNER_DIED;
    return giusto_status_of(out);
}

/** Lets the most urgent thread that waits for a condition, or all, wait for their mutex. */
static inline giusto_status giusto_inherit_requeue(uint64_t condition, bool all)
{
    return giusto_simple(GIUSTO_CALL_INHERIT_REQUEUE, condition, all, 0);
}

/** A thread helps a condition that threads wait for, or no longer. */
static inline giusto_status giusto_inherit_help(uint64_t condition, uint32_t helper, bool helps)
{
    return giusto_simple(GIUSTO_CALL_INHERIT_HELP, condition, helper, helps);
}

/**
 * Sets the priority that the calling thread has at least, or `GIUSTO_FUTEX_NO_CEILING`. `*own` is
 * its own priority.
 */
static inline giusto_status giusto_set_ceiling(uint64_t ceiling, uint64_t *own)
{
    struct giusto_arguments in = {{ceiling}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_CEILING, in);
    *own = out.results[0];
    return giusto_status_of(out);
}

#ifdef __cplusplus
}
#endif
#endif
