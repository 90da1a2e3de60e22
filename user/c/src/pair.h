/*
 * The two words of a mutex or condition, which are one atomic word of 64 bits: the first in its low
 * half. docs/mutexes.md says what they hold.
 */
#ifndef GIUSTO_PAIR_H
#define GIUSTO_PAIR_H

#include <giusto/futex.h>

/* What no free mutex and no owned one holds: an unlock or lock of it never succeeds. */
#define GIUSTO_NEVER_FREE GIUSTO_FUTEX_WAITERS

/* The first word. */
static inline uint32_t giusto_first(uint64_t pair)
{
    return (uint32_t)pair;
}

/* The thread that owns a mutex, or 0. */
static inline uint32_t giusto_owner(const uint64_t *pair)
{
    uint32_t first = giusto_first(__atomic_load_n(pair, __ATOMIC_RELAXED));
    return first & ~(uint32_t)GIUSTO_FUTEX_WAITERS;
}

/* Sets both words, if they are what is expected. */
static inline bool giusto_swap(uint64_t *pair, uint64_t expected, uint64_t value)
{
    return __atomic_compare_exchange_n(
        pair, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Sets the first word, if both are what was seen. */
static inline bool giusto_replace(uint64_t *pair, uint64_t seen, uint32_t first)
{
    return giusto_swap(pair, seen, (seen & ~(uint64_t)UINT32_MAX) | first);
}

/*
 * Counts the first word up, whatever the kernel does with the second one meanwhile, when a thread
 * begins or stops to wait.
 */
static inline void giusto_count(uint64_t *pair)
{
    uint64_t seen;
    do {
        seen = __atomic_load_n(pair, __ATOMIC_RELAXED);
    } while (!giusto_replace(pair, seen, giusto_first(seen) + 1));
}

/* Where the kernel finds it. */
static inline uint64_t giusto_place(const uint64_t *pair)
{
    return (uint64_t)(uintptr_t)pair;
}

/* Waits until the thread with this id owns the pair; 0, or a number of errno.h. */
int giusto_acquire(uint64_t *pair, uint32_t id, bool inherits, struct giusto_limit limit);

/* Gives a pair up that the thread with this id owns. */
int giusto_release(uint64_t *pair, uint32_t id, bool inherits);

#endif
