/* What conditions need of mutexes. */
#ifndef GIUSTO_MUTEX_H
#define GIUSTO_MUTEX_H

#include <giusto/futex.h>
#include <pthread.h>

/* Whether there is such a clock. */
bool giusto_is_clock(clockid_t clock);

/* 0; or -1, and the number of the error is the calling thread's. */
int giusto_failed(int error);

/* The instant as a limit; false: there is no such instant. */
bool giusto_limit_of(const struct timespec *until, struct giusto_limit *limit);

/* Whether the thread with this id owns a mutex. */
bool giusto_owns(const pthread_mutex_t *mutex, uint32_t id);

/* The words of a mutex by which its owner inherits; null: it does not. */
uint64_t *giusto_inheriting(pthread_mutex_t *mutex);

/*
 * Locks a mutex again that a wait has given up, however long that takes. The thread owns it then,
 * also with `EOWNERDEAD`; but with `ENOTRECOVERABLE`, and with `EPERM`, if a program has written
 * over the words.
 */
int giusto_relock(pthread_mutex_t *mutex, uint32_t id);

/* The same of an inheriting mutex that the kernel has given to the calling thread. */
int giusto_given(pthread_mutex_t *mutex, uint32_t id, bool died);

#endif
