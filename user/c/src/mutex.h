/* What conditions need of mutexes. */
#ifndef GIUSTO_MUTEX_H
#define GIUSTO_MUTEX_H

#include <giusto/futex.h>
#include <pthread.h>

/* The instant as a limit; false: there is no such instant. */
bool giusto_limit_of(const struct timespec *until, struct giusto_limit *limit);

/* Whether the thread with this id owns a mutex. */
bool giusto_owns(const pthread_mutex_t *mutex, uint32_t id);

/* The words of a mutex by which its owner inherits, and needs nothing else; null: it does not. */
uint64_t *giusto_inheriting(pthread_mutex_t *mutex);

/* What the thread that has come to own a mutex is told, or that it does not. */
int giusto_owned(pthread_mutex_t *mutex, uint32_t id, int error);

#endif
