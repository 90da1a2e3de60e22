/* Owning a pair of words, and giving it up (S2H-15). */
#include "pair.h"
#include <errno.h>

/* The number of an error that ends a wait. */
static int number_of(giusto_status status)
{
    switch (status) {
    case 0:
        return 0;
    case GIUSTO_ERROR_TIMEOUT:
        return ETIMEDOUT;
    case GIUSTO_ERROR_DEADLOCK:
        return EDEADLK;
    case GIUSTO_ERROR_WRONG_STATE:
        return EPERM;
    default:
        /* A program has written over the words. */
        return EINVAL;
    }
}

int giusto_acquire(uint64_t *pair, uint32_t id, bool inherits, struct giusto_limit limit)
{
    for (;;) {
        uint64_t seen = __atomic_load_n(pair, __ATOMIC_ACQUIRE);
        uint32_t state = giusto_first(seen);
        if (state == 0) {
            if (giusto_replace(pair, seen, id))
                return 0;
            continue;
        }
        /* Nothing but an owner's end can give it to a thread that does not wait. */
        if (limit.timeout == GIUSTO_TIMEOUT_ZERO && !inherits)
            return EBUSY;
        uint32_t marked = state | GIUSTO_FUTEX_WAITERS;
        if (state != marked && !giusto_replace(pair, seen, marked))
            continue;
        bool died = false;
        giusto_status status = inherits
            ? giusto_inherit_wait(giusto_place(pair), marked, limit, &died)
            : giusto_mutex_wait(giusto_place(pair), marked, limit);
        /* Locking cannot be cancelled, by POSIX. */
        if (status == GIUSTO_ERROR_CHANGED || status == GIUSTO_ERROR_CANCELLED)
            continue;
        return status == 0 && died ? EOWNERDEAD : number_of(status);
    }
}

int giusto_release(uint64_t *pair, uint32_t id, bool inherits)
{
    if (giusto_swap(pair, id, 0))
        return 0;
    if (inherits)
        return number_of(giusto_inherit_wake(giusto_place(pair)));
    for (;;) {
        uint64_t seen = __atomic_load_n(pair, __ATOMIC_ACQUIRE);
        /* Without the mark the second word should be 0, and a program has written over it. */
        if (giusto_first(seen) != id)
            return number_of(giusto_mutex_wake(giusto_place(pair)));
        if (giusto_replace(pair, seen, 0))
            return 0;
    }
}
