/* What mutexes are to be like. */
#include <errno.h>
#include <giusto/abi.h>
#include <pthread.h>

int pthread_mutexattr_init(pthread_mutexattr_t *attr)
{
    *attr = (pthread_mutexattr_t){PTHREAD_MUTEX_DEFAULT, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED,
        GIUSTO_PRIORITIES - 1, 1};
    return 0;
}

int pthread_mutexattr_destroy(pthread_mutexattr_t *attr)
{
    if (!attr->initialised)
        return EINVAL;
    attr->initialised = 0;
    return 0;
}

/* Sets a member that may be at most so much. */
static int set(const pthread_mutexattr_t *attr, uint8_t *member, int value, int most)
{
    if (!attr->initialised || value < 0 || value > most)
        return EINVAL;
    *member = (uint8_t)value;
    return 0;
}

static int get(const pthread_mutexattr_t *attr, uint8_t member, int *value)
{
    if (!attr->initialised)
        return EINVAL;
    *value = member;
    return 0;
}

int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int type)
{
    return set(attr, &attr->type, type, PTHREAD_MUTEX_RECURSIVE);
}

int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *type)
{
    return get(attr, attr->type, type);
}

int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attr, int protocol)
{
    return set(attr, &attr->protocol, protocol, PTHREAD_PRIO_PROTECT);
}

int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attr, int *protocol)
{
    return get(attr, attr->protocol, protocol);
}

int pthread_mutexattr_setrobust(pthread_mutexattr_t *attr, int robust)
{
    return set(attr, &attr->robust, robust, PTHREAD_MUTEX_ROBUST);
}

int pthread_mutexattr_getrobust(const pthread_mutexattr_t *attr, int *robust)
{
    return get(attr, attr->robust, robust);
}

int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *attr, int ceiling)
{
    return set(attr, &attr->ceiling, ceiling, GIUSTO_PRIORITIES - 1);
}

int pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *attr, int *ceiling)
{
    return get(attr, attr->ceiling, ceiling);
}
