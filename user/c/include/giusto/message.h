/**
 * Messages: docs/ipc.md. Four words travel in registers; a longer message has its words from the
 * fifth on in the thread's buffer, each at its own index.
 *
 * | function | sends | receives |
 * |---|---|---|
 * | `giusto_send` | to an endpoint or a saved reply right | |
 * | `giusto_receive` | | from an endpoint or a notification |
 * | `giusto_call` | to an endpoint | the reply |
 * | `giusto_reply` | to the caller | |
 * | `giusto_reply_wait` | to the caller | from an endpoint or a notification |
 * | `giusto_exchange` | any | any |
 *
 * Those that receive put what arrived in the place of what was sent, and leave it as it is if they
 * fail.
 */
#ifndef GIUSTO_MESSAGE_H
#define GIUSTO_MESSAGE_H

#include <giusto/call.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A message. */
struct giusto_message {
    /** Length, label and marks: see `giusto_info`. */
    uint64_t info;
    /** Received: the badge of the sender's capability, or the bits of a notification. */
    uint64_t badge;
    /** The first words; those beyond the length mean nothing, but travel all the same. */
    uint64_t words[GIUSTO_REGISTER_WORDS];
};

/** How long an operation may block, its halves apart. */
struct giusto_wait {
    /** How long the send half may, and how long the receive half. */
    enum giusto_timeout send, receive;
    /** The instant that `GIUSTO_TIMEOUT_AT` means, in nanoseconds since boot. */
    uint64_t deadline;
};

/** The descriptor of a message with a label and so many words, `GIUSTO_MAX_WORDS` at most. */
static inline uint64_t giusto_info(uint32_t label, unsigned words)
{
    return (uint64_t)label << GIUSTO_INFO_LABEL_SHIFT | words;
}

/** A message of up to two words, for what is short: the rest is 0. */
static inline struct giusto_message
giusto_message(uint32_t label, unsigned words, uint64_t first, uint64_t second)
{
    struct giusto_message message = {giusto_info(label, words), 0, {first, second}};
    return message;
}

/** The label, chosen by the sender; of a fault, an `enum giusto_fault_kind`. */
static inline uint32_t giusto_label(const struct giusto_message *message)
{
    return (uint32_t)(message->info >> GIUSTO_INFO_LABEL_SHIFT);
}

/** Length in words: the sender's choice. */
static inline unsigned giusto_length(const struct giusto_message *message)
{
    return (unsigned)(message->info & GIUSTO_INFO_LENGTH);
}

/** Whether a capability has come with it, in the slot that `giusto_accept` named. */
static inline bool giusto_has_capability(const struct giusto_message *message)
{
    return (message->info & GIUSTO_INFO_CAPABILITY) != 0;
}

/** Whether it is no message but a notification's bits, in `badge`. No sender can make one. */
static inline bool giusto_is_notification(const struct giusto_message *message)
{
    return (message->info & GIUSTO_INFO_NOTIFICATION) != 0;
}

/** Whether it is the fault of a thread whose handler the endpoint is. No sender can make one. */
static inline bool giusto_is_fault(const struct giusto_message *message)
{
    return (message->info & GIUSTO_INFO_FAULT) != 0;
}

/**
 * Names the capability that the next message with `GIUSTO_INFO_CAPABILITY` in its descriptor
 * carries, and the rights that the receiver gets at most.
 */
static inline void giusto_offer(volatile uint64_t *buffer, giusto_slot slot, uint64_t rights)
{
    buffer[GIUSTO_BUFFER_SEND_SLOT] = slot;
    buffer[GIUSTO_BUFFER_SEND_RIGHTS] = rights;
}

/** Names the free slot that takes the next capability that arrives; `GIUSTO_NOTHING` for none. */
static inline void giusto_accept(volatile uint64_t *buffer, giusto_slot slot)
{
    buffer[GIUSTO_BUFFER_RECEIVE_SLOT] = slot;
}

/** What a system call that receives has returned, as a message; its status. */
static inline giusto_status giusto_received(
    struct giusto_outcome out, uint64_t number, uint64_t slots, struct giusto_message *message)
{
    giusto_status status = giusto_noted(out, number, slots, 0, 0);
    if (status == 0) {
        struct giusto_message arrived = {out.results[1], out.results[0],
            {out.words[0], out.words[1], out.words[2], out.words[3]}};
        *message = arrived;
    }
    return status;
}

/** What a message operation passes. */
static inline struct giusto_arguments
giusto_message_arguments(uint64_t partners, const struct giusto_message *message, uint64_t deadline)
{
    const uint64_t *w = message->words;
    struct giusto_arguments in = {{partners, message->info, deadline}, {w[0], w[1], w[2], w[3]}};
    return in;
}

/**
 * The primitive: sends `message` to `to`, then receives from `from`. Either may be `GIUSTO_NOTHING`
 * or `GIUSTO_REPLY`. `giusto_received` has what arrived, `giusto_in_receive` says which half
 * failed: after a call whose receive half has, the server may have done what was asked. Errors:
 * docs/system-calls.md, `Ipc`.
 */
static inline struct giusto_outcome giusto_exchange(
    giusto_slot to, giusto_slot from, const struct giusto_message *message, struct giusto_wait wait)
{
    uint64_t number = GIUSTO_CALL_IPC | (uint64_t)wait.send << GIUSTO_SEND_TIMEOUT_SHIFT
        | (uint64_t)wait.receive << GIUSTO_RECEIVE_TIMEOUT_SHIFT;
    uint64_t partners = to | (uint64_t)from << GIUSTO_RECEIVE_SLOT_SHIFT;
    return giusto_syscall(number, giusto_message_arguments(partners, message, wait.deadline));
}

/** As long as it takes. */
static inline struct giusto_wait giusto_never(void)
{
    struct giusto_wait wait = {GIUSTO_TIMEOUT_NEVER, GIUSTO_TIMEOUT_NEVER, 0};
    return wait;
}

/** Until an instant in nanoseconds since boot; then `GIUSTO_ERROR_TIMEOUT`. */
static inline struct giusto_wait giusto_until(uint64_t deadline)
{
    struct giusto_wait wait = {GIUSTO_TIMEOUT_AT, GIUSTO_TIMEOUT_AT, deadline};
    return wait;
}

/** Not at all: `GIUSTO_ERROR_TIMEOUT` if the partner is not there. */
static inline struct giusto_wait giusto_at_once(void)
{
    struct giusto_wait wait = {GIUSTO_TIMEOUT_ZERO, GIUSTO_TIMEOUT_ZERO, 0};
    return wait;
}

/** Sends a message and waits until it is taken. */
static inline giusto_status
giusto_send(giusto_slot to, const struct giusto_message *message, struct giusto_wait wait)
{
    struct giusto_outcome out = giusto_exchange(to, GIUSTO_NOTHING, message, wait);
    return giusto_noted(out, GIUSTO_CALL_IPC, to, message->info, 0);
}

/** Receives a message or the bits of a notification. */
static inline giusto_status
giusto_receive(giusto_slot from, struct giusto_message *message, struct giusto_wait wait)
{
    struct giusto_message nothing = {0, 0, {0}};
    struct giusto_outcome out = giusto_exchange(GIUSTO_NOTHING, from, &nothing, wait);
    uint64_t slots = (uint64_t)from << GIUSTO_RECEIVE_SLOT_SHIFT;
    return giusto_received(out, GIUSTO_CALL_IPC, slots, message);
}

/** Sends a message and receives its reply. */
static inline giusto_status giusto_call(giusto_slot to, struct giusto_message *message)
{
    struct giusto_arguments in = giusto_message_arguments(to, message, 0);
    return giusto_received(giusto_syscall(GIUSTO_CALL_CALL, in), GIUSTO_CALL_CALL, to, message);
}

/**
 * `giusto_call` until an instant in nanoseconds since boot. When it fails, the server may have done
 * what was asked; `giusto_exchange` tells.
 */
static inline giusto_status
giusto_call_until(giusto_slot to, struct giusto_message *message, uint64_t deadline)
{
    struct giusto_wait wait = giusto_until(deadline);
    struct giusto_outcome out = giusto_exchange(to, GIUSTO_REPLY, message, wait);
    return giusto_received(out, GIUSTO_CALL_CALL, to, message);
}

/**
 * The calling thread is a server of an endpoint from now on, where it may receive, or no longer:
 * those that wait for it lend it their priorities.
 */
static inline giusto_status giusto_set_serving(giusto_slot on, bool serves)
{
    return giusto_simple(GIUSTO_CALL_SERVE, on, serves, 0);
}

/** Answers the caller whose reply right the thread holds. */
static inline giusto_status giusto_reply(const struct giusto_message *message)
{
    return giusto_send(GIUSTO_REPLY, message, giusto_at_once());
}

/** Answers the caller and receives the next message: the loop of a server. */
static inline giusto_status giusto_reply_wait(giusto_slot from, struct giusto_message *message)
{
    struct giusto_arguments in = giusto_message_arguments(from, message, 0);
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_REPLY_WAIT, in);
    return giusto_received(out, GIUSTO_CALL_REPLY_WAIT, from, message);
}

#ifdef __cplusplus
}
#endif
#endif
