/**
 * Clocks, and sleeping. There is one clock, which counts from boot; it has two names, since nothing
 * tells the time of day: `CLOCK_REALTIME` shows the time since 1970 of a machine that was started
 * then.
 */
#ifndef GIUSTO_TIME_H
#define GIUSTO_TIME_H

#ifdef __cplusplus
extern "C" {
#endif

/** Seconds. */
typedef long time_t;

/** An instant, or a span. */
struct timespec {
    /** Whole seconds. */
    time_t tv_sec;
    /** Nanoseconds, below 1,000,000,000. */
    long tv_nsec;
};

/** Names of clocks. */
typedef int clockid_t;

/** The clock, by both names. */
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1

/** A flag of `clock_nanosleep`: until an instant. */
#define TIMER_ABSTIME 1

/** What a clock shows. -1 and `EINVAL`: there is no such clock. */
int clock_gettime(clockid_t clock, struct timespec *now);
/** The time from one value of a clock to the next. -1 and `EINVAL`: there is no such clock. */
int clock_getres(clockid_t clock, struct timespec *resolution);

/**
 * Waits until an instant, with `TIMER_ABSTIME`, or for some time. Nothing interrupts that, so
 * `*rest` is never written. Returns `EINVAL`: there is no such clock, instant or span.
 */
int clock_nanosleep(
    clockid_t clock, int flags, const struct timespec *request, struct timespec *rest);
/** Waits for some time. -1 and `EINVAL`: there is no such span. */
int nanosleep(const struct timespec *request, struct timespec *rest);

#ifdef __cplusplus
}
#endif
#endif
