/**
 * Instants, as functions of `pthread.h` take them. The only clock counts from boot.
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

/** The clock that counts from boot. */
#define CLOCK_MONOTONIC 1

/** What a clock shows: 0, or `EINVAL` for one that there is not. */
int clock_gettime(clockid_t clock, struct timespec *now);

#ifdef __cplusplus
}
#endif
#endif
