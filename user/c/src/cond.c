/*
 * Conditions. One has a mutex of its own, so that threads can be woken without the program's mutex,
 * of whatever kind that is. It is owned for a moment; threads that are woken together go through it
 * one after the other, and then lock the program's mutex. With helpers (helpers.c) it is not used.
 */
#include "cond.h"
#include "mutex.h"
#include "pair.h"
#include "self.h"
#include <errno.h>
#include <stddef.h>

static const struct giusto_limit never = {GIUSTO_TIMEOUT_NEVER, 0};

static int enter(pthread_cond_t *cond, uint32_t id)
{
    bool good = cond->state != DESTROYED && giusto_acquire(&cond->mutex, id, false, never) == 0;
    return good ? 0 : EINVAL;
}

static int leave(pthread_cond_t *cond, uint32_t id)
{
    /* The thread owns it, unless a program has written over the words. */
    bool owned = giusto_owner(&cond->mutex) == id;
    return owned && giusto_release(&cond->mutex, id, false) == 0 ? 0 : EINVAL;
}

/* Blocks on the condition, whose mutex was left; the thread owns that again. */
static int block(pthread_cond_t *cond, uint32_t id, uint32_t seen, struct giusto_limit limit)
{
    giusto_status status = giusto_cond_wait(
        giusto_place(&cond->condition), seen, giusto_place(&cond->mutex), limit);
    if (status == 0)
        return 0;
    if (giusto_acquire(&cond->mutex, id, false, never) != 0)
        return EINVAL;
    uint32_t now = giusto_first(__atomic_load_n(&cond->condition, __ATOMIC_RELAXED));
    switch (status) {
    case GIUSTO_ERROR_CHANGED: /* A wake-up came before. */
    case GIUSTO_ERROR_CANCELLED:
        return 0;
    case GIUSTO_ERROR_TIMEOUT:
        /* It may have been woken, and waited for the mutex: the wake-up counts then. */
        return now == seen ? ETIMEDOUT : 0;
    default:
        return EINVAL;
    }
}

static int wait(pthread_cond_t *cond, pthread_mutex_t *mutex, struct giusto_limit limit)
{
    uint32_t id = giusto_id();
    if (!giusto_owns(mutex, id))
        return EPERM;
    if (__atomic_load_n(&cond->helped, __ATOMIC_RELAXED))
        return giusto_wait_helped(cond, mutex, limit);
    int error = enter(cond, id);
    if (error != 0)
        return error;
    uint32_t seen = giusto_first(__atomic_load_n(&cond->condition, __ATOMIC_RELAXED));
    __atomic_fetch_add(&cond->waiting, 1, __ATOMIC_RELAXED);
    uint32_t again = mutex->again;
    mutex->again = 0;
    int kept = pthread_mutex_unlock(mutex);
    error = leave(cond, id);
    if (error == 0)
        error = kept == 0 ? block(cond, id, seen, limit) : enter(cond, id);
    __atomic_fetch_sub(&cond->waiting, 1, __ATOMIC_RELAXED);
    int left = leave(cond, id);
    if (kept == 0)
        kept = giusto_relock(mutex, id);
    if (kept == 0 || kept == EOWNERDEAD)
        mutex->again = again;
    return kept != 0 ? kept : error != 0 ? error : left;
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return wait(cond, mutex, never);
}

int pthread_cond_timedwait(
    pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
    struct giusto_limit limit;
    return giusto_limit_of(until, &limit) ? wait(cond, mutex, limit) : EINVAL;
}

int pthread_cond_clockwait(
    pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    return giusto_is_clock(clock) ? pthread_cond_timedwait(cond, mutex, until) : EINVAL;
}

static int wake(pthread_cond_t *cond, bool all)
{
    if (__atomic_load_n(&cond->waiting, __ATOMIC_ACQUIRE) == 0)
        return cond->state == DESTROYED ? EINVAL : 0;
    if (__atomic_load_n(&cond->helped, __ATOMIC_RELAXED))
        return giusto_wake_helped(cond, all);
    uint32_t id = giusto_id();
    int error = enter(cond, id);
    if (error != 0)
        return error;
    giusto_count(&cond->condition);
    giusto_status status = giusto_cond_requeue(giusto_place(&cond->condition), all);
    error = leave(cond, id);
    return status != 0 ? EINVAL : error;
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    return wake(cond, false);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    return wake(cond, true);
}

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    if (attr != NULL && !attr->initialised)
        return EINVAL;
    *cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
    uint32_t id = giusto_id();
    /* Behind all that were woken: they were in the queue before. */
    int error = enter(cond, id);
    if (error != 0)
        return error;
    bool in_use = __atomic_load_n(&cond->waiting, __ATOMIC_RELAXED) != 0;
    if (!in_use)
        cond->state = DESTROYED;
    error = leave(cond, id);
    return in_use ? EBUSY : error;
}

int pthread_condattr_init(pthread_condattr_t *attr)
{
    *attr = (pthread_condattr_t){1, CLOCK_REALTIME};
    return 0;
}

int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock)
{
    if (!attr->initialised || !giusto_is_clock(clock))
        return EINVAL;
    attr->clock = (uint8_t)clock;
    return 0;
}

int pthread_condattr_getclock(const pthread_condattr_t *attr, clockid_t *clock)
{
    if (!attr->initialised)
        return EINVAL;
    *clock = attr->clock;
    return 0;
}

int pthread_condattr_destroy(pthread_condattr_t *attr)
{
    if (!attr->initialised)
        return EINVAL;
    attr->initialised = 0;
    return 0;
}
