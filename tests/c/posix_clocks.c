/* Clocks, and waiting by them. */
#include "check.h"
#include "posix.h"
#include <errno.h>
#include <giusto.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

/* Nanoseconds that an absolute or relative sleep takes; 0 if it fails. */
static uint64_t took(clockid_t clock, int flags, struct timespec request)
{
    uint64_t before = giusto_clock();
    return clock_nanosleep(clock, flags, &request, NULL) == 0 ? giusto_clock() - before : 0;
}

/* Whether that is three milliseconds, or not much more: the host does other things as well. */
static int is_three(uint64_t time)
{
    return time >= 3 * MILLISECOND && time < 1000 * MILLISECOND;
}

static int sleeps(void)
{
    struct timespec wrong[] = {{0, 1000000000}, {0, -1}, {-1, 0}};
    int failed = check("a thread sleeps for some time",
        is_three(took(CLOCK_MONOTONIC, 0, span(3 * MILLISECOND)))
            && is_three(took(CLOCK_REALTIME, 0, span(3 * MILLISECOND))));
    failed += check("a thread sleeps until an instant",
        is_three(took(CLOCK_MONOTONIC, TIMER_ABSTIME, in(3 * MILLISECOND)))
            && took(CLOCK_MONOTONIC, TIMER_ABSTIME, span(1)) < 1000 * MILLISECOND);
    for (int i = 0; i < 3; i++)
        failed += check("no such span",
            clock_nanosleep(CLOCK_MONOTONIC, 0, &wrong[i], NULL) == EINVAL
                && fails(nanosleep(&wrong[i], NULL), EINVAL));
    failed += check("no such instant",
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wrong[0], NULL) == EINVAL
            && clock_nanosleep(9, 0, &wrong[0], NULL) == EINVAL);
    return failed;
}

int clocks(void)
{
    struct timespec real, now, least = {0, 0}, until = in(3 * MILLISECOND);
    int failed = check("there is one clock, by two names",
        clock_gettime(CLOCK_MONOTONIC, &now) == 0 && clock_gettime(CLOCK_REALTIME, &real) == 0
            && real.tv_sec - now.tv_sec <= 10 && now.tv_nsec < 1000000000
            && fails(clock_gettime(9, &now), EINVAL));
    failed += check("the clock's resolution",
        clock_getres(CLOCK_MONOTONIC, &least) == 0 && least.tv_sec == 0 && least.tv_nsec > 0
            && least.tv_nsec <= 1000 && clock_getres(CLOCK_REALTIME, NULL) == 0
            && fails(clock_getres(9, &least), EINVAL));
    pthread_mutex_lock(&mutex);
    failed += check("a wait for a condition ends by the clock",
        pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &until) == ETIMEDOUT
            && pthread_cond_clockwait(&cond, &mutex, 9, &until) == EINVAL);
    failed += check("a wait for a mutex ends by the clock",
        pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &until) == ETIMEDOUT
            && pthread_mutex_clocklock(&mutex, 9, &until) == EINVAL);
    pthread_mutex_unlock(&mutex);
    pthread_condattr_t attr;
    clockid_t clock = -1;
    pthread_condattr_init(&attr);
    failed += check("a condition has a clock",
        pthread_condattr_getclock(&attr, &clock) == 0 && clock == CLOCK_REALTIME
            && pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0
            && pthread_condattr_getclock(&attr, &clock) == 0 && clock == CLOCK_MONOTONIC
            && pthread_condattr_setclock(&attr, 9) == EINVAL);
    return failed + sleeps();
}
