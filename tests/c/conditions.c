/* Conditions, with mutexes of each kind. */
#include "check.h"
#include "threads.h"
#include <errno.h>

static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

/* What the mutex protects: what is waited for, and which threads have come. */
static unsigned filled, came;
static volatile int told;

static void await(uint64_t n)
{
    int error = pthread_mutex_lock(&mutex);
    while (error == 0 && filled == 0)
        error = pthread_cond_wait(&cond, &mutex);
    filled--;
    came = came * 10 + (unsigned)n;
    told |= error | pthread_mutex_unlock(&mutex);
}

static void await_locked_twice(uint64_t n)
{
    pthread_mutex_lock(&mutex);
    await(n);
    told |= pthread_mutex_unlock(&mutex);
}

static void await_briefly(uint64_t n)
{
    struct timespec soon = in(n);
    pthread_mutex_lock(&mutex);
    told = pthread_cond_timedwait(&cond, &mutex, &soon);
    /* The mutex is owned, whatever was told. */
    if (pthread_mutex_unlock(&mutex) != 0)
        told = -1;
}

/* Gives up at a deadline, if what is waited for has not come. */
static void give_up(uint64_t n)
{
    struct timespec soon = in(n);
    int error = pthread_mutex_lock(&mutex);
    while (error == 0 && filled == 0)
        error = pthread_cond_timedwait(&cond, &mutex, &soon);
    told |= error != ETIMEDOUT;
    told |= pthread_mutex_unlock(&mutex);
}

/* Puts so much in, and wakes one thread or all. */
static int fill(unsigned much, int (*wake)(pthread_cond_t *), int locked)
{
    pthread_mutex_lock(&mutex);
    filled += much;
    int error = locked ? wake(&cond) : 0;
    error |= pthread_mutex_unlock(&mutex);
    if (!locked)
        error |= wake(&cond);
    settle();
    return error;
}

/* Threads 1 to 3 wait, in this order. */
static void gather(void (*work)(uint64_t))
{
    filled = came = 0;
    told = 0;
    for (unsigned n = 1; n <= 3; n++) {
        run(n, MIDDLE, work, n);
        settle();
    }
}

/* Two threads that wait behind one that gives up are woken as if it had never been there. */
static int behind(const char *kind, void (*work)(uint64_t))
{
    filled = came = 0;
    told = 0;
    run(1, MIDDLE, give_up, 10 * MILLISECOND);
    for (unsigned n = 2; n <= 3; n++) {
        settle();
        run(n, MIDDLE, work, n);
    }
    giusto_sleep(20 * MILLISECOND);
    return check_of(kind, "who waits behind one that gives up is woken in turn",
        came == 0 && fill(1, pthread_cond_signal, 1) == 0 && came == 2
            && fill(1, pthread_cond_signal, 0) == 0 && came == 23 && told == 0);
}

/* One thread, then all, by a thread that owns the mutex or does not. */
static int woken(const char *kind, void (*work)(uint64_t))
{
    gather(work);
    int failed = check_of(kind, "one is woken, then another one",
        came == 0 && fill(1, pthread_cond_signal, 1) == 0 && came == 1
            && fill(1, pthread_cond_signal, 0) == 0 && came == 12
            && fill(1, pthread_cond_broadcast, 1) == 0 && came == 123 && told == 0);
    gather(work);
    failed += check_of(kind, "all are woken, in the order of their coming",
        fill(3, pthread_cond_broadcast, 0) == 0 && came == 123 && told == 0);
    return failed + behind(kind, work);
}

/* A mutex of each kind. */
static int kinds(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutex_init(&mutex, &attr);
    int failed = woken("a normal mutex", await);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &attr);
    failed += woken("a recursive mutex that is locked twice", await_locked_twice);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_NORMAL);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &attr);
    failed += woken("an inheriting mutex", await);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
    pthread_mutexattr_setprioceiling(&attr, HIGH);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attr);
    failed += woken("a robust mutex with a ceiling", await);
    return failed;
}

static int deadlines(void)
{
    pthread_mutex_init(&mutex, NULL);
    struct timespec soon = in(MILLISECOND), never = {0, -1};
    int failed = check("a condition needs a mutex that the thread owns, and an instant",
        pthread_cond_wait(&cond, &mutex) == EPERM && pthread_mutex_lock(&mutex) == 0
            && pthread_cond_timedwait(&cond, &mutex, &never) == EINVAL);
    failed += check("a wait ends at its deadline, with the mutex",
        pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT
            && pthread_mutex_unlock(&mutex) == 0);
    told = -2;
    run(1, HIGH, await_briefly, 100 * MILLISECOND);
    failed += check("a wake-up before the deadline is none",
        pthread_cond_signal(&cond) == 0 && told == 0);
    told = -2;
    run(1, HIGH, await_briefly, MILLISECOND);
    settle();
    failed += check("a helper is told of its deadline", told == ETIMEDOUT);
    struct timespec now = {0, 0};
    failed += check("the clock is that of deadlines",
        clock_gettime(CLOCK_MONOTONIC, &now) == 0 && now.tv_sec == 0 && now.tv_nsec > 0
            && clock_gettime(9, &now) == -1);
    return failed;
}

static int ends(void)
{
    gather(await);
    int failed = check("a condition that threads wait for is not destroyed",
        pthread_cond_destroy(&cond) == EBUSY);
    pthread_mutex_lock(&mutex);
    filled = 3;
    failed += check("one whose threads were woken is, behind them",
        pthread_cond_broadcast(&cond) == 0 && pthread_mutex_unlock(&mutex) == 0);
    settle();
    failed += check("a destroyed one is not used",
        pthread_cond_destroy(&cond) == 0 && came == 123 && pthread_cond_signal(&cond) == EINVAL
            && pthread_cond_destroy(&cond) == EINVAL && pthread_mutex_lock(&mutex) == 0
            && pthread_cond_wait(&cond, &mutex) == EINVAL && pthread_mutex_unlock(&mutex) == 0);
    pthread_condattr_t attr;
    failed += check("a condition is made anew",
        pthread_condattr_init(&attr) == 0 && pthread_cond_init(&cond, &attr) == 0
            && pthread_condattr_destroy(&attr) == 0 && pthread_cond_init(&cond, &attr) == EINVAL
            && pthread_cond_init(&cond, NULL) == 0 && pthread_cond_signal(&cond) == 0);
    return failed;
}

int conditions(void)
{
    return kinds() + deadlines() + ends();
}
