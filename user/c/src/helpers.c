/*
 * Conditions whose waiting threads lend their priorities to those that can make them true (S2G-02).
 * The program's mutex, which inherits, protects the condition: the kernel lets its threads wait for
 * the condition, and then for the mutex.
 */
#include "cond.h"
#include "mutex.h"
#include "pair.h"
#include "self.h"
#include <errno.h>
#include <stddef.h>

_Static_assert(GIUSTO_COND_HELPERS == GIUSTO_FUTEX_HELPERS, "as many as the kernel knows");

/* What the end of a wait is told, when the mutex is owned again. */
static int number_of(giusto_status status)
{
    switch (status) {
    case 0:
    case GIUSTO_ERROR_CHANGED: /* A wake-up came before. */
    case GIUSTO_ERROR_CANCELLED:
        return 0;
    case GIUSTO_ERROR_TIMEOUT:
        return ETIMEDOUT;
    default:
        return EINVAL;
    }
}

/* A thread waits from now on, by a mutex that it owns. */
static void begin(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    if (__atomic_fetch_add(&cond->waiting, 1, __ATOMIC_RELAXED) != 0)
        return;
    cond->user = mutex;
    cond->next = mutex->awaited;
    mutex->awaited = cond;
}

/* It does not, and owns the mutex, unless that was given up, which no condition is awaited by. */
static void finish(pthread_cond_t *cond, pthread_mutex_t *mutex, bool owned)
{
    if (owned && __atomic_load_n(&cond->waiting, __ATOMIC_RELAXED) == 1) {
        struct giusto_cond **at = &mutex->awaited;
        while (*at != NULL && *at != cond)
            at = &(*at)->next;
        if (*at != NULL)
            *at = cond->next;
    }
    __atomic_fetch_sub(&cond->waiting, 1, __ATOMIC_RELAXED);
}

int giusto_wait_helped(pthread_cond_t *cond, pthread_mutex_t *mutex, struct giusto_limit limit)
{
    uint32_t id = giusto_id();
    uint64_t *pair = giusto_inheriting(mutex);
    bool waited_for = __atomic_load_n(&cond->waiting, __ATOMIC_RELAXED) != 0;
    if (cond->state == DESTROYED || pair == NULL || (waited_for && cond->user != mutex))
        return EINVAL;
    uint32_t helpers[GIUSTO_COND_HELPERS];
    for (int i = 0; i < GIUSTO_COND_HELPERS; i++)
        helpers[i] = cond->helpers[i];
    uint32_t seen = giusto_first(__atomic_load_n(&cond->condition, __ATOMIC_RELAXED));
    begin(cond, mutex);
    uint32_t again = mutex->again;
    mutex->again = 0;
    int error = pthread_mutex_unlock(mutex);
    giusto_status status = 0;
    if (error == 0) {
        bool died = false;
        status = giusto_inherit_cond_wait(
            giusto_place(&cond->condition), seen, giusto_place(pair), limit, helpers, &died);
        error = status != 0 ? giusto_relock(mutex, id) : giusto_given(mutex, id, died);
    }
    bool owned = error != EPERM && error != ENOTRECOVERABLE;
    finish(cond, mutex, owned);
    if (owned)
        mutex->again = again;
    return error != 0 ? error : number_of(status);
}

/* Whether the calling thread owns what protects a condition, or that is not known: none waits. */
static bool may_change(const pthread_cond_t *cond)
{
    bool waited_for = __atomic_load_n(&cond->waiting, __ATOMIC_RELAXED) != 0;
    return !waited_for || !cond->helped || giusto_owns(cond->user, giusto_id());
}

int giusto_wake_helped(pthread_cond_t *cond, bool all)
{
    if (!may_change(cond))
        return EPERM;
    giusto_count(&cond->condition);
    return giusto_inherit_requeue(giusto_place(&cond->condition), all) == 0 ? 0 : EINVAL;
}

/* Tells the kernel that a thread helps, or no longer. */
static giusto_status tell(pthread_cond_t *cond, uint32_t helper, bool helps)
{
    return giusto_inherit_help(giusto_place(&cond->condition), helper, helps);
}

/*
 * The same, for threads that wait and for those between their unlock and their call: these have
 * the helpers of before in mind, and come back.
 */
static giusto_status change(pthread_cond_t *cond, uint32_t helper, bool helps)
{
    if (__atomic_load_n(&cond->waiting, __ATOMIC_RELAXED) != 0)
        giusto_count(&cond->condition);
    return tell(cond, helper, helps);
}

/* The place of a thread among the helpers, or of none; null: there is no such place. */
static uint32_t *place_of(pthread_cond_t *cond, uint32_t helper)
{
    for (int i = 0; i < GIUSTO_COND_HELPERS; i++)
        if (cond->helpers[i] == helper)
            return &cond->helpers[i];
    return NULL;
}

/* A place for a further helper: one that is free, or that of a thread that has ended. */
static uint32_t *free_place(pthread_cond_t *cond)
{
    uint32_t *place = place_of(cond, 0);
    for (int i = 0; i < GIUSTO_COND_HELPERS && place == NULL; i++)
        if (tell(cond, cond->helpers[i], true) == GIUSTO_ERROR_STALE)
            place = &cond->helpers[i];
    return place;
}

/* Whether helpers of a condition may be changed, or why not. */
static int check(const pthread_cond_t *cond, const pthread_t *helper)
{
    if (helper == NULL || cond->state == DESTROYED)
        return EINVAL;
    return may_change(cond) ? 0 : EPERM;
}

int pthread_cond_helpers_add(pthread_cond_t *cond, pthread_t *helper)
{
    int error = check(cond, helper);
    if (error != 0)
        return error;
    if (!cond->helped && __atomic_load_n(&cond->waiting, __ATOMIC_RELAXED) != 0)
        return EBUSY;
    if (*helper == 0)
        return ESRCH;
    uint32_t *place = place_of(cond, *helper);
    if (place != NULL)
        return tell(cond, *helper, true) == GIUSTO_ERROR_STALE ? ESRCH : EEXIST;
    place = free_place(cond);
    if (place == NULL)
        return ENOSPC;
    switch (change(cond, *helper, true)) {
    case 0:
        *place = *helper;
        __atomic_store_n(&cond->helped, 1, __ATOMIC_RELAXED);
        return 0;
    case GIUSTO_ERROR_STALE:
        return ESRCH;
    default:
        /* A program has written over the words. */
        return EINVAL;
    }
}

int pthread_cond_helpers_del(pthread_cond_t *cond, pthread_t *helper)
{
    int error = check(cond, helper);
    if (error != 0)
        return error;
    uint32_t *place = *helper == 0 ? NULL : place_of(cond, *helper);
    if (place == NULL)
        return ENOENT;
    switch (change(cond, *helper, false)) {
    case 0:
    /* It has ended, and so helps nothing. */
    case GIUSTO_ERROR_STALE:
    case GIUSTO_ERROR_NO_HELPER:
        *place = 0;
        return 0;
    default:
        return EINVAL;
    }
}
