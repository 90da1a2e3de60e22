/* What conditions need of mutexes. */
#ifndef GIUSTO_MUTEX_H
#define GIUSTO_MUTEX_H

#include <giusto/futex.h>
#include <pthread.h>

/* The instant as a limit; false: there is no such instant. */
bool giusto_limit_of(const struct timespec *until, struct giusto_limit *limit);

/* Whether the thread with this id owns a mutex. */
bool giusto_owns(const pthread_mutex_t *mutex, uint32_t id);

#endif
