/**
 * Policies and priorities of threads, as POSIX has them.
 *
 * Level 1 to 99 of `SCHED_FIFO` and `SCHED_RR` is the kernel's priority of that number; the
 * manifest says up to which one the domain may go (`max_priority`). `SCHED_OTHER` is priority 0,
 * below all levels. Threads of one priority take turns by the system's time slice: that is
 * `SCHED_RR`. In a system with `timeslice = "none"` they do not: that is `SCHED_FIFO`. A system has
 * one of the two, and the other is refused with `ENOTSUP`.
 *
 * A thread begins with the priority of the thread that makes it, the first one with that of the
 * manifest. A thread on a reservation runs by that, whatever its level.
 *
 * Functions return -1 and set `errno` if they fail. A process is 0, which stands for the calling
 * thread, as on Linux.
 */
#ifndef GIUSTO_SCHED_H
#define GIUSTO_SCHED_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Policies. */
enum {
    SCHED_OTHER = 0,
    SCHED_FIFO = 1,
    SCHED_RR = 2,
};

/** What a policy needs to know. */
struct sched_param {
    /** 1 to 99; 0 with `SCHED_OTHER`. */
    int sched_priority;
};

/**
 * Sets policy and level of the calling thread; returns the policy that it had. `EINVAL`: there is
 * no such policy or level. `ENOTSUP`: the system has the other one of `SCHED_FIFO` and `SCHED_RR`.
 * `EPERM`: the level is above the domain's `max_priority`, or the caller is the first thread, and
 * the manifest gives the domain no capability `thread` to it. `ESRCH`: `process` is not 0, or the
 * caller is neither the first thread nor one of `pthread_create`.
 */
int sched_setscheduler(pid_t process, int policy, const struct sched_param *param);
/** The policy of the calling thread. `ESRCH`: as above. */
int sched_getscheduler(pid_t process);
/** Sets its level and leaves its policy. Errors as above. */
int sched_setparam(pid_t process, const struct sched_param *param);
/** Its level; of a thread whose priority the manifest gives that one, also above 99. `ESRCH`. */
int sched_getparam(pid_t process, struct sched_param *param);

/** The highest and the lowest level of a policy. `EINVAL`: there is no such policy. */
int sched_get_priority_max(int policy);
int sched_get_priority_min(int policy);

/** Lets the next thread of the same priority run. */
int sched_yield(void);

/** The time slice of the system's threads; 0 if there is none. `ESRCH`: `process` is not 0. */
int sched_rr_get_interval(pid_t process, struct timespec *interval);

/** How many CPUs a set has room for. */
#define CPU_SETSIZE 64

/** A set of CPUs. */
typedef struct {
    uint64_t bits;
} cpu_set_t;

#define CPU_ZERO(set) ((void)((set)->bits = 0))
#define CPU_SET(cpu, set) ((void)((set)->bits |= UINT64_C(1) << (cpu)))
#define CPU_CLR(cpu, set) ((void)((set)->bits &= ~(UINT64_C(1) << (cpu))))
#define CPU_ISSET(cpu, set) ((int)((set)->bits >> (cpu) & 1))
#define CPU_COUNT(set) (__builtin_popcountll((set)->bits))

#ifdef __cplusplus
}
#endif
#endif
