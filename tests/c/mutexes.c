/* Kinds of mutexes. */
#include "check.h"
#include "threads.h"
#include <errno.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* What a helper was told, and how often it has come through. */
static int told;
static unsigned came;

static void try_to_lock(uint64_t how)
{
    (void)how;
    told = pthread_mutex_trylock(&mutex);
    if (told == 0)
        told = pthread_mutex_unlock(&mutex);
}

static void lock_and_count(uint64_t n)
{
    told = pthread_mutex_lock(&mutex);
    came = came * 10 + (unsigned)n;
    told |= pthread_mutex_unlock(&mutex);
}

static void give_up(uint64_t n)
{
    struct timespec soon = in(n);
    told = pthread_mutex_timedlock(&mutex, &soon);
}

static void unlock(uint64_t n)
{
    (void)n;
    told = pthread_mutex_unlock(&mutex);
}

/* A thread of high priority runs before this returns. */
static int told_by(void (*work)(uint64_t))
{
    told = -1;
    run(1, HIGH, work, 1);
    return told;
}

static int normal(void)
{
    int failed = check("a mutex is locked and unlocked, and is free again",
        pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0
            && pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0
            && told_by(try_to_lock) == 0);
    pthread_mutex_lock(&mutex);
    failed += check("one that is owned is busy, for its owner too",
        told_by(try_to_lock) == EBUSY && pthread_mutex_trylock(&mutex) == EBUSY);
    failed += check("another thread cannot unlock it", told_by(unlock) == EPERM);
    struct timespec soon = in(MILLISECOND), never = {1, 1000000000}, past = {-1, 0};
    failed += check("its owner waits for itself, until a deadline",
        pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT
            && pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT
            && pthread_mutex_timedlock(&mutex, &never) == EINVAL);
    came = 0;
    run(1, LOW, lock_and_count, 1);
    settle();
    run(2, HIGH, lock_and_count, 2);
    run(3, MAIN, lock_and_count, 3);
    settle();
    pthread_mutex_unlock(&mutex);
    settle();
    failed += check("it goes to the threads in the order of their coming", came == 123);
    pthread_mutex_lock(&mutex);
    came = 0;
    run(1, HIGH, give_up, 10 * MILLISECOND);
    for (unsigned n = 2; n <= 3; n++)
        run(n, HIGH, lock_and_count, n);
    giusto_sleep(20 * MILLISECOND);
    failed += check("one thread gives up, and those behind it go on waiting",
        told == ETIMEDOUT && came == 0);
    pthread_mutex_unlock(&mutex);
    settle();
    failed += check("they get it in turn", told == 0 && came == 23);
    failed += check("a free mutex is locked whatever the deadline",
        pthread_mutex_timedlock(&mutex, &past) == 0 && pthread_mutex_unlock(&mutex) == 0);
    failed += check("it cannot be unlocked twice", pthread_mutex_unlock(&mutex) == EPERM);
    return failed;
}

static int ends(void)
{
    pthread_mutex_lock(&mutex);
    int failed = check("an owned mutex is not destroyed",
        pthread_mutex_destroy(&mutex) == EBUSY && pthread_mutex_unlock(&mutex) == 0
            && pthread_mutex_destroy(&mutex) == 0);
    failed += check("a destroyed one is not used",
        pthread_mutex_lock(&mutex) == EINVAL && pthread_mutex_trylock(&mutex) == EINVAL
            && pthread_mutex_unlock(&mutex) == EPERM && pthread_mutex_destroy(&mutex) == EINVAL);
    return failed;
}

/* Makes the mutex anew, of a type. */
static int made(int type)
{
    pthread_mutexattr_t attr;
    return pthread_mutexattr_init(&attr) == 0 && pthread_mutexattr_settype(&attr, type) == 0
        && pthread_mutex_init(&mutex, &attr) == 0 && pthread_mutexattr_destroy(&attr) == 0;
}

static int checking(void)
{
    int failed = check("a mutex that checks is locked once",
        made(PTHREAD_MUTEX_ERRORCHECK) && pthread_mutex_unlock(&mutex) == EPERM
            && pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EDEADLK
            && pthread_mutex_trylock(&mutex) == EBUSY && told_by(unlock) == EPERM
            && pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_destroy(&mutex) == 0);
    return failed;
}

static int recursive(void)
{
    struct timespec past = {0, 0};
    int failed = check("a recursive mutex is locked again by its owner, in each way",
        made(PTHREAD_MUTEX_RECURSIVE) && pthread_mutex_unlock(&mutex) == EPERM
            && pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0
            && pthread_mutex_trylock(&mutex) == 0 && pthread_mutex_timedlock(&mutex, &past) == 0);
    for (int i = 0; i < 3; i++)
        pthread_mutex_unlock(&mutex);
    failed += check("it is free when it was unlocked as often",
        told_by(try_to_lock) == EBUSY && told_by(unlock) == EPERM
            && pthread_mutex_unlock(&mutex) == 0 && told_by(try_to_lock) == 0
            && pthread_mutex_unlock(&mutex) == EPERM && pthread_mutex_destroy(&mutex) == 0);
    return failed;
}

static int attributes(void)
{
    pthread_mutexattr_t attr;
    int type = -1, protocol = -1, robust = -1, ceiling = -1;
    int failed = check("attributes are as they are by default",
        pthread_mutexattr_init(&attr) == 0 && pthread_mutexattr_gettype(&attr, &type) == 0
            && pthread_mutexattr_getprotocol(&attr, &protocol) == 0
            && pthread_mutexattr_getrobust(&attr, &robust) == 0
            && pthread_mutexattr_getprioceiling(&attr, &ceiling) == 0
            && type == PTHREAD_MUTEX_DEFAULT && protocol == PTHREAD_PRIO_NONE
            && robust == PTHREAD_MUTEX_STALLED && ceiling == 255);
    failed += check("attributes are set",
        pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE) == 0
            && pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT) == 0
            && pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0
            && pthread_mutexattr_setprioceiling(&attr, 7) == 0
            && pthread_mutexattr_gettype(&attr, &type) == 0 && type == PTHREAD_MUTEX_RECURSIVE
            && pthread_mutexattr_getprotocol(&attr, &protocol) == 0
            && protocol == PTHREAD_PRIO_PROTECT && pthread_mutexattr_getrobust(&attr, &robust) == 0
            && robust == PTHREAD_MUTEX_ROBUST
            && pthread_mutexattr_getprioceiling(&attr, &ceiling) == 0 && ceiling == 7);
    failed += check("attributes are not set to what there is not",
        pthread_mutexattr_settype(&attr, 3) == EINVAL
            && pthread_mutexattr_setprotocol(&attr, -1) == EINVAL
            && pthread_mutexattr_setrobust(&attr, 2) == EINVAL
            && pthread_mutexattr_setprioceiling(&attr, 256) == EINVAL);
    failed += check("destroyed attributes are not used",
        pthread_mutexattr_destroy(&attr) == 0 && pthread_mutex_init(&mutex, &attr) == EINVAL
            && pthread_mutexattr_gettype(&attr, &type) == EINVAL
            && pthread_mutexattr_destroy(&attr) == EINVAL);
    return failed;
}

int mutexes(void)
{
    return normal() + ends() + checking() + recursive() + attributes();
}
