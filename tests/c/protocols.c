/* Mutexes with inheritance, with ceilings, and robust ones. */
#include "check.h"
#include "threads.h"
#include <errno.h>

static pthread_mutex_t mutex, other;

/* Makes a mutex anew. */
static int made(pthread_mutex_t *at, int protocol, int robust, int ceiling)
{
    pthread_mutexattr_t attr;
    return pthread_mutexattr_init(&attr) == 0
        && pthread_mutexattr_setprotocol(&attr, protocol) == 0
        && pthread_mutexattr_setrobust(&attr, robust) == 0
        && pthread_mutexattr_setprioceiling(&attr, ceiling) == 0
        && pthread_mutex_init(at, &attr) == 0;
}

static volatile unsigned ran;
static volatile int told;

static void note(uint64_t n)
{
    ran = ran * 10 + (unsigned)n;
}

/* Owns the mutex while it sleeps and works. */
static void own_and_work(uint64_t n)
{
    uint64_t begin = giusto_clock();
    told = pthread_mutex_lock(&mutex);
    giusto_sleep(2 * MILLISECOND);
    while (giusto_clock() < begin + 5 * MILLISECOND)
        continue;
    told |= pthread_mutex_unlock(&mutex);
    note(n);
}

static void disturb(uint64_t n)
{
    giusto_sleep(3 * MILLISECOND);
    note(n);
}

/* How an owner ends: it is destroyed, or stopped by a fault that none handles. */
enum { DESTROYED, FAULT };
static const char *const endings[] = {"destroyed", "by a fault"};
static volatile int faults;

static void own_for_ever(uint64_t n)
{
    told = pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)n);
    if (faults) {
        giusto_sleep(MILLISECOND);
        *(volatile int *)(uintptr_t)0x800000000 = 0; /* Nothing is mapped there. */
    }
    giusto_sleep_until(UINT64_MAX);
}

/* A thread owns a mutex that was made, and ends; whether it owned it. */
static int left(pthread_mutex_t *at, int ending)
{
    faults = ending == FAULT;
    run(1, HIGH, own_for_ever, (uintptr_t)at);
    int owned = told == 0 && pthread_mutex_trylock(at) == EBUSY;
    if (ending == FAULT)
        settle();
    else
        end(1);
    faults = 0;
    return owned;
}

static void lock_both(uint64_t n)
{
    pthread_mutex_lock(&other);
    told = pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&other);
    pthread_mutex_unlock(&mutex);
    note(n);
}

static int inheriting(void)
{
    int failed = check("an inheriting mutex is locked and unlocked",
        made(&mutex, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, 0)
            && pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EDEADLK
            && pthread_mutex_trylock(&mutex) == EBUSY && pthread_mutex_unlock(&mutex) == 0
            && pthread_mutex_unlock(&mutex) == EPERM);
    ran = 0;
    run(1, LOW, own_and_work, 1);
    run(2, LOW + 5, disturb, 2);
    giusto_sleep(MILLISECOND);
    int locked = pthread_mutex_lock(&mutex);
    failed += check("its owner goes before what would delay the waiting thread",
        locked == 0 && told == 0 && ran == 0);
    struct timespec soon = in(MILLISECOND);
    run(1, HIGH, own_for_ever, (uintptr_t)&other);
    failed += check("a wait for a mutex that its owner keeps ends at its deadline",
        pthread_mutex_timedlock(&other, &soon) == ETIMEDOUT);
    end(1);
    settle();
    made(&other, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, 0);
    run(1, HIGH, lock_both, 1);
    failed += check("a ring of waits is refused",
        pthread_mutex_trylock(&other) == EBUSY && pthread_mutex_lock(&other) == EDEADLK);
    pthread_mutex_unlock(&mutex);
    settle();
    failed += check("the other thread goes on then", told == 0 && ran % 10 == 1);
    for (int ending = DESTROYED; ending <= FAULT; ending++)
        failed += check_of(endings[ending],
            "an inheriting mutex in C: its owner's end is told once, and it goes on",
            left(&mutex, ending) && pthread_mutex_lock(&mutex) == EOWNERDEAD
                && pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0
                && pthread_mutex_consistent(&mutex) == EINVAL
                && pthread_mutex_unlock(&mutex) == 0);
    return failed;
}

/* Makes the mutex anew, of a type, with a ceiling or without a protocol. */
static int made_of(int type, int protocol)
{
    pthread_mutexattr_t attr;
    return pthread_mutexattr_init(&attr) == 0 && pthread_mutexattr_settype(&attr, type) == 0
        && pthread_mutexattr_setprotocol(&attr, protocol) == 0
        && pthread_mutexattr_setprioceiling(&attr, HIGH) == 0
        && pthread_mutex_init(&mutex, &attr) == 0;
}

/* What is neither inheriting nor robust. */
static int others(void)
{
    static const int types[] = {
        PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_RECURSIVE};
    static const int protocols[] = {PTHREAD_PRIO_NONE, PTHREAD_PRIO_PROTECT};
    int failed = 0;
    for (int ending = DESTROYED; ending <= FAULT; ending++) {
        int stays = 1;
        for (int kind = 0; kind < 6; kind++) {
            stays &= made_of(types[kind % 3], protocols[kind / 3]) && left(&mutex, ending);
            struct timespec soon = in(MILLISECOND);
            stays &= pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT
                && pthread_mutex_trylock(&mutex) == EBUSY && pthread_mutex_unlock(&mutex) == EPERM;
        }
        failed += check_of(endings[ending],
            "any other mutex in C: it stays taken, and who waits for it waits in vain", stays);
    }
    return failed;
}

static int with_ceilings(void)
{
    int old = -1, now = -1;
    int failed = check("a mutex has a ceiling, and another one then",
        made(&mutex, PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_STALLED, MIDDLE)
            && made(&other, PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_STALLED, MIDDLE)
            && pthread_mutex_setprioceiling(&other, HIGH, &old) == 0 && old == MIDDLE
            && pthread_mutex_getprioceiling(&other, &now) == 0 && now == HIGH
            && pthread_mutex_setprioceiling(&other, 256, NULL) == EINVAL);
    ran = 0;
    failed += check("an owner has the ceiling", pthread_mutex_lock(&mutex) == 0);
    run(1, MIDDLE, note, 1);
    unsigned before = ran;
    run(2, MIDDLE + 1, note, 2);
    unsigned above = ran;
    failed += check("a thread that is not above it waits until it is unlocked",
        before == 0 && above == 2 && pthread_mutex_trylock(&mutex) == EBUSY
            && pthread_mutex_unlock(&mutex) == 0 && ran == 21);
    ran = 0;
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&other);
    run(1, HIGH, note, 1);
    before = ran;
    pthread_mutex_unlock(&mutex);
    run(2, HIGH, note, 2);
    unsigned between = ran;
    pthread_mutex_unlock(&other);
    unsigned after = ran;
    failed += check("of several the highest counts, in whatever order they are unlocked",
        before == 0 && between == 0 && after == 12);
    ran = 0;
    pthread_mutex_lock(&other);
    pthread_mutex_lock(&mutex);
    run(3, HIGH, note, 3);
    failed += check("and in whatever order they are locked", ran == 0);
    pthread_mutex_unlock(&other);
    failed += check("the higher one lets go what it has kept out", ran == 3);
    ran = 0;
    run(1, MIDDLE, note, 1);
    run(2, HIGH, note, 2);
    before = ran;
    pthread_mutex_unlock(&mutex);
    failed += check("the lower one then counts, and nothing at last", before == 2 && ran == 21);
    failed += check("a thread above the ceiling is refused, and one that cannot have it",
        pthread_mutex_setprioceiling(&mutex, MAIN - 1, NULL) == 0
            && pthread_mutex_lock(&mutex) == EINVAL && pthread_mutex_trylock(&mutex) == EINVAL
            && pthread_mutex_setprioceiling(&mutex, 101, NULL) == 0
            && pthread_mutex_lock(&mutex) == EINVAL);
    run(1, MAIN + 1, note, 3);
    failed += check("it has not kept a ceiling then", ran == 213);
    made(&mutex, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, 0);
    failed += check("a mutex without the protocol has no ceiling",
        pthread_mutex_getprioceiling(&mutex, &now) == EINVAL
            && pthread_mutex_setprioceiling(&mutex, 9, NULL) == EINVAL);
    return failed;
}

/* A robust mutex, whose owner ends. */
static int left_robust(int protocol, int ending)
{
    return made(&mutex, protocol, PTHREAD_MUTEX_ROBUST, HIGH) && left(&mutex, ending);
}

static int robust(int protocol, const char *kind)
{
    int failed = check_of(kind, "a new robust mutex is whole",
        made(&mutex, protocol, PTHREAD_MUTEX_ROBUST, HIGH) && pthread_mutex_lock(&mutex) == 0
            && pthread_mutex_lock(&mutex) == EDEADLK && pthread_mutex_consistent(&mutex) == EINVAL
            && pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_consistent(&mutex) == EINVAL);
    int mended = 1;
    for (int ending = DESTROYED; ending <= FAULT; ending++)
        mended &= left_robust(protocol, ending) && pthread_mutex_lock(&mutex) == EOWNERDEAD
            && pthread_mutex_consistent(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0
            && pthread_mutex_lock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0;
    failed += check_of(
        kind, "a robust mutex in C: its owner's end is told, what it left mended", mended);
    failed += check_of(kind, "what is not mended is lost",
        left_robust(protocol, DESTROYED) && pthread_mutex_trylock(&mutex) == EOWNERDEAD
            && pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_lock(&mutex) == ENOTRECOVERABLE
            && pthread_mutex_trylock(&mutex) == ENOTRECOVERABLE
            && pthread_mutex_destroy(&mutex) == 0);
    return failed;
}

static int ceiling_of_an_ended_owner(void)
{
    return check("a ceiling is changed behind an owner's end, which the next owner is told",
        left_robust(PTHREAD_PRIO_PROTECT, DESTROYED)
            && pthread_mutex_setprioceiling(&mutex, HIGH, NULL) == 0
            && pthread_mutex_lock(&mutex) == EOWNERDEAD && pthread_mutex_consistent(&mutex) == 0
            && pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0
            && pthread_mutex_unlock(&mutex) == 0);
}

int protocols(void)
{
    return inheriting() + others() + with_ceilings() + ceiling_of_an_ended_owner()
        + robust(PTHREAD_PRIO_NONE, "no protocol") + robust(PTHREAD_PRIO_INHERIT, "inheritance")
        + robust(PTHREAD_PRIO_PROTECT, "ceiling");
}
