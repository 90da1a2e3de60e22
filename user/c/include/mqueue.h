/**
 * Message queues between the threads of one program, as POSIX has them, without notification.
 *
 * Threads that wait lend their priority to those that can end the wait (S2G-07): a thread that
 * sends is a helper of those that wait for a message, and one that receives of those that wait for
 * room. It becomes one when it opens the queue with `O_WRONLY` or `O_RDONLY`, else with its first
 * message, and stays one until it ends. There are four of each kind at most
 * (`GIUSTO_COND_HELPERS`); a fifth sends and receives all the same, is lent nothing, and spends up
 * to four system calls more on each message. Of threads that wait, the one with the highest
 * priority goes first. If one that was woken is destroyed before it goes on, the next thread that
 * sends or receives wakes another one; until then that one waits.
 *
 * Sending and receiving take a time that does not depend on how many messages there are, but for
 * copying the message.
 *
 * Functions return -1 and set `errno` if they fail. With each of them `EBADF`: there is no such
 * descriptor, or it is not for that; and `ENOTRECOVERABLE`: a thread was destroyed while it changed
 * the queue. The next thread that uses the queue, or whose instant comes, is told that first, and
 * those that wait are then woken to be told: until then they wait. A queue is not closed while a
 * thread is in a function with it.
 */
#ifndef GIUSTO_MQUEUE_H
#define GIUSTO_MQUEUE_H

#include <fcntl.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Priorities of messages: below this, greater goes first. */
#define MQ_PRIO_MAX 32
/** Descriptors of a program. */
#define MQ_OPEN_MAX 16
/** Letters of a name, the stroke included. */
#define GIUSTO_MQ_NAME_MAX 31

/** A descriptor; -1 is none. */
typedef int mqd_t;

/** What a queue is like. */
struct mq_attr {
    /** `O_NONBLOCK` or 0. */
    long mq_flags;
    /** How many messages it has room for. */
    long mq_maxmsg;
    /** How long one may be, in bytes. */
    long mq_msgsize;
    /** How many there are. */
    long mq_curmsgs;
};

/**
 * Opens a queue: `/`, and letters without a further one. With `O_CREAT` two arguments follow, a
 * `mode_t`, of which nothing is made, and a `struct mq_attr *` with `mq_maxmsg` and `mq_msgsize`;
 * if that is null the queue has room for 10 messages of 256 bytes. It comes from the heap
 * (`stdlib.h`). `EEXIST`: it is there, and `O_EXCL` asks for a new one. `ENOENT`: it is not there.
 * `EINVAL`: the name, the mode or the attributes are none. `ENAMETOOLONG`: the name has more than
 * `GIUSTO_MQ_NAME_MAX` letters. `EMFILE`: `MQ_OPEN_MAX` descriptors are open. `ENOSPC`: the heap
 * has no room for it.
 */
mqd_t mq_open(const char *name, int mode, ...);
/** Closes a descriptor. A queue without name and descriptors is freed. */
int mq_close(mqd_t queue);
/** Takes a queue's name away. `ENOENT`: there is no queue of this name. */
int mq_unlink(const char *name);

/**
 * Sends a message, or waits until there is room. `EMSGSIZE`: it is too long. `EINVAL`: the priority
 * is `MQ_PRIO_MAX` or more. `EAGAIN`: there is no room, and the descriptor has `O_NONBLOCK`.
 */
int mq_send(mqd_t queue, const char *message, size_t length, unsigned priority);
/** The same up to an instant: `ETIMEDOUT`. `EINVAL`: it has to wait, and there is none such. */
int mq_timedsend(mqd_t queue, const char *message, size_t length, unsigned priority,
    const struct timespec *until);

/**
 * Receives the first message of the highest priority, or waits until there is one; returns its
 * length. `priority` may be null. `EMSGSIZE`: `size` is less than the queue's `mq_msgsize`.
 * `EAGAIN`: there is no message, and the descriptor has `O_NONBLOCK`.
 */
ssize_t mq_receive(mqd_t queue, char *message, size_t size, unsigned *priority);
/** The same up to an instant: `ETIMEDOUT`. `EINVAL`: it has to wait, and there is none such. */
ssize_t mq_timedreceive(
    mqd_t queue, char *message, size_t size, unsigned *priority, const struct timespec *until);

/** What a queue is like. */
int mq_getattr(mqd_t queue, struct mq_attr *attr);
/** Sets `O_NONBLOCK` of a descriptor, or not; `old` may be null. `EINVAL`: other flags. */
int mq_setattr(mqd_t queue, const struct mq_attr *attr, struct mq_attr *old);

#ifdef __cplusplus
}
#endif
#endif
