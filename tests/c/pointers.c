/*
 * Bad pointers: each stops a thread, which waits for its fault handler from then on. That is an
 * endpoint that nothing receives from, so what the thread owns then stays owned.
 */
#include "check.h"
#include <giusto.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { MILLISECOND = 1000000, CEILING = 60, SIZE = 8 };

/* What a bad pointer is given for. */
enum use {
    LEVEL, AFFINITY, ATTRIBUTES, MADE, JOINED, OLD_CEILING, SENT, RECEIVED, PRIORITY, INSTANT, NAME,
    UNLINKED, KIND, USES
};
static const char *const uses[USES] = {"a level", "CPUs", "attributes", "a new thread",
    "what a thread returns", "a ceiling", "a message", "room for a message", "a message's priority",
    "an instant", "a queue's name", "the name of a queue that loses it", "a queue's attributes"};

static pthread_t first;
static pthread_mutex_t mutex;
/* A queue without messages, and one with a message. */
static mqd_t empty, filled;
static volatile int returned;

static void *back(void *argument)
{
    return argument;
}

/* Gives an address at which no page is mapped. */
static void give(enum use use)
{
    void *nowhere = (void *)(uintptr_t)GIUSTO_PAGE;
    pthread_t made;
    char bytes[SIZE];
    switch (use) {
    case LEVEL:
        pthread_setschedparam(first, SCHED_RR, nowhere);
        break;
    case AFFINITY:
        pthread_setaffinity_np(first, sizeof(cpu_set_t), nowhere);
        break;
    case ATTRIBUTES:
        pthread_create(&made, nowhere, back, NULL);
        break;
    case MADE:
        pthread_create(nowhere, NULL, back, NULL);
        break;
    case JOINED:
        pthread_create(&made, NULL, back, NULL);
        pthread_join(made, nowhere);
        break;
    case OLD_CEILING:
        pthread_mutex_setprioceiling(&mutex, CEILING, nowhere);
        break;
    case SENT:
        mq_send(empty, nowhere, SIZE, 0);
        break;
    case RECEIVED:
        mq_receive(filled, nowhere, SIZE, NULL);
        break;
    case PRIORITY:
        mq_receive(filled, bytes, SIZE, nowhere);
        break;
    case INSTANT:
        mq_timedreceive(empty, bytes, SIZE, NULL, nowhere);
        break;
    case NAME:
        mq_open(nowhere, O_RDWR);
        break;
    case UNLINKED:
        mq_unlink(nowhere);
        break;
    default:
        mq_open("/more", O_CREAT | O_RDWR, 0600, nowhere);
    }
}

static void *gives(void *use)
{
    give((enum use)(uintptr_t)use);
    returned++;
    return NULL;
}

/* Whether records, mutex and queues can be used, and are as they were. */
static int all_is_well(void)
{
    int policy;
    struct sched_param param;
    char bytes[SIZE];
    struct mq_attr attr = {0};
    mqd_t again = mq_open("/empty", O_RDWR | O_NONBLOCK);
    int sent = mq_send(again, "y", 1, 0);
    return pthread_getschedparam(first, &policy, &param) == 0 && sent == 0
        && mq_receive(again, bytes, SIZE, NULL) == 1 && mq_close(again) == 0
        && mq_getattr(filled, &attr) == 0 && attr.mq_curmsgs == 1
        && pthread_mutex_setprioceiling(&mutex, CEILING, NULL) == 0;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
    pthread_mutexattr_setprioceiling(&attr, CEILING);
    pthread_mutex_init(&mutex, &attr);
    struct mq_attr queue = {.mq_maxmsg = 2, .mq_msgsize = SIZE};
    first = pthread_self();
    empty = mq_open("/empty", O_CREAT | O_RDWR, 0600, &queue);
    filled = mq_open("/filled", O_CREAT | O_RDWR, 0600, &queue);
    int failed = mq_send(filled, "x", 1, 0) != 0;
    for (uintptr_t use = 0; use < USES; use++) {
        pthread_t thread;
        failed += pthread_create(&thread, NULL, gives, (void *)use) != 0;
        giusto_sleep(MILLISECOND);
        failed += check_of("a bad pointer stops its thread alone", uses[use],
            returned == 0 && all_is_well());
    }
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
