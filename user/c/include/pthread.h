/**
 * Threads, mutexes and conditions as POSIX has them.
 *
 * Functions return 0 or a number of `errno.h`. Deadlines are instants of the one clock that there
 * is (`time.h`). All of this is for threads of one program, on the stacks that the manifest lays
 * out; docs/posix.md says what differs from POSIX, and docs/c.md what mutexes cost.
 */
#ifndef GIUSTO_PTHREAD_H
#define GIUSTO_PTHREAD_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A thread: what mutexes know it by. */
typedef uint32_t pthread_t;

/** The calling thread. */
pthread_t pthread_self(void);

/** Whether two are the same thread. */
static inline int pthread_equal(pthread_t one, pthread_t other)
{
    return one == other;
}

/** Whether a thread's end is waited for. */
enum {
    PTHREAD_CREATE_JOINABLE = 0,
    PTHREAD_CREATE_DETACHED = 1,
};

/** Whether a thread begins with its maker's policy and level, or with those of its attributes. */
enum {
    PTHREAD_INHERIT_SCHED = 0,
    PTHREAD_EXPLICIT_SCHED = 1,
};

/** The least stack. */
#define PTHREAD_STACK_MIN 4096

/** What a thread is to be like. */
typedef struct {
    size_t stacksize;
    struct sched_param param;
    uint8_t policy, detached, is_explicit, initialised;
} pthread_attr_t;

/** Joinable, on a stack as the manifest lays it out, with its maker's policy and level. */
int pthread_attr_init(pthread_attr_t *attr);
int pthread_attr_destroy(pthread_attr_t *attr);
/** `EINVAL`: it is less than `PTHREAD_STACK_MIN`, or more than the manifest's `stack`. */
int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size);
/** What there will be: the manifest's `stack`, if no more was asked for. */
int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *size);
int pthread_attr_setdetachstate(pthread_attr_t *attr, int state);
int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state);
int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit);
int pthread_attr_getinheritsched(const pthread_attr_t *attr, int *inherit);
/** `ENOTSUP`: the system has the other one of `SCHED_FIFO` and `SCHED_RR` (`sched.h`). */
int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy);
int pthread_attr_getschedpolicy(const pthread_attr_t *attr, int *policy);
/** `EINVAL`: it is no level of any policy. */
int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param);
int pthread_attr_getschedparam(const pthread_attr_t *attr, struct sched_param *param);

/**
 * Makes a thread, on the CPU of the caller. `attr` may be null. Threads that are made so use the
 * stacks that the manifest lays out (`threads = N`), each again behind the end of its thread; a
 * program does not give any of them to `giusto_start_thread` as well.
 * `EAGAIN`: there is no stack, slot or quota for it; 127 threads are the most. `EINVAL`: the
 * attributes are not initialised, or are of no policy. `ENOTSUP`: as `sched_setscheduler`. `EPERM`:
 * the level is above the domain's `max_priority`.
 */
int pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*work)(void *), void *argument);
/**
 * Ends the calling thread, as returning from its function does. What it owns of inheriting and
 * robust mutexes its next owner is told as `EOWNERDEAD`. The run ends with the last thread.
 */
__attribute__((noreturn)) void pthread_exit(void *value);
/**
 * Waits until a thread has ended. `value` may be null. `ESRCH`: there is no such thread of
 * `pthread_create`. `EINVAL`: it is detached, or another thread waits for it. `EDEADLK`: it is the
 * calling thread.
 */
int pthread_join(pthread_t thread, void **value);
/** Its end will not be waited for. `ESRCH`, `EINVAL` as above. */
int pthread_detach(pthread_t thread);

/**
 * Sets policy and level of a thread; errors as `sched_setscheduler`. `ESRCH`: there is no such
 * thread.
 */
int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param);

/**
 * Moves a thread to a CPU of the set: to none if it is on one, else to the lowest that its domain
 * may use. It runs there alone, whatever else is in the set. `EINVAL`: there is no such CPU, or
 * `size` is not that of the set. `ESRCH`; `EPERM`: it is the first thread, as in `sched.h`.
 */
int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set);
/** The CPU that a thread runs on, alone in its set. `ESRCH`, `EINVAL`. */
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set);

/** Kinds of mutexes. An owner that locks a normal one again waits for ever. */
enum {
    PTHREAD_MUTEX_NORMAL = 0,
    PTHREAD_MUTEX_DEFAULT = PTHREAD_MUTEX_NORMAL,
    PTHREAD_MUTEX_ERRORCHECK = 1,
    PTHREAD_MUTEX_RECURSIVE = 2,
};

/** What the owner of a mutex runs with: its own priority; that of waiters; the ceiling. */
enum {
    PTHREAD_PRIO_NONE = 0,
    PTHREAD_PRIO_INHERIT = 1,
    PTHREAD_PRIO_PROTECT = 2,
};

/** Whether the next owner learns that the last one has ended. A robust mutex inherits, too. */
enum {
    PTHREAD_MUTEX_STALLED = 0,
    PTHREAD_MUTEX_ROBUST = 1,
};

/** What a mutex is to be like. */
typedef struct {
    uint8_t type, protocol, robust, ceiling, initialised;
} pthread_mutexattr_t;

/** A mutex. Its members are the library's. */
typedef struct giusto_mutex {
    /* The mutex itself, if an unlock needs nothing but the owner's id; else it is never free. */
    uint64_t quick;
    /* The mutex itself otherwise. */
    uint64_t slow;
    /* The next one with a ceiling that its owner owns. */
    struct giusto_mutex *next;
    /* The first of the conditions with helpers that threads wait for with it. */
    struct giusto_cond *awaited;
    /* How often its owner has locked it again. */
    uint32_t again;
    uint8_t type, protocol, robust, ceiling;
    /* What an owner that has ended has left behind, and whether the mutex was destroyed. */
    uint8_t state;
} pthread_mutex_t;

/** A normal mutex without a protocol. */
#define PTHREAD_MUTEX_INITIALIZER {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

int pthread_mutexattr_init(pthread_mutexattr_t *attr);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attr);
int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *type);
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attr, int protocol);
int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attr, int *protocol);
int pthread_mutexattr_setrobust(pthread_mutexattr_t *attr, int robust);
int pthread_mutexattr_getrobust(const pthread_mutexattr_t *attr, int *robust);
/** A priority of 0 to 255; a new attribute has 255. */
int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *attr, int ceiling);
int pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *attr, int *ceiling);

/** `attr` may be null. */
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
/** `EBUSY`: it is owned. */
int pthread_mutex_destroy(pthread_mutex_t *mutex);
/**
 * `EDEADLK`: the caller owns it (but a normal mutex without a protocol), or waits for itself
 * through others. `EINVAL`: the caller's own priority is above the ceiling, or it runs on a
 * reservation, where a ceiling has no effect. `EAGAIN`: it would be locked 2^32 times, or a thread
 * that the manifest does not lay out locks one with a ceiling.
 * `EOWNERDEAD`: its owner has ended, the caller owns it. `ENOTRECOVERABLE`: an owner after that
 * has not made it consistent.
 */
int pthread_mutex_lock(pthread_mutex_t *mutex);
/** `EBUSY`: another thread owns it, or the caller does and it is not recursive. */
int pthread_mutex_trylock(pthread_mutex_t *mutex);
/** `ETIMEDOUT`, `EINVAL` (no such instant), and those of `pthread_mutex_lock`. */
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
/** The same by a clock, of which there is one. `EINVAL`: there is no such clock. */
int pthread_mutex_clocklock(
    pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until);
/** `EPERM`: the caller does not own it. */
int pthread_mutex_unlock(pthread_mutex_t *mutex);
/** `EINVAL`: no owner has ended, or the caller does not own it. */
int pthread_mutex_consistent(pthread_mutex_t *mutex);
/** Waits until it owns the mutex, whatever its own priority, and gives it back. */
int pthread_mutex_setprioceiling(pthread_mutex_t *mutex, int ceiling, int *old);
int pthread_mutex_getprioceiling(const pthread_mutex_t *mutex, int *ceiling);

/** What a condition is to be like. */
typedef struct {
    uint8_t initialised, clock;
} pthread_condattr_t;

/** A condition. Its members are the library's. */
typedef struct giusto_cond {
    /* The mutex of the condition, for a moment only; then the condition itself. */
    uint64_t mutex, condition;
    /* Threads between the beginning and the end of a wait. */
    uint64_t waiting;
    /* With helpers: the program's mutex, under which all of this changes; the next condition that
     * threads wait for with it; and who they are. */
    pthread_mutex_t *user;
    struct giusto_cond *next;
    uint32_t helpers[4];
    uint8_t state, helped;
} pthread_cond_t;

#define PTHREAD_COND_INITIALIZER {0, 0, 0, 0, 0, {0, 0, 0, 0}, 0, 0}

/** How many helpers a condition may have. */
#define GIUSTO_COND_HELPERS 4

int pthread_condattr_init(pthread_condattr_t *attr);
int pthread_condattr_destroy(pthread_condattr_t *attr);
/** By which clock deadlines are meant, which makes no difference. `EINVAL`: there is none such. */
int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock);
int pthread_condattr_getclock(const pthread_condattr_t *attr, clockid_t *clock);

/** `attr` may be null. */
int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
/** `EBUSY`: threads wait, or have been woken and not yet come back. */
int pthread_cond_destroy(pthread_cond_t *cond);
/**
 * May come back without a wake-up. The caller owns the mutex again, whatever is returned, but with
 * `ENOTRECOVERABLE`, as from `pthread_mutex_lock`, and `EPERM`: it did not own it, nothing was
 * done, or a program has written over the mutex. `EOWNERDEAD`: as from `pthread_mutex_lock`.
 * `EINVAL`: the condition was destroyed or written over, or has helpers, and the mutex does not
 * inherit, or other threads wait with another one.
 */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
/** `ETIMEDOUT`, `EINVAL` (no such instant), and those of `pthread_cond_wait`, with the mutex so. */
int pthread_cond_timedwait(
    pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until);
/** The same by a clock, of which there is one. `EINVAL`: there is no such clock. */
int pthread_cond_clockwait(
    pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until);
/** Wakes the thread that has waited longest. The caller need not own the mutex. */
int pthread_cond_signal(pthread_cond_t *cond);
/** Wakes all, in a time that does not depend on how many there are. */
int pthread_cond_broadcast(pthread_cond_t *cond);

/**
 * Thread `*helper` of this program, which can make the condition true, helps it from now on, until
 * it ends: while threads wait, it runs with the highest of their priorities. The first helper makes
 * the condition one whose threads wait with a robust mutex or one of `PTHREAD_PRIO_INHERIT` (else
 * `pthread_cond_wait` is `EINVAL`) and are woken in the order of their priorities, by threads that
 * own that mutex (else `pthread_cond_signal` and `_broadcast` are `EPERM`). A caller owns it, too.
 * `EPERM`: it does not, and threads wait. `EBUSY`: threads wait, and there was no helper before.
 * `ESRCH`: there is no such thread. `EEXIST`: it helps already. `ENOSPC`: `GIUSTO_COND_HELPERS`
 * threads do. `EINVAL`: the condition was destroyed.
 */
int pthread_cond_helpers_add(pthread_cond_t *cond, pthread_t *helper);
/** It helps no longer. `ENOENT`: it does not help; `EPERM` and `EINVAL` as above. */
int pthread_cond_helpers_del(pthread_cond_t *cond, pthread_t *helper);

#ifdef __cplusplus
}
#endif
#endif
