/* Policies, levels and CPUs of threads. */
#include "internal.h"
#include "mutex.h"
#include "record.h"
#include <errno.h>
#include <pthread.h>

/* The highest level. */
enum { HIGHEST = 99 };

/* The tick and the time slice. */
static void ticks(uint64_t both[2])
{
    struct giusto_arguments in = {{GIUSTO_FACT_TICK}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_FACT, in);
    both[0] = out.results[0];
    both[1] = out.results[1];
}

/* Whether threads of one priority take turns. */
static bool take_turns(const uint64_t both[2])
{
    return both[1] / both[0] != GIUSTO_NO_SLICE;
}

int giusto_policy_of_levels(void)
{
    uint64_t both[2];
    ticks(both);
    return take_turns(both) ? SCHED_RR : SCHED_FIFO;
}

int giusto_priority_of(int policy, const struct sched_param *param, uint8_t *priority)
{
    int least = sched_get_priority_min(policy);
    if (least < 0 || param == NULL || param->sched_priority < least
        || param->sched_priority > sched_get_priority_max(policy))
        return EINVAL;
    if (policy != SCHED_OTHER && policy != giusto_policy_of_levels())
        return ENOTSUP;
    *priority = (uint8_t)param->sched_priority;
    return 0;
}

/* The number of an error of changing a thread. */
static int number_of(giusto_status status)
{
    switch (status) {
    case 0:
        return 0;
    case GIUSTO_ERROR_STALE:
        return ESRCH;
    case GIUSTO_ERROR_CPU_NOT_ALLOWED:
    case GIUSTO_ERROR_INVALID_ARGUMENT:
        return EINVAL;
    default:
        /* The priority is too high, or the first thread's capability is not given. */
        return EPERM;
    }
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    uint8_t priority = 0;
    int error = giusto_priority_of(policy, param, &priority);
    giusto_enter_records();
    struct giusto_thread *changed = giusto_record(thread);
    if (changed == NULL)
        error = ESRCH;
    if (error == 0)
        error = number_of(giusto_set_priority(changed->slot, priority));
    if (error == 0) {
        changed->policy = (uint8_t)policy;
        changed->priority = priority;
    }
    giusto_leave_records();
    return error;
}

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
    giusto_enter_records();
    const struct giusto_thread *asked = giusto_record(thread);
    struct giusto_thread found = {0};
    if (asked != NULL)
        found = *asked;
    giusto_leave_records();
    if (asked == NULL)
        return ESRCH;
    *policy = found.policy;
    param->sched_priority = found.priority;
    return 0;
}

/* Policy and level of the calling thread; false, and `errno` is set: it has no record. */
static bool own(pid_t process, int *policy, struct sched_param *param)
{
    int error = process != 0 ? ESRCH : pthread_getschedparam(pthread_self(), policy, param);
    return giusto_failed(error) == 0;
}

int sched_setscheduler(pid_t process, int policy, const struct sched_param *param)
{
    int before;
    struct sched_param level;
    if (!own(process, &before, &level))
        return -1;
    int error = pthread_setschedparam(pthread_self(), policy, param);
    return error == 0 ? before : giusto_failed(error);
}

int sched_getscheduler(pid_t process)
{
    int policy;
    struct sched_param param;
    return own(process, &policy, &param) ? policy : -1;
}

int sched_setparam(pid_t process, const struct sched_param *param)
{
    int policy = sched_getscheduler(process);
    return policy < 0 ? -1 : giusto_failed(pthread_setschedparam(pthread_self(), policy, param));
}

int sched_getparam(pid_t process, struct sched_param *param)
{
    int policy;
    return own(process, &policy, param) ? 0 : -1;
}

/* One of two numbers, by policy. */
static int by_policy(int policy, int of_levels)
{
    switch (policy) {
    case SCHED_OTHER:
        return 0;
    case SCHED_FIFO:
    case SCHED_RR:
        return of_levels;
    default:
        return giusto_failed(EINVAL);
    }
}

int sched_get_priority_max(int policy)
{
    return by_policy(policy, HIGHEST);
}

int sched_get_priority_min(int policy)
{
    return by_policy(policy, 1);
}

int sched_yield(void)
{
    giusto_yield();
    return 0;
}

int sched_rr_get_interval(pid_t process, struct timespec *interval)
{
    const uint64_t second = 1000000000;
    if (process != 0)
        return giusto_failed(ESRCH);
    uint64_t both[2];
    ticks(both);
    uint64_t slice = take_turns(both) ? both[1] : 0;
    *interval = (struct timespec){(time_t)(slice / second), (long)(slice % second)};
    return 0;
}

/* Moves a thread to the first CPU of the set that its domain may use. */
static int move(struct giusto_thread *thread, uint64_t bits, uint64_t cpus)
{
    int error = EINVAL;
    for (uint32_t cpu = 0; cpu < cpus && error == EINVAL; cpu++) {
        if ((bits >> cpu & 1) == 0)
            continue;
        error = number_of(giusto_simple(GIUSTO_CALL_THREAD_MIGRATE, thread->slot, cpu, 0));
        if (error == 0)
            thread->cpu = cpu;
    }
    return error;
}

/* The CPU of a thread. */
static uint64_t where(const struct giusto_thread *thread, bool calls)
{
    uint64_t cpus[2];
    giusto_cpus(cpus);
    return calls ? cpus[1] : thread->cpu;
}

int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    if (size != sizeof *set)
        return EINVAL;
    const cpu_set_t wanted = *set;
    bool calls = thread == pthread_self();
    giusto_enter_records();
    struct giusto_thread *moved = giusto_record(thread);
    int error = moved == NULL ? ESRCH : 0;
    uint64_t cpus[2];
    giusto_cpus(cpus);
    if (moved != NULL && !CPU_ISSET(where(moved, calls), &wanted))
        error = move(moved, wanted.bits, cpus[0]);
    giusto_leave_records();
    return error;
}

int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
    if (size != sizeof *set)
        return EINVAL;
    bool calls = thread == pthread_self();
    giusto_enter_records();
    const struct giusto_thread *asked = giusto_record(thread);
    cpu_set_t found;
    CPU_ZERO(&found);
    if (asked != NULL)
        CPU_SET(where(asked, calls), &found);
    giusto_leave_records();
    *set = found;
    return asked == NULL ? ESRCH : 0;
}
