/* Clocks, and sleeping. */
#include "mutex.h"
#include <errno.h>
#include <giusto.h>
#include <time.h>

static const uint64_t second = 1000000000;

static struct timespec spelt(uint64_t nanoseconds)
{
    return (struct timespec){(time_t)(nanoseconds / second), (long)(nanoseconds % second)};
}

bool giusto_is_clock(clockid_t clock)
{
    return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME;
}

int giusto_failed(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!giusto_is_clock(clock))
        return giusto_failed(EINVAL);
    *now = spelt(giusto_clock());
    return 0;
}

int clock_getres(clockid_t clock, struct timespec *resolution)
{
    if (!giusto_is_clock(clock))
        return giusto_failed(EINVAL);
    struct giusto_arguments in = {{GIUSTO_FACT_COUNTER_HZ}, {0}};
    uint64_t frequency = giusto_syscall(GIUSTO_CALL_FACT, in).results[0];
    if (resolution != NULL)
        *resolution = spelt(frequency >= second ? 1 : (second + frequency - 1) / frequency);
    return 0;
}

int clock_nanosleep(
    clockid_t clock, int flags, const struct timespec *request, struct timespec *rest)
{
    (void)rest;
    struct giusto_limit limit;
    if (!giusto_is_clock(clock) || !giusto_limit_of(request, &limit))
        return EINVAL;
    if ((flags & TIMER_ABSTIME) != 0)
        giusto_sleep_until(limit.deadline);
    else if (request->tv_sec < 0)
        return EINVAL;
    else
        giusto_sleep(limit.deadline);
    return 0;
}

int nanosleep(const struct timespec *request, struct timespec *rest)
{
    return giusto_failed(clock_nanosleep(CLOCK_REALTIME, 0, request, rest));
}
