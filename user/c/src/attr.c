/* What threads are to be like. */
#include "internal.h"
#include "record.h"
#include <errno.h>
#include <pthread.h>

/* Bytes of a stack as the manifest lays them out, with a page between two. */
static size_t laid_out(void)
{
    uint64_t row[2];
    return giusto_stacks(row) ? row[1] - GIUSTO_PAGE : 0;
}

int pthread_attr_init(pthread_attr_t *attr)
{
    *attr = (pthread_attr_t){laid_out(), {0}, SCHED_OTHER, 0, 0, 1};
    return 0;
}

int pthread_attr_destroy(pthread_attr_t *attr)
{
    if (!attr->initialised)
        return EINVAL;
    attr->initialised = 0;
    return 0;
}

int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
{
    if (!attr->initialised || size < PTHREAD_STACK_MIN || size > laid_out())
        return EINVAL;
    attr->stacksize = size;
    return 0;
}

int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *size)
{
    *size = attr->stacksize;
    return attr->initialised ? 0 : EINVAL;
}

/* Sets a member that is 0 or 1. */
static int set(const pthread_attr_t *attr, uint8_t *member, int value)
{
    if (!attr->initialised || value < 0 || value > 1)
        return EINVAL;
    *member = (uint8_t)value;
    return 0;
}

static int get(const pthread_attr_t *attr, uint8_t member, int *value)
{
    *value = member;
    return attr->initialised ? 0 : EINVAL;
}

int pthread_attr_setdetachstate(pthread_attr_t *attr, int state)
{
    return set(attr, &attr->detached, state);
}

int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state)
{
    return get(attr, attr->detached, state);
}

int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit)
{
    return set(attr, &attr->is_explicit, inherit);
}

int pthread_attr_getinheritsched(const pthread_attr_t *attr, int *inherit)
{
    return get(attr, attr->is_explicit, inherit);
}

int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy)
{
    uint8_t priority;
    struct sched_param least = {policy == SCHED_OTHER ? 0 : 1};
    int error = attr->initialised ? giusto_priority_of(policy, &least, &priority) : EINVAL;
    if (error == 0)
        attr->policy = (uint8_t)policy;
    return error;
}

int pthread_attr_getschedpolicy(const pthread_attr_t *attr, int *policy)
{
    return get(attr, attr->policy, policy);
}

int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param)
{
    bool good = param->sched_priority >= 0
        && param->sched_priority <= sched_get_priority_max(SCHED_RR);
    if (!attr->initialised || !good)
        return EINVAL;
    attr->param = *param;
    return 0;
}

int pthread_attr_getschedparam(const pthread_attr_t *attr, struct sched_param *param)
{
    *param = attr->param;
    return attr->initialised ? 0 : EINVAL;
}
