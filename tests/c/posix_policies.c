/* Policies, levels and CPUs. */
#include "check.h"
#include "posix.h"
#include <errno.h>
#include <sched.h>

/* Whether the other one of two equal threads began before this one ended. */
static volatile int began, mixed;

static void *computes(void *argument)
{
    began++;
    spin(50 * MILLISECOND);
    if (began == 2 && argument != NULL)
        mixed = 1;
    return NULL;
}

static volatile unsigned order;

static void *yields(void *argument)
{
    unsigned n = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < 2; i++) {
        order = order * 10 + n;
        sched_yield();
    }
    return NULL;
}

static void *where(void *argument)
{
    cpu_set_t set;
    int failed = pthread_getaffinity_np(pthread_self(), sizeof set, &set);
    return CPU_COUNT(&set) == 1 && CPU_ISSET((uintptr_t)argument, &set) && failed == 0
        ? (void *)1 : NULL;
}

static void *inherits(void *argument)
{
    int policy;
    struct sched_param param;
    pthread_getschedparam(pthread_self(), &policy, &param);
    *(int *)argument = policy * 100 + param.sched_priority;
    return NULL;
}

static int level(int of)
{
    return sched_setparam(0, &(struct sched_param){of});
}

static int of_process(void)
{
    struct sched_param param = {LOW}, none = {0}, now = {-1};
    struct timespec slice;
    int failed = check("the first thread has the manifest's priority",
        sched_getscheduler(0) == levels && sched_getparam(0, &now) == 0
            && now.sched_priority == MAIN);
    failed += check("a thread changes its policy and level",
        sched_setscheduler(0, levels, &param) == levels && sched_getparam(0, &now) == 0
            && now.sched_priority == LOW && sched_setscheduler(0, SCHED_OTHER, &none) == levels
            && sched_getscheduler(0) == SCHED_OTHER && sched_setscheduler(0, levels, &param) == 0
            && level(MAIN) == 0 && sched_getparam(0, &now) == 0 && now.sched_priority == MAIN);
    failed += check("levels that there are not are refused",
        fails(level(0), EINVAL) && fails(level(100), EINVAL) && fails(level(TOO_HIGH), EPERM)
            && fails(sched_setscheduler(0, 9, &param), EINVAL)
            && fails(sched_setscheduler(0, SCHED_OTHER, &param), EINVAL)
            && fails(sched_setscheduler(0, levels, NULL), EINVAL));
    failed += check("the other policy is refused",
        fails(sched_setscheduler(0, refused, &param), ENOTSUP));
    failed += check("other processes are refused",
        fails(sched_setscheduler(7, levels, &param), ESRCH) && fails(sched_getscheduler(7), ESRCH)
            && fails(sched_setparam(7, &param), ESRCH) && fails(sched_getparam(7, &now), ESRCH)
            && fails(sched_rr_get_interval(7, &slice), ESRCH));
    failed += check("there are 99 levels",
        sched_get_priority_min(SCHED_RR) == 1 && sched_get_priority_max(SCHED_RR) == 99
            && sched_get_priority_min(SCHED_FIFO) == 1 && sched_get_priority_max(SCHED_FIFO) == 99
            && sched_get_priority_max(SCHED_OTHER) == 0 && sched_get_priority_min(SCHED_OTHER) == 0
            && fails(sched_get_priority_max(9), EINVAL)
            && fails(sched_get_priority_min(9), EINVAL));
    failed += check("the time slice is the system's",
        sched_rr_get_interval(0, &slice) == 0 && slice.tv_sec == 0
            && slice.tv_nsec == (levels == SCHED_RR ? 2 * MILLISECOND : 0));
    return failed;
}

static int of_threads(void)
{
    int now = 0, policy;
    struct sched_param param = {LOW};
    pthread_t thread;
    pthread_create(&thread, NULL, inherits, &now);
    joined(thread);
    int failed = check("a thread begins as its maker", now == levels * 100 + MAIN);
    now = 0;
    thread = make(LOW, inherits, &now);
    spin(3 * MILLISECOND);
    int before = now;
    param.sched_priority = MIDDLE;
    failed += check("a thread that is raised runs at once",
        before == 0 && pthread_setschedparam(thread, levels, &param) == 0
            && now == levels * 100 + MIDDLE);
    joined(thread);
    failed += check("there is no such thread",
        pthread_setschedparam(thread, levels, &param) == ESRCH
            && pthread_getschedparam(thread, &policy, &param) == ESRCH);
    failed += check("levels of threads are refused as those of the program",
        pthread_setschedparam(pthread_self(), refused, &param) == ENOTSUP
            && pthread_setschedparam(pthread_self(), levels, &(struct sched_param){0}) == EINVAL
            && pthread_setschedparam(pthread_self(), levels, &(struct sched_param){TOO_HIGH})
                == EPERM);
    pthread_t one = make(LOW, yields, (void *)1), other = make(LOW, yields, (void *)2);
    joined(one);
    joined(other);
    /* A time slice may end at any place. */
    failed += check("a thread that yields goes behind its equals",
        order == 1212 || levels == SCHED_RR);
    one = make(LOW, computes, (void *)1);
    other = make(LOW, computes, NULL);
    joined(one);
    joined(other);
    failed += check("equal threads take turns, by round robin alone",
        mixed == (levels == SCHED_RR));
    return failed;
}

static int affinity(void)
{
    cpu_set_t set, both;
    CPU_ZERO(&set);
    CPU_SET(1, &set);
    CPU_ZERO(&both);
    CPU_SET(0, &both);
    CPU_SET(1, &both);
    pthread_t thread = make(LOW, where, (void *)1);
    int failed = check("a thread moves to another CPU",
        pthread_setaffinity_np(thread, sizeof set, &set) == 0 && joined(thread) != NULL);
    thread = make(LOW, where, (void *)0);
    failed += check("a thread stays where it may be",
        pthread_setaffinity_np(thread, sizeof both, &both) == 0
            && pthread_getaffinity_np(thread, sizeof set, &set) == 0 && CPU_ISSET(0, &set)
            && !CPU_ISSET(1, &set) && joined(thread) != NULL);
    CPU_CLR(0, &both);
    failed += check("the first thread moves, and a thread begins where its maker is",
        pthread_setaffinity_np(pthread_self(), sizeof both, &both) == 0 && where((void *)1) != NULL
            && joined(make(HIGH, where, (void *)1)) != NULL);
    failed += check("the first thread moves back",
        pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0 && where((void *)0) != NULL);
    CPU_ZERO(&set);
    CPU_SET(5, &set);
    failed += check("CPUs that there are not are refused",
        pthread_setaffinity_np(pthread_self(), sizeof set, &set) == EINVAL
            && pthread_setaffinity_np(pthread_self(), 4, &both) == EINVAL
            && pthread_getaffinity_np(pthread_self(), 4, &set) == EINVAL
            && pthread_setaffinity_np(thread, sizeof both, &both) == ESRCH
            && pthread_getaffinity_np(thread, sizeof both, &both) == ESRCH);
    return failed;
}

int policies(void)
{
    return of_process() + of_threads() + affinity();
}
