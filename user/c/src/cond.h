/* Conditions that have helpers, or have had some: helpers.c. */
#ifndef GIUSTO_COND_H
#define GIUSTO_COND_H

#include <giusto/futex.h>
#include <pthread.h>

/* States of a condition. */
enum { WHOLE = 0, DESTROYED = 1 };

/* Waits with a mutex that the calling thread owns. */
int giusto_wait_helped(pthread_cond_t *cond, pthread_mutex_t *mutex, struct giusto_limit limit);

/* Wakes one thread of those that wait, or all. */
int giusto_wake_helped(pthread_cond_t *cond, bool all);

#endif
