/* Message queues. */
#include "check.h"
#include "posix.h"
#include <errno.h>
#include <fcntl.h>
#include <giusto.h>
#include <mqueue.h>
#include <string.h>
#include <time.h>

static struct mq_attr three = {.mq_maxmsg = 3, .mq_msgsize = 8};

/* Sends a letter. */
static int put(mqd_t queue, char letter, unsigned priority)
{
    return mq_send(queue, &letter, 1, priority);
}

/* Receives a letter; 0 if that fails. */
static char get(mqd_t queue)
{
    char bytes[8];
    return mq_receive(queue, bytes, sizeof bytes, NULL) == 1 ? bytes[0] : 0;
}

static int names(void)
{
    char longest[40] = "/";
    memset(longest + 1, 'a', 31);
    mqd_t queue = mq_open("/a", O_CREAT | O_EXCL | O_RDWR, 0600, &three), more[MQ_OPEN_MAX];
    struct mq_attr wrong = {.mq_maxmsg = 0, .mq_msgsize = 8},
                   large = {.mq_maxmsg = 1000000, .mq_msgsize = 8};
    int failed = check("a name that there is, or is not",
        queue >= 0 && fails(mq_open("/a", O_CREAT | O_EXCL | O_RDWR, 0600, &three), EEXIST)
            && fails(mq_open("/b", O_RDWR), ENOENT) && fails(mq_unlink("/b"), ENOENT));
    failed += check("what is no name",
        fails(mq_open("b", O_RDWR), EINVAL) && fails(mq_open("/", O_RDWR), EINVAL)
            && fails(mq_open("/b/c", O_RDWR), EINVAL)
            && fails(mq_open(longest, O_RDWR), ENAMETOOLONG)
            && fails(mq_open("/a", O_ACCMODE), EINVAL));
    failed += check("a queue that cannot be made",
        fails(mq_open("/b", O_CREAT | O_RDWR, 0600, &wrong), EINVAL)
            && fails(mq_open("/b", O_CREAT | O_RDWR, 0600, &large), ENOSPC));
    int opened = 0;
    while (opened < MQ_OPEN_MAX && (more[opened] = mq_open("/a", O_RDWR)) >= 0)
        opened++;
    failed += check("descriptors are few", opened == MQ_OPEN_MAX - 1 && errno == EMFILE);
    while (opened > 0)
        failed += mq_close(more[--opened]) != 0;
    failed += check("a queue without a name is used further",
        mq_unlink("/a") == 0 && put(queue, 'x', 0) == 0 && fails(mq_open("/a", O_RDWR), ENOENT)
            && get(queue) == 'x' && mq_close(queue) == 0);
    failed += check("what is no descriptor",
        fails(mq_close(queue), EBADF) && fails(mq_close(-1), EBADF)
            && fails(put(MQ_OPEN_MAX, 'x', 0), EBADF) && fails(mq_getattr(queue, &three), EBADF)
            && fails(mq_setattr(queue, &three, NULL), EBADF));
    return failed;
}

/* Priorities, lengths, attributes: nothing waits. */
static int messages(mqd_t queue)
{
    char bytes[8];
    unsigned priority = 0;
    struct mq_attr attr, flags = {.mq_flags = O_NONBLOCK};
    put(queue, 'a', 1);
    put(queue, 'b', 31);
    put(queue, 'c', 1);
    int failed = check("a queue tells what it is like",
        mq_getattr(queue, &attr) == 0 && attr.mq_flags == 0 && attr.mq_maxmsg == 3
            && attr.mq_msgsize == 8 && attr.mq_curmsgs == 3);
    failed += check("flags are set",
        mq_setattr(queue, &flags, &attr) == 0 && attr.mq_flags == 0
            && mq_getattr(queue, &attr) == 0 && attr.mq_flags == O_NONBLOCK
            && fails(mq_setattr(queue, &(struct mq_attr){.mq_flags = 1}, NULL), EINVAL));
    failed += check("no room, and no wait", fails(put(queue, 'd', 0), EAGAIN));
    failed += check("priorities of messages",
        mq_receive(queue, bytes, 8, &priority) == 1 && bytes[0] == 'b' && priority == 31
            && get(queue) == 'a' && get(queue) == 'c');
    failed += check("no message, and no wait", fails(mq_receive(queue, bytes, 8, NULL), EAGAIN));
    failed += check("what is too long",
        fails(mq_send(queue, "123456789", 9, 0), EMSGSIZE)
            && fails(mq_receive(queue, bytes, 7, NULL), EMSGSIZE)
            && fails(put(queue, 'x', MQ_PRIO_MAX), EINVAL));
    failed += check("lengths are kept",
        mq_send(queue, "12345678", 8, 0) == 0 && mq_send(queue, "", 0, 0) == 0
            && mq_receive(queue, bytes, 8, NULL) == 8 && bytes[7] == '8'
            && mq_receive(queue, bytes, 8, NULL) == 0);
    mq_setattr(queue, &(struct mq_attr){.mq_flags = 0}, NULL);
    return failed;
}

static uint64_t nanoseconds(struct timespec at)
{
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

/* Messages that take long to copy, and the instant at which one is sent. */
enum { LARGE = 16384, INSTANTS = 100, MICROSECOND = 1000 };
static char large[LARGE];
static struct timespec sent_at;

static void *sends_large(void *argument)
{
    static const char message[LARGE];
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &sent_at, NULL);
    return (void *)(intptr_t)mq_send(*(mqd_t *)argument, message, LARGE, 0);
}

/* Whether a thread waits for a message until an instant in vain, though there is one then. */
static int misses(mqd_t queue, uint64_t after, int *late)
{
    struct mq_attr attr = {0};
    sent_at = in(MILLISECOND);
    struct timespec until = span(nanoseconds(sent_at) + after);
    pthread_t thread = make(LOW, sends_large, &queue);
    int in_vain = mq_timedreceive(queue, large, LARGE, NULL, &until) < 0;
    mq_getattr(queue, &attr);
    joined(thread);
    if (in_vain)
        mq_receive(queue, large, LARGE, NULL);
    *late += in_vain;
    return in_vain && attr.mq_curmsgs > 0;
}

/* Instants before, while and after a lower thread owns the queue. */
static int same_instants(void)
{
    struct mq_attr one = {.mq_maxmsg = 1, .mq_msgsize = LARGE};
    mqd_t queue = mq_open("/large", O_CREAT | O_RDWR, 0600, &one);
    int missed = 0, late = 0;
    for (uint64_t i = 0; i < INSTANTS; i++)
        missed += misses(queue, i * MICROSECOND, &late);
    mq_close(queue);
    mq_unlink("/large");
    return check("a message that comes with the instant is received",
        missed == 0 && late > 0 && late < INSTANTS);
}

/* Deadlines, with a queue that is empty. */
static int deadlines(mqd_t queue)
{
    char bytes[8];
    struct timespec until = in(3 * MILLISECOND), wrong = {0, -1};
    int failed = check("a message is waited for up to an instant",
        fails(mq_timedreceive(queue, bytes, 8, NULL, &until), ETIMEDOUT)
            && giusto_clock() >= nanoseconds(until)
            && fails(mq_timedreceive(queue, bytes, 8, NULL, &wrong), EINVAL));
    failed += check("an instant is not looked at without need",
        mq_timedsend(queue, "a", 1, 0, &wrong) == 0
            && mq_timedreceive(queue, bytes, 8, NULL, &wrong) == 1);
    for (int i = 0; i < 3; i++)
        put(queue, 'a', 0);
    until = in(3 * MILLISECOND);
    failed += check("room is waited for up to an instant",
        fails(mq_timedsend(queue, "d", 1, 0, &until), ETIMEDOUT)
            && fails(mq_timedsend(queue, "d", 1, 0, &wrong), EINVAL));
    for (int i = 0; i < 3; i++)
        failed += get(queue) != 'a';
    return failed;
}

/* Threads that wait, and others that end the wait. */
static volatile uint64_t done_at[2];

static void *receives(void *argument)
{
    char letter = get(*(mqd_t *)argument);
    done_at[0] = giusto_clock();
    return (void *)(intptr_t)letter;
}

static void *sends(void *argument)
{
    int failed = put(*(mqd_t *)argument, 'z', 0);
    done_at[0] = giusto_clock();
    return (void *)(intptr_t)failed;
}

static void *works_and_sends(void *argument)
{
    mqd_t queue = mq_open("/c", O_WRONLY);
    (void)argument;
    spin(4 * MILLISECOND);
    put(queue, 'w', 0);
    mq_close(queue);
    return NULL;
}

static void *works_and_receives(void *argument)
{
    mqd_t queue = mq_open("/c", O_RDONLY);
    (void)argument;
    spin(4 * MILLISECOND);
    intptr_t letter = get(queue);
    mq_close(queue);
    return (void *)letter;
}

static void *hogs(void *argument)
{
    spin(30 * MILLISECOND);
    done_at[1] = giusto_clock();
    return argument;
}

/* Whether a high thread that waits for a low one is not delayed by one in the middle. */
static int is_helped(mqd_t queue, void *(*low)(void *), void *(*high)(void *))
{
    done_at[0] = done_at[1] = 0;
    pthread_t one = make(LOW, low, NULL);
    rest(MILLISECOND);
    pthread_t other = make(HIGH, high, &queue), hog = make(MIDDLE, hogs, NULL);
    joined(other);
    joined(one);
    joined(hog);
    return done_at[0] != 0 && done_at[0] < done_at[1];
}

static int waits(mqd_t queue)
{
    pthread_t thread = make(HIGH, receives, &queue);
    put(queue, 'y', 0);
    int failed = check("a thread waits for a message", joined(thread) == (void *)'y');
    failed += check("who waits for a message lends to who sends",
        is_helped(queue, works_and_sends, receives));
    for (int i = 0; i < 3; i++)
        put(queue, 'a', 0);
    thread = make(HIGH, sends, &queue);
    failed += check("a thread waits for room", get(queue) == 'a' && joined(thread) == NULL);
    failed += check("who waits for room lends to who receives",
        is_helped(queue, works_and_receives, sends));
    return failed;
}

int queues(void)
{
    int failed = names();
    mqd_t queue = mq_open("/c", O_CREAT | O_RDWR, 0600, &three);
    mqd_t to = mq_open("/c", O_WRONLY), from = mq_open("/c", O_RDONLY);
    char bytes[8];
    failed += check("a descriptor is for one direction",
        fails(mq_receive(to, bytes, 8, NULL), EBADF) && fails(put(from, 'x', 0), EBADF)
            && put(to, 'x', 0) == 0 && get(from) == 'x');
    mq_close(to);
    mq_close(from);
    failed += messages(queue) + deadlines(queue) + same_instants() + waits(queue);
    mqd_t usual = mq_open("/usual", O_CREAT | O_RDWR, 0600, NULL);
    struct mq_attr attr = {0};
    failed += check("a queue of which nothing is said",
        mq_getattr(usual, &attr) == 0 && attr.mq_maxmsg == 10 && attr.mq_msgsize == 256);
    return failed;
}
