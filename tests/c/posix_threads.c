/* Threads: their making, end and attributes. */
#include "check.h"
#include "posix.h"
#include <errno.h>
#include <stdlib.h>

/* Threads that the manifest lays out beside the first one. */
enum { STACKS = 6 };

static pthread_mutex_t robust;
static volatile unsigned counted;

static void *back(void *argument)
{
    return argument;
}

static void leave(void *value)
{
    pthread_exit(value);
}

static void *exits(void *argument)
{
    leave(argument);
    return NULL;
}

static void *itself(void *argument)
{
    *(pthread_t *)argument = pthread_self();
    return argument;
}

static void *counts(void *argument)
{
    counted++;
    return argument;
}

static volatile int over;

/* Goes on until the check is over. */
static void *stays(void *argument)
{
    while (!over)
        rest(MILLISECOND);
    return argument;
}

static void *joins(void *argument)
{
    return (void *)(intptr_t)pthread_join(*(pthread_t *)argument, NULL);
}

static void *locks(void *argument)
{
    pthread_mutex_lock(&robust);
    return argument;
}

static void *sets_errno(void *argument)
{
    int before = errno;
    errno = EBADF;
    return before == 0 ? argument : NULL;
}

static int lives(void)
{
    int some = 0, failed = 0;
    pthread_t said = 0, thread;
    int made = pthread_create(&thread, NULL, back, &some);
    failed += check("a thread returns its argument", made == 0 && joined(thread) == &some);
    failed += check("a thread ends in the middle", joined(make(LOW, exits, &some)) == &some);
    thread = make(HIGH, itself, &said);
    failed += check("its maker knows a thread as it does itself",
        joined(thread) == &said && pthread_equal(said, thread)
            && !pthread_equal(said, pthread_self()));
    errno = EMFILE;
    failed += check("each thread has its errno",
        joined(make(HIGH, sets_errno, &some)) == &some && errno == EMFILE);
    errno = 0;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    thread = make(HIGH, locks, NULL);
    failed += check("what an ended thread owned is told",
        pthread_mutex_lock(&robust) == EOWNERDEAD);
    joined(thread);
    return failed;
}

static int ends(void)
{
    pthread_t thread = make(HIGH, back, NULL);
    int failed = check("an ended thread is joined once",
        pthread_join(thread, NULL) == 0 && pthread_join(thread, NULL) == ESRCH
            && pthread_detach(thread) == ESRCH && pthread_join(0, NULL) == ESRCH);
    failed += check("a thread does not join itself",
        pthread_join(pthread_self(), NULL) == EDEADLK);
    thread = make(HIGH, stays, NULL);
    failed += check("a detached thread is not joined",
        pthread_detach(thread) == 0 && pthread_detach(thread) == EINVAL
            && pthread_join(thread, NULL) == EINVAL);
    over = 1;
    rest(5 * MILLISECOND);
    over = 0;
    thread = make(HIGH, stays, NULL);
    pthread_t joiner = make(HIGH, joins, &thread);
    failed += check("a thread is joined by one other", pthread_join(thread, NULL) == EINVAL);
    over = 1;
    failed += check("one thread joins another", joined(joiner) == NULL);
    return failed;
}

static int room(void)
{
    int failed = 0;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_t made[STACKS + 1];
    for (int i = 0; i < 4 * STACKS; i++) {
        failed += pthread_create(&made[0], &attr, counts, NULL) != 0;
        rest(MILLISECOND);
    }
    failed = check("stacks of detached threads are used again",
        failed == 0 && counted == 4 * STACKS);
    over = 0;
    for (int i = 0; i < STACKS; i++)
        made[i] = make(HIGH, stays, NULL);
    failed += check("there are as many threads as stacks",
        pthread_create(&made[STACKS], NULL, back, NULL) == EAGAIN);
    over = 1;
    for (int i = 0; i < STACKS; i++)
        joined(made[i]);
    return failed;
}

static int attributes(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    size_t size = 0;
    int state = -1, inherit = -1, policy = -1;
    struct sched_param param = {-1};
    pthread_attr_init(&attr);
    int failed = check("a stack is as the manifest lays it out",
        pthread_attr_getstacksize(&attr, &size) == 0 && size == 16384
            && pthread_attr_setstacksize(&attr, 8192) == 0
            && pthread_attr_setstacksize(&attr, 4095) == EINVAL
            && pthread_attr_setstacksize(&attr, 16385) == EINVAL
            && pthread_attr_getstacksize(&attr, &size) == 0 && size == 8192);
    failed += check("attributes are what was set",
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0
            && pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED) == 0
            && pthread_attr_setschedpolicy(&attr, levels) == 0
            && pthread_attr_setschedparam(&attr, &(struct sched_param){7}) == 0
            && pthread_attr_getdetachstate(&attr, &state) == 0 && state == PTHREAD_CREATE_DETACHED
            && pthread_attr_getinheritsched(&attr, &inherit) == 0
            && inherit == PTHREAD_EXPLICIT_SCHED && pthread_attr_getschedpolicy(&attr, &policy) == 0
            && policy == levels && pthread_attr_getschedparam(&attr, &param) == 0
            && param.sched_priority == 7);
    failed += check("attributes that there are not are refused",
        pthread_attr_setdetachstate(&attr, 2) == EINVAL
            && pthread_attr_setinheritsched(&attr, -1) == EINVAL
            && pthread_attr_setschedpolicy(&attr, 3) == EINVAL
            && pthread_attr_setschedpolicy(&attr, refused) == ENOTSUP
            && pthread_attr_setschedparam(&attr, &(struct sched_param){100}) == EINVAL);
    pthread_attr_setschedparam(&attr, &(struct sched_param){TOO_HIGH});
    failed += check("a thread is not above its domain",
        pthread_create(&thread, &attr, back, NULL) == EPERM);
    pthread_attr_setschedparam(&attr, &(struct sched_param){0});
    failed += check("a thread has a level of its policy",
        pthread_create(&thread, &attr, back, NULL) == EINVAL);
    failed += check("attributes that were destroyed are refused",
        pthread_attr_destroy(&attr) == 0 && pthread_attr_destroy(&attr) == EINVAL
            && pthread_attr_setstacksize(&attr, 8192) == EINVAL
            && pthread_create(&thread, &attr, back, NULL) == EINVAL);
    return failed;
}

/* Blocks that come and go while other threads do the same. */
static void *allocates(void *argument)
{
    for (int i = 0; i < 200; i++) {
        unsigned char *block = malloc(64);
        if (block == NULL)
            return NULL;
        block[63] = (unsigned char)i;
        spin(20000);
        free(block);
    }
    return argument;
}

int threads(void)
{
    int failed = lives() + ends() + room() + attributes(), some;
    pthread_t one = make(LOW, allocates, &some), other = make(LOW, allocates, &some);
    failed += check("threads share the heap", joined(one) == &some && joined(other) == &some);
    return failed;
}
