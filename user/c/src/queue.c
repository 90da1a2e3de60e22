/*
 * A queue is a list for each priority. Its mutex is robust and inherits; both of its conditions are
 * of the kind that has helpers from the beginning, though they have none at first.
 */
#include "queue.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct giusto_queue *giusto_queue_new(size_t most, size_t size)
{
    size_t bytes, links, whole;
    if (most >= UINT32_MAX || __builtin_mul_overflow(most, size, &bytes)
        || __builtin_mul_overflow(most + 1, sizeof(struct giusto_link), &links)
        || __builtin_add_overflow(bytes, links, &whole)
        || __builtin_add_overflow(whole, sizeof(struct giusto_queue), &whole))
        return NULL;
    struct giusto_queue *queue = calloc(1, whole);
    if (queue == NULL)
        return NULL;
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&queue->mutex, &attr);
    queue->filled.helped = queue->emptied.helped = 1;
    queue->most = most;
    queue->size = size;
    queue->links = (struct giusto_link *)(queue + 1);
    queue->bytes = (unsigned char *)(queue->links + most + 1);
    for (uint32_t place = 1; place <= most; place++)
        queue->links[place].next = place < most ? place + 1 : 0;
    queue->free = 1;
    return queue;
}

/* Owns a queue. One whose owner has ended is lost: that is told to all that wait. */
static int enter(struct giusto_queue *queue)
{
    int error = pthread_mutex_lock(&queue->mutex);
    if (error != EOWNERDEAD)
        return error;
    pthread_mutex_unlock(&queue->mutex);
    return ENOTRECOVERABLE;
}

/* The calling thread, which owns the queue, helps those that wait for the condition. */
static void help(pthread_cond_t *cond)
{
    pthread_t own = pthread_self();
    for (int i = 0; i < GIUSTO_COND_HELPERS; i++)
        if (cond->helpers[i] == own)
            return;
    /* One helper too many is lent nothing. */
    pthread_cond_helpers_add(cond, &own);
}

int giusto_queue_join(struct giusto_queue *queue, bool sends)
{
    int error = enter(queue);
    if (error != 0)
        return error;
    help(sends ? &queue->filled : &queue->emptied);
    return pthread_mutex_unlock(&queue->mutex);
}

/* Waits for a condition of a queue that is owned. */
static int await(
    struct giusto_queue *queue, pthread_cond_t *cond, const struct giusto_patience *patience)
{
    switch (patience->how) {
    case GIUSTO_NOT_AT_ALL:
        return EAGAIN;
    case GIUSTO_FOR_EVER:
        return pthread_cond_wait(cond, &queue->mutex);
    default:
        return pthread_cond_timedwait(cond, &queue->mutex, &patience->until);
    }
}

/* Waits until there are not so many messages; the queue is owned if this returns 0. */
static int await_change(struct giusto_queue *queue, size_t count, pthread_cond_t *cond,
    pthread_cond_t *helped, const struct giusto_patience *patience)
{
    int error = enter(queue);
    if (error != 0)
        return error;
    help(helped);
    while (error == 0 && queue->count == count)
        error = await(queue, cond, patience);
    /* Other threads may have owned the queue between the instant and now. */
    if (error == 0 || (error == ETIMEDOUT && queue->count != count))
        return 0;
    if (error != ENOTRECOVERABLE && error != EPERM)
        pthread_mutex_unlock(&queue->mutex);
    return error == EOWNERDEAD ? ENOTRECOVERABLE : error;
}

/* Reads the first byte of a caller's memory, the last one, and one of each page in between. */
static void probe(const volatile unsigned char *bytes, size_t length)
{
    for (size_t at = 0; at < length; at += GIUSTO_PAGE)
        (void)bytes[at];
    if (length > 0)
        (void)bytes[length - 1];
}

/* The same, and leaves there what there was. */
static void probe_writing(volatile unsigned char *bytes, size_t length)
{
    for (size_t at = 0; at < length; at += GIUSTO_PAGE)
        bytes[at] = bytes[at];
    if (length > 0)
        bytes[length - 1] = bytes[length - 1];
}

/* Bytes of a place. */
static unsigned char *bytes_of(const struct giusto_queue *queue, uint32_t place)
{
    return queue->bytes + (place - 1) * queue->size;
}

/*
 * Lets threads go on, and gives the queue up: one that waits for a message if there are any, and
 * one that waits for room. A thread that was woken for another one may have ended.
 */
static int leave(struct giusto_queue *queue)
{
    int filled = queue->count > 0 ? pthread_cond_signal(&queue->filled) : 0;
    int emptied = queue->count < queue->most ? pthread_cond_signal(&queue->emptied) : 0;
    int left = pthread_mutex_unlock(&queue->mutex);
    return filled != 0 ? filled : emptied != 0 ? emptied : left;
}

int giusto_queue_send(struct giusto_queue *queue, const void *message, size_t length,
    unsigned priority, const struct giusto_patience *patience)
{
    if (length > queue->size || priority >= MQ_PRIO_MAX)
        return length > queue->size ? EMSGSIZE : EINVAL;
    probe(message, length);
    int error = await_change(queue, queue->most, &queue->emptied, &queue->filled, patience);
    if (error != 0)
        return error;
    uint32_t place = queue->free;
    struct giusto_link *links = queue->links;
    queue->free = links[place].next;
    links[place] = (struct giusto_link){0, length};
    memcpy(bytes_of(queue, place), message, length);
    uint32_t bit = UINT32_C(1) << priority;
    if ((queue->there & bit) != 0)
        links[queue->last[priority]].next = place;
    else
        queue->first[priority] = place;
    queue->last[priority] = place;
    queue->there |= bit;
    queue->count++;
    return leave(queue);
}

int giusto_queue_receive(struct giusto_queue *queue, void *message, size_t *length,
    unsigned *priority, const struct giusto_patience *patience)
{
    if (*length < queue->size)
        return EMSGSIZE;
    probe_writing(message, queue->size);
    if (priority != NULL)
        probe_writing((unsigned char *)priority, sizeof *priority);
    int error = await_change(queue, 0, &queue->filled, &queue->emptied, patience);
    if (error != 0)
        return error;
    unsigned highest = 31 - (unsigned)__builtin_clz(queue->there);
    uint32_t place = queue->first[highest];
    struct giusto_link *link = &queue->links[place];
    queue->first[highest] = link->next;
    if (link->next == 0)
        queue->there &= ~(UINT32_C(1) << highest);
    *length = link->length;
    memcpy(message, bytes_of(queue, place), link->length);
    link->next = queue->free;
    queue->free = place;
    queue->count--;
    if (priority != NULL)
        *priority = highest;
    return leave(queue);
}

int giusto_queue_count(struct giusto_queue *queue, size_t *count)
{
    int error = enter(queue);
    if (error != 0)
        return error;
    *count = queue->count;
    return pthread_mutex_unlock(&queue->mutex);
}
