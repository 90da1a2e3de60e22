/* Conditions with helpers. */
#include "check.h"
#include "threads.h"
#include <errno.h>

static pthread_mutex_t mutex;
static pthread_cond_t cond;

/* What the mutex protects: what is waited for, and which threads have come. */
static unsigned filled, came;
static volatile int told;
/* The thread that last said who it is. */
static volatile pthread_t who;

/* The mutex and the condition are new. */
static void renew(int protocol, int robust)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, protocol);
    pthread_mutexattr_setrobust(&attr, robust);
    pthread_mutex_init(&mutex, &attr);
    pthread_cond_init(&cond, NULL);
    filled = came = 0;
    told = 0;
}

/* The calling thread owns the mutex for what it calls. */
static int changed(int (*change)(pthread_cond_t *, pthread_t *), pthread_t thread)
{
    int error = pthread_mutex_lock(&mutex);
    if (error == 0) {
        error = change(&cond, &thread);
        told |= pthread_mutex_unlock(&mutex);
    }
    return error;
}

static int fill(unsigned much, int (*wake)(pthread_cond_t *))
{
    pthread_mutex_lock(&mutex);
    filled += much;
    int error = wake(&cond);
    error |= pthread_mutex_unlock(&mutex);
    settle();
    return error;
}

/* Waits until there is something, and takes it. */
static void take(uint64_t n)
{
    int error = pthread_mutex_lock(&mutex);
    while (error == 0 && filled == 0)
        error = pthread_cond_wait(&cond, &mutex);
    filled--;
    came = came * 10 + (unsigned)n;
    told |= error | pthread_mutex_unlock(&mutex);
}

static void stay(uint64_t n)
{
    (void)n;
    who = pthread_self();
    giusto_sleep_until(UINT64_MAX);
}

/* A thread that does nothing. */
static pthread_t idler(unsigned n)
{
    run(n, HIGH, stay, n);
    return who;
}

/* Becomes a helper, works, and makes the condition true. */
static void help(uint64_t n)
{
    (void)n;
    uint64_t begin = giusto_clock();
    told |= changed(pthread_cond_helpers_add, pthread_self());
    giusto_sleep(2 * MILLISECOND);
    while (giusto_clock() < begin + 5 * MILLISECOND)
        continue;
    pthread_mutex_lock(&mutex);
    filled++;
    told |= pthread_cond_signal(&cond);
    told |= pthread_mutex_unlock(&mutex);
}

static void disturb(uint64_t n)
{
    giusto_sleep(3 * MILLISECOND);
    came = came * 10 + (unsigned)n;
}

static int no_inversion(const char *kind)
{
    run(1, LOW, help, 1);
    run(2, LOW + 5, disturb, 2);
    giusto_sleep(MILLISECOND);
    take(1);
    unsigned at_once = came;
    settle();
    return check_of(kind, "a helper goes before what would delay the waiting thread",
        told == 0 && at_once == 1 && came == 12);
}

static int by_priority(void)
{
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    int added = changed(pthread_cond_helpers_add, pthread_self());
    run(1, LOW, take, 1);
    run(2, HIGH, take, 2);
    run(3, MIDDLE, take, 3);
    settle();
    int failed = check("who wakes owns the mutex", pthread_cond_signal(&cond) == EPERM);
    failed += check("the most urgent thread is woken, then all",
        added == 0 && fill(1, pthread_cond_signal) == 0 && came == 2
            && fill(2, pthread_cond_broadcast) == 0 && came == 231 && told == 0);
    return failed;
}

static int comings_and_goings(void)
{
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    pthread_t me = pthread_self(), first = idler(1);
    int failed = check("a helper is named, and is one once",
        changed(pthread_cond_helpers_add, first) == 0
            && changed(pthread_cond_helpers_add, first) == EEXIST
            && changed(pthread_cond_helpers_del, me) == ENOENT);
    failed += check("no thread is no helper",
        changed(pthread_cond_helpers_add, 0) == ESRCH
            && changed(pthread_cond_helpers_add, 0x12345) == ESRCH
            && changed(pthread_cond_helpers_del, 0) == ENOENT
            && pthread_cond_helpers_add(&cond, NULL) == EINVAL
            && pthread_cond_helpers_del(&cond, NULL) == EINVAL);
    int full = 0;
    for (unsigned n = 2; n <= 4; n++)
        full |= changed(pthread_cond_helpers_add, idler(n));
    failed += check("four threads help, and no fifth one",
        full == 0 && changed(pthread_cond_helpers_add, me) == ENOSPC);
    end(1);
    failed += check("one that has ended leaves its place, and helps no more",
        changed(pthread_cond_helpers_add, first) == ESRCH
            && changed(pthread_cond_helpers_add, me) == 0
            && changed(pthread_cond_helpers_del, first) == ENOENT
            && changed(pthread_cond_helpers_del, me) == 0
            && changed(pthread_cond_helpers_add, me) == 0);
    run(1, LOW, take, 1);
    settle();
    failed += check("while threads wait, helpers are changed by who owns the mutex",
        pthread_cond_helpers_del(&cond, &me) == EPERM && changed(pthread_cond_helpers_del, me) == 0
            && changed(pthread_cond_helpers_add, me) == 0
            && changed(pthread_cond_helpers_add, me) == EEXIST
            && pthread_cond_destroy(&cond) == EBUSY && fill(1, pthread_cond_signal) == 0
            && came == 1 && told == 0);
    failed += check("a destroyed condition has no helpers",
        pthread_cond_destroy(&cond) == 0 && changed(pthread_cond_helpers_add, me) == EINVAL
            && changed(pthread_cond_helpers_del, me) == EINVAL);
    return failed;
}

static int refusals(void)
{
    struct timespec soon = in(MILLISECOND);
    pthread_t me = pthread_self();
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    changed(pthread_cond_helpers_add, me);
    pthread_mutex_lock(&mutex);
    int failed = check("a wait with helpers ends at its deadline, with the mutex",
        pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT
            && pthread_mutex_unlock(&mutex) == 0);
    renew(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    int added = changed(pthread_cond_helpers_add, me);
    pthread_mutex_lock(&mutex);
    failed += check("threads wait with a mutex that inherits",
        added == 0 && pthread_cond_wait(&cond, &mutex) == EINVAL
            && pthread_mutex_unlock(&mutex) == 0);
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    run(1, HIGH, take, 1);
    failed += check("threads that wait already lend nothing to a first helper",
        changed(pthread_cond_helpers_add, me) == EBUSY && fill(1, pthread_cond_signal) == 0
            && came == 1 && changed(pthread_cond_helpers_add, me) == 0);
    return failed;
}

int helpers(void)
{
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    int failed = no_inversion("an inheriting mutex");
    renew(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
    failed += no_inversion("a robust mutex");
    return failed + by_priority() + comings_and_goings() + refusals();
}
