/* Names and descriptors of message queues. */
#include "mutex.h"
#include "queue.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A descriptor: free if it has no queue. */
struct descriptor {
    struct giusto_queue *queue;
    int mode;
};

static struct descriptor descriptors[MQ_OPEN_MAX];
/* The queues that have names or descriptors. */
static struct giusto_queue *queues;
/* Protects both, and the queues' parts that are of them. */
static pthread_mutex_t mutex = {.protocol = PTHREAD_PRIO_INHERIT};

/* What a queue is like that nothing is said of. */
static const struct mq_attr usual = {.mq_maxmsg = 10, .mq_msgsize = 256};

/* The descriptor with a number; null, and it is no such one. */
static struct descriptor *open_one(mqd_t number)
{
    if (number < 0 || number >= MQ_OPEN_MAX)
        return NULL;
    struct descriptor *found = &descriptors[number];
    return __atomic_load_n(&found->queue, __ATOMIC_ACQUIRE) == NULL ? NULL : found;
}

/* The same for a thread that sends or receives. */
static struct descriptor *open_for(mqd_t number, int mode)
{
    struct descriptor *found = open_one(number);
    int has = found == NULL ? -1 : found->mode & O_ACCMODE;
    return has == mode || has == O_RDWR ? found : NULL;
}

/* Copies a name before the table is owned; 0, or why it is none. */
static int copy_name(const char *name, char copy[GIUSTO_MQ_NAME_MAX + 1])
{
    if (name[0] != '/' || name[1] == '\0' || strchr(name + 1, '/') != NULL)
        return EINVAL;
    size_t length = strnlen(name, GIUSTO_MQ_NAME_MAX + 1);
    if (length > GIUSTO_MQ_NAME_MAX)
        return ENAMETOOLONG;
    memcpy(copy, name, length);
    copy[length] = '\0';
    return 0;
}

/* The queue with a name. */
static struct giusto_queue *find(const char *name)
{
    struct giusto_queue *queue = queues;
    while (queue != NULL && !(queue->named && strcmp(queue->name, name) == 0))
        queue = queue->next;
    return queue;
}

/* Frees a queue that has neither name nor descriptors. */
static void forget(struct giusto_queue *queue)
{
    if (queue->named || queue->opened > 0)
        return;
    struct giusto_queue **at = &queues;
    while (*at != queue)
        at = &(*at)->next;
    *at = queue->next;
    free(queue);
}

/* Finds a queue, or makes it with these attributes; 0, or why there is none. */
static int name(const char *text, int mode, const struct mq_attr *attr, struct giusto_queue **queue)
{
    *queue = find(text);
    if (*queue != NULL)
        return (mode & O_CREAT) != 0 && (mode & O_EXCL) != 0 ? EEXIST : 0;
    if ((mode & O_CREAT) == 0)
        return ENOENT;
    if (attr->mq_maxmsg <= 0 || attr->mq_msgsize <= 0)
        return EINVAL;
    struct giusto_queue *made
        = giusto_queue_new((size_t)attr->mq_maxmsg, (size_t)attr->mq_msgsize);
    if (made == NULL)
        return ENOSPC;
    strcpy(made->name, text);
    made->named = true;
    made->next = queues;
    queues = *queue = made;
    return 0;
}

/* `mq_open` of a caller that owns the table. */
static int open_named(const char *text, int mode, const struct mq_attr *attr, mqd_t *number)
{
    mqd_t n = 0;
    while (n < MQ_OPEN_MAX && descriptors[n].queue != NULL)
        n++;
    if (n == MQ_OPEN_MAX)
        return EMFILE;
    struct giusto_queue *queue;
    int error = name(text, mode, attr, &queue);
    if (error != 0)
        return error;
    int access = mode & O_ACCMODE;
    if (access != O_RDWR)
        error = giusto_queue_join(queue, access == O_WRONLY);
    if (error != 0)
        return error;
    queue->opened++;
    descriptors[n].mode = mode & (O_ACCMODE | O_NONBLOCK);
    __atomic_store_n(&descriptors[n].queue, queue, __ATOMIC_RELEASE);
    *number = n;
    return 0;
}

mqd_t mq_open(const char *name, int mode, ...)
{
    const struct mq_attr *attr = NULL;
    if ((mode & O_CREAT) != 0) {
        va_list arguments;
        va_start(arguments, mode);
        (void)va_arg(arguments, mode_t);
        attr = va_arg(arguments, const struct mq_attr *);
        va_end(arguments);
    }
    mqd_t number = -1;
    char copy[GIUSTO_MQ_NAME_MAX + 1];
    const struct mq_attr wanted = attr == NULL ? usual : *attr;
    int error = (mode & O_ACCMODE) == O_ACCMODE ? EINVAL : copy_name(name, copy);
    if (error == 0) {
        pthread_mutex_lock(&mutex);
        error = open_named(copy, mode, &wanted, &number);
        pthread_mutex_unlock(&mutex);
    }
    return error == 0 ? number : giusto_failed(error);
}

int mq_close(mqd_t number)
{
    pthread_mutex_lock(&mutex);
    struct descriptor *closed = open_one(number);
    if (closed != NULL) {
        struct giusto_queue *queue = closed->queue;
        closed->queue = NULL;
        queue->opened--;
        forget(queue);
    }
    pthread_mutex_unlock(&mutex);
    return giusto_failed(closed == NULL ? EBADF : 0);
}

int mq_unlink(const char *name)
{
    char copy[GIUSTO_MQ_NAME_MAX + 1];
    if (copy_name(name, copy) != 0)
        return giusto_failed(ENOENT);
    pthread_mutex_lock(&mutex);
    struct giusto_queue *queue = find(copy);
    if (queue != NULL) {
        queue->named = false;
        forget(queue);
    }
    pthread_mutex_unlock(&mutex);
    return giusto_failed(queue == NULL ? ENOENT : 0);
}

/* How long a call by a descriptor waits: an instant is copied before a queue is owned. */
static struct giusto_patience patience(const struct descriptor *by, const struct timespec *until)
{
    if ((by->mode & O_NONBLOCK) != 0)
        return (struct giusto_patience){GIUSTO_NOT_AT_ALL, {0}};
    if (until == NULL)
        return (struct giusto_patience){GIUSTO_FOR_EVER, {0}};
    return (struct giusto_patience){GIUSTO_UNTIL, *until};
}

int mq_timedsend(mqd_t number, const char *message, size_t length, unsigned priority,
    const struct timespec *until)
{
    const struct descriptor *by = open_for(number, O_WRONLY);
    if (by == NULL)
        return giusto_failed(EBADF);
    const struct giusto_patience waits = patience(by, until);
    return giusto_failed(giusto_queue_send(by->queue, message, length, priority, &waits));
}

int mq_send(mqd_t number, const char *message, size_t length, unsigned priority)
{
    return mq_timedsend(number, message, length, priority, NULL);
}

ssize_t mq_timedreceive(
    mqd_t number, char *message, size_t size, unsigned *priority, const struct timespec *until)
{
    const struct descriptor *by = open_for(number, O_RDONLY);
    if (by == NULL)
        return giusto_failed(EBADF);
    const struct giusto_patience waits = patience(by, until);
    int error = giusto_queue_receive(by->queue, message, &size, priority, &waits);
    return error == 0 ? (ssize_t)size : giusto_failed(error);
}

ssize_t mq_receive(mqd_t number, char *message, size_t size, unsigned *priority)
{
    return mq_timedreceive(number, message, size, priority, NULL);
}

int mq_getattr(mqd_t number, struct mq_attr *attr)
{
    const struct descriptor *of = open_one(number);
    if (of == NULL)
        return giusto_failed(EBADF);
    size_t count = 0;
    int error = giusto_queue_count(of->queue, &count);
    *attr = (struct mq_attr){of->mode & O_NONBLOCK, (long)of->queue->most, (long)of->queue->size,
        (long)count};
    return giusto_failed(error);
}

int mq_setattr(mqd_t number, const struct mq_attr *attr, struct mq_attr *old)
{
    struct descriptor *of = open_one(number);
    if (of == NULL || (attr->mq_flags & ~(long)O_NONBLOCK) != 0)
        return giusto_failed(of == NULL ? EBADF : EINVAL);
    if (old != NULL && mq_getattr(number, old) != 0)
        return -1;
    of->mode = (of->mode & O_ACCMODE) | (int)attr->mq_flags;
    return 0;
}
