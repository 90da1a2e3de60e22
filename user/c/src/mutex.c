/*
 * Mutexes. What an unlock needs nothing for but the owner's id is locked and unlocked by one
 * compare-and-swap of `quick`; of the others that is never free, and `slow` is the mutex.
 */
#include "mutex.h"
#include "pair.h"
#include "self.h"
#include <errno.h>
#include <stddef.h>

/* What an owner has left behind, in `state`, which owners alone use. */
enum { WHOLE = 0, OWNER_DIED = 1, GIVEN_UP = 2 };

/* The type of one that was destroyed. */
enum { DESTROYED = UINT8_MAX };

static const struct giusto_limit never = {GIUSTO_TIMEOUT_NEVER, 0};
static const struct giusto_limit at_once = {GIUSTO_TIMEOUT_ZERO, 0};

/* Nanoseconds between two attempts at a mutex that cannot be waited for. */
#define RETRY 1000000

static bool is_quick(const pthread_mutex_t *mutex)
{
    return mutex->type != PTHREAD_MUTEX_RECURSIVE && mutex->robust == PTHREAD_MUTEX_STALLED
        && mutex->protocol != PTHREAD_PRIO_PROTECT;
}

/* The kernel finds out about ends of owners for those that inherit alone. */
static bool inherits(const pthread_mutex_t *mutex)
{
    return mutex->protocol == PTHREAD_PRIO_INHERIT || mutex->robust == PTHREAD_MUTEX_ROBUST;
}

static uint64_t *pair_of(pthread_mutex_t *mutex)
{
    return is_quick(mutex) ? &mutex->quick : &mutex->slow;
}

bool giusto_owns(const pthread_mutex_t *mutex, uint32_t id)
{
    return giusto_owner(is_quick(mutex) ? &mutex->quick : &mutex->slow) == id;
}

uint64_t *giusto_inheriting(pthread_mutex_t *mutex)
{
    return inherits(mutex) ? pair_of(mutex) : NULL;
}

bool giusto_limit_of(const struct timespec *until, struct giusto_limit *limit)
{
    const uint64_t second = 1000000000;
    if (until == NULL || until->tv_nsec < 0 || until->tv_nsec >= (long)second)
        return false;
    uint64_t deadline;
    if (until->tv_sec < 0)
        deadline = 0;
    else if (__builtin_mul_overflow((uint64_t)until->tv_sec, second, &deadline)
        || __builtin_add_overflow(deadline, (uint64_t)until->tv_nsec, &deadline))
        deadline = UINT64_MAX;
    *limit = (struct giusto_limit){GIUSTO_TIMEOUT_AT, deadline};
    return true;
}

/* Has the kernel go by the highest ceiling of a thread's mutexes; its own priority. */
static giusto_status apply_ceilings(const pthread_mutex_t *first, uint64_t *own)
{
    uint64_t highest = GIUSTO_FUTEX_NO_CEILING;
    for (const pthread_mutex_t *held = first; held != NULL; held = held->next)
        if (highest == GIUSTO_FUTEX_NO_CEILING || held->ceiling > highest)
            highest = held->ceiling;
    return giusto_set_ceiling(highest, own);
}

/*
 * The calling thread has a mutex's ceiling, and then locks it. `again`: whatever has become of the
 * ceiling since it locked it before.
 */
static int acquire_at_ceiling(
    pthread_mutex_t *mutex, uint32_t id, struct giusto_limit limit, bool again)
{
    pthread_mutex_t **list = giusto_own_ceilings();
    if (list == NULL)
        return EAGAIN;
    /* The mutex may be in another thread's list: this one stands for it. */
    uint8_t ceiling = __atomic_load_n(&mutex->ceiling, __ATOMIC_RELAXED);
    pthread_mutex_t first = {.next = *list, .ceiling = ceiling};
    uint64_t own;
    bool allowed = apply_ceilings(&first, &own) == 0;
    if (!allowed && !again)
        return EINVAL;
    int error = !again && own > ceiling
        ? EINVAL
        : giusto_acquire(&mutex->slow, id, inherits(mutex), limit);
    bool locked = error == 0 || error == EOWNERDEAD;
    if (locked) {
        mutex->next = *list;
        *list = mutex;
    }
    /* Its last owner may have set another one. */
    if (!locked || mutex->ceiling != ceiling)
        apply_ceilings(*list, &own);
    return error;
}

static int acquire(pthread_mutex_t *mutex, uint32_t id, struct giusto_limit limit, bool again)
{
    return mutex->protocol == PTHREAD_PRIO_PROTECT
        ? acquire_at_ceiling(mutex, id, limit, again)
        : giusto_acquire(pair_of(mutex), id, inherits(mutex), limit);
}

/* Takes a mutex out of its owner's list, if it is in that. */
static void unlink(pthread_mutex_t *mutex, pthread_mutex_t **list)
{
    while (*list != NULL && *list != mutex)
        list = &(*list)->next;
    if (*list != NULL)
        *list = mutex->next;
    mutex->next = NULL;
}

/* Gives a mutex up that the thread with this id owns once. */
static int release(pthread_mutex_t *mutex, uint32_t id)
{
    pthread_mutex_t **list = NULL;
    if (mutex->protocol == PTHREAD_PRIO_PROTECT)
        list = giusto_own_ceilings();
    /* It is another thread's once it is given up: out of the list before, lowered behind. */
    if (list != NULL)
        unlink(mutex, list);
    int error = giusto_release(pair_of(mutex), id, inherits(mutex));
    uint64_t own;
    if (list != NULL)
        apply_ceilings(*list, &own);
    return error;
}

/* What the thread that has come to own a mutex is told, or that it does not. */
static int owned(pthread_mutex_t *mutex, uint32_t id, int error)
{
    if (error == EOWNERDEAD)
        mutex->again = 0;
    if (mutex->robust != PTHREAD_MUTEX_ROBUST || (error != 0 && error != EOWNERDEAD))
        return error;
    if (mutex->state == GIVEN_UP) {
        release(mutex, id);
        return ENOTRECOVERABLE;
    }
    if (error == EOWNERDEAD)
        mutex->state = OWNER_DIED;
    /* Who has only changed its ceiling since then has left that as it was. */
    return mutex->state == OWNER_DIED ? EOWNERDEAD : 0;
}

int giusto_given(pthread_mutex_t *mutex, uint32_t id, bool died)
{
    if (mutex->protocol == PTHREAD_PRIO_PROTECT) {
        /* It is not owned without a list: threads without one never lock it. */
        pthread_mutex_t **list = giusto_own_ceilings();
        mutex->next = *list;
        *list = mutex;
        uint64_t own;
        apply_ceilings(*list, &own);
    }
    return owned(mutex, id, died ? EOWNERDEAD : 0);
}

int giusto_relock(pthread_mutex_t *mutex, uint32_t id)
{
    if (mutex->type == DESTROYED)
        return EPERM;
    int error = acquire(mutex, id, never, true);
    /* Too many threads would wait in a row, or all of a ring: until others have gone on. */
    while (error == EAGAIN || error == EDEADLK) {
        giusto_sleep(RETRY);
        error = acquire(mutex, id, never, true);
    }
    return owned(mutex, id, error == EINVAL ? EPERM : error);
}

/* Locks a mutex that needs more than one compare-and-swap, or that another thread owns. */
__attribute__((noinline, cold)) static int lock_slowly(
    pthread_mutex_t *mutex, struct giusto_limit limit)
{
    if (mutex->type == DESTROYED)
        return EINVAL;
    uint32_t id = giusto_id();
    if (giusto_owns(mutex, id)) {
        if (mutex->type == PTHREAD_MUTEX_RECURSIVE)
            return mutex->again == UINT32_MAX ? EAGAIN : (mutex->again++, 0);
        if (limit.timeout == GIUSTO_TIMEOUT_ZERO)
            return EBUSY;
        /* A normal mutex that does not inherit is waited for, by POSIX. */
        if (mutex->type != PTHREAD_MUTEX_NORMAL || inherits(mutex))
            return EDEADLK;
    }
    int error = acquire(mutex, id, limit, false);
    if (limit.timeout == GIUSTO_TIMEOUT_ZERO && (error == ETIMEDOUT || error == EDEADLK))
        error = EBUSY;
    return owned(mutex, id, error);
}

/*
 * A mutex that the calling thread owns is never owned again by any that could wake those that wait
 * for its conditions: they wait for the mutex from now on, and are told.
 */
static void give_up(pthread_mutex_t *mutex)
{
    mutex->state = GIVEN_UP;
    for (struct giusto_cond *cond = mutex->awaited; cond != NULL; cond = cond->next) {
        giusto_count(&cond->condition);
        giusto_inherit_requeue(giusto_place(&cond->condition), true);
    }
    mutex->awaited = NULL;
}

__attribute__((noinline, cold)) static int unlock_slowly(pthread_mutex_t *mutex)
{
    uint32_t id = giusto_id();
    if (!giusto_owns(mutex, id))
        return EPERM;
    if (mutex->again > 0) {
        mutex->again--;
        return 0;
    }
    if (mutex->state == OWNER_DIED)
        give_up(mutex);
    return release(mutex, id);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    uint32_t id = giusto_kept_id();
    return id != 0 && giusto_swap(&mutex->quick, 0, id) ? 0 : lock_slowly(mutex, never);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    uint32_t id = giusto_kept_id();
    return id != 0 && giusto_swap(&mutex->quick, 0, id) ? 0 : lock_slowly(mutex, at_once);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    uint32_t id = giusto_kept_id();
    if (id != 0 && giusto_swap(&mutex->quick, 0, id))
        return 0;
    struct giusto_limit limit;
    return giusto_limit_of(until, &limit) ? lock_slowly(mutex, limit) : EINVAL;
}

int pthread_mutex_clocklock(
    pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
    return giusto_is_clock(clock) ? pthread_mutex_timedlock(mutex, until) : EINVAL;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    uint32_t id = giusto_kept_id();
    return id != 0 && giusto_swap(&mutex->quick, id, 0) ? 0 : unlock_slowly(mutex);
}

int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
    bool can_be = mutex->robust == PTHREAD_MUTEX_ROBUST && giusto_owns(mutex, giusto_id());
    if (!can_be || mutex->state != OWNER_DIED)
        return EINVAL;
    mutex->state = WHOLE;
    return 0;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    *mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (attr == NULL)
        return 0;
    if (!attr->initialised)
        return EINVAL;
    mutex->type = attr->type;
    mutex->protocol = attr->protocol;
    mutex->robust = attr->robust;
    mutex->ceiling = attr->ceiling;
    mutex->quick = is_quick(mutex) ? 0 : GIUSTO_NEVER_FREE;
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    if (mutex->type == DESTROYED)
        return EINVAL;
    if (!giusto_swap(pair_of(mutex), 0, GIUSTO_NEVER_FREE))
        return EBUSY;
    mutex->type = DESTROYED;
    return 0;
}

int pthread_mutex_setprioceiling(pthread_mutex_t *mutex, int ceiling, int *old)
{
    if (mutex->protocol != PTHREAD_PRIO_PROTECT || ceiling < 0 || ceiling >= GIUSTO_PRIORITIES)
        return EINVAL;
    uint32_t id = giusto_id();
    if (mutex->type == DESTROYED || giusto_owns(mutex, id))
        return mutex->type == DESTROYED ? EINVAL : EDEADLK;
    /* Not at the ceiling: the caller may be above it. */
    int error = owned(mutex, id, giusto_acquire(&mutex->slow, id, inherits(mutex), never));
    if (error != 0 && error != EOWNERDEAD)
        return error;
    int before = mutex->ceiling;
    __atomic_store_n(&mutex->ceiling, (uint8_t)ceiling, __ATOMIC_RELAXED);
    /* The next owner is told what the last one has left behind. */
    error = release(mutex, id);
    if (old != NULL)
        *old = before;
    return error;
}

int pthread_mutex_getprioceiling(const pthread_mutex_t *mutex, int *ceiling)
{
    if (mutex->protocol != PTHREAD_PRIO_PROTECT)
        return EINVAL;
    *ceiling = __atomic_load_n(&mutex->ceiling, __ATOMIC_RELAXED);
    return 0;
}
