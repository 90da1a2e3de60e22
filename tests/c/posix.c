/* The parts of POSIX that a real-time program calls: what all parts use, and the program. */
#include "posix.h"
#include "check.h"
#include <errno.h>
#include <giusto.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

int levels, refused;

pthread_t make(int level, void *(*work)(void *), void *argument)
{
    pthread_attr_t attr;
    struct sched_param param = {level};
    pthread_t thread;
    int error = pthread_attr_init(&attr);
    error |= pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    error |= pthread_attr_setschedpolicy(&attr, levels);
    error |= pthread_attr_setschedparam(&attr, &param);
    error |= pthread_create(&thread, &attr, work, argument);
    error |= pthread_attr_destroy(&attr);
    if (error != 0)
        giusto_panic("a thread cannot be made");
    return thread;
}

void *joined(pthread_t thread)
{
    void *value = NULL;
    if (pthread_join(thread, &value) != 0)
        giusto_panic("a thread cannot be joined");
    return value;
}

struct timespec span(uint64_t nanoseconds)
{
    return (struct timespec){(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
}

struct timespec in(uint64_t nanoseconds)
{
    return span(giusto_clock() + nanoseconds);
}

void rest(uint64_t nanoseconds)
{
    struct timespec time = span(nanoseconds);
    nanosleep(&time, NULL);
}

void spin(uint64_t nanoseconds)
{
    uint64_t end = giusto_clock() + nanoseconds;
    while (giusto_clock() < end)
        ;
}

int fails(long returned, int number)
{
    int error = errno;
    errno = 0;
    return returned == -1 && error == number;
}

int main(void)
{
    levels = giusto_number("fifo", 0) ? SCHED_FIFO : SCHED_RR;
    refused = levels == SCHED_RR ? SCHED_FIFO : SCHED_RR;
    int failed = threads() + policies() + clocks() + queues();
    failed += check("memory is locked, as all is",
        mlockall(MCL_CURRENT | MCL_FUTURE) == 0 && fails(mlockall(8), EINVAL));
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
