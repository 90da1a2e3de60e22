/* Bounded queues of messages with priorities, whose threads help each other (S2G-07). */
#ifndef GIUSTO_QUEUE_H
#define GIUSTO_QUEUE_H

#include <mqueue.h>
#include <pthread.h>
#include <stdbool.h>

/* A message that waits, or a place for one. */
struct giusto_link {
    uint32_t next;
    size_t length;
};

/* A queue. `mqueue.c` has the members from `next` on, the others its mutex protects. */
struct giusto_queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled, emptied;
    size_t most, size, count;
    /* By priority, the first and the last message, and a bit where there is one. */
    uint32_t first[MQ_PRIO_MAX], last[MQ_PRIO_MAX], there;
    /* The first place without a message; the places, of which 0 is none, and their bytes. */
    uint32_t free;
    struct giusto_link *links;
    unsigned char *bytes;
    struct giusto_queue *next;
    unsigned opened;
    bool named;
    char name[GIUSTO_MQ_NAME_MAX + 1];
};

/* How long to wait: not at all, or as long as it takes, or until an instant. */
struct giusto_patience {
    enum { GIUSTO_NOT_AT_ALL, GIUSTO_FOR_EVER, GIUSTO_UNTIL } how;
    struct timespec until;
};

/* A queue for so many messages of so many bytes; null: there is no room. */
struct giusto_queue *giusto_queue_new(size_t most, size_t size);

/* The calling thread sends, or receives, from now on. */
int giusto_queue_join(struct giusto_queue *queue, bool sends);

/*
 * Numbers of errno.h. What `message` and `priority` point to is used before the queue is owned, so
 * that a bad pointer stops the thread there.
 */
int giusto_queue_send(struct giusto_queue *queue, const void *message, size_t length,
    unsigned priority, const struct giusto_patience *patience);
int giusto_queue_receive(struct giusto_queue *queue, void *message, size_t *length,
    unsigned *priority, const struct giusto_patience *patience);

/* How many messages there are. */
int giusto_queue_count(struct giusto_queue *queue, size_t *count);

#endif
