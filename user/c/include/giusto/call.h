/**
 * Any system call. The functions of the other headers are made of this one.
 */
#ifndef GIUSTO_CALL_H
#define GIUSTO_CALL_H

#include <giusto/abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The number of a slot in the domain's capability table; `GIUSTO_NOTHING` is none. */
typedef uint32_t giusto_slot;

/** 0 if a call was done, else an `enum giusto_error`. */
typedef uint32_t giusto_status;

/** What a system call passes: docs/system-calls.md says what, by number. */
struct giusto_arguments {
    /** `a0` to `a5`. */
    uint64_t a[6];
    /** The message words. */
    uint64_t w[GIUSTO_REGISTER_WORDS];
};

/** What a system call returns. */
struct giusto_outcome {
    /** 0, or an error, to which `GIUSTO_STATUS_RECEIVE` is added if only a receive half failed. */
    uint64_t status;
    /** Badge and descriptor of the message that arrived, or the results. */
    uint64_t results[2];
    /** The message's first words. */
    uint64_t words[GIUSTO_REGISTER_WORDS];
};

/**
 * Makes a system call: an `enum giusto_call`, with options in the upper bits. Arguments and words
 * that are not set are passed as 0, so nothing else of the program gets out.
 */
static inline struct giusto_outcome giusto_syscall(uint64_t number, struct giusto_arguments in);

/** Whether it was done, or which error there was, in whatever half. */
static inline giusto_status giusto_status_of(struct giusto_outcome out)
{
    return (giusto_status)(out.status & ~(uint64_t)GIUSTO_STATUS_RECEIVE);
}

/** Whether only the receive half failed: what there was to send was sent. */
static inline bool giusto_in_receive(struct giusto_outcome out)
{
    return (out.status & GIUSTO_STATUS_RECEIVE) != 0;
}

/** What a failed call was about: its slots, and what was asked for, as `GIUSTO_USES` lists it. */
struct giusto_about {
    /** Three words. */
    uint64_t words[3];
};

/** Notes a failed call for `giusto_why`; returns the status. The functions of the headers do. */
giusto_status giusto_note(giusto_status status, uint64_t number, struct giusto_about about);

/**
 * Writes why a call of the calling thread has failed with this status, with a NUL at the end: which
 * slot, right or quota it failed for, with the names of slots that the manifest gives. The name of
 * the error alone, if another call has failed since, or it depends on no such thing. What has no
 * room is cut. Returns `text`.
 */
const char *giusto_why(giusto_status status, char *text, size_t size);

/** The name of a status's error, as docs/errors.md has it; "Ok" for 0, "?" if there is none. */
const char *giusto_error_name(giusto_status status);

#ifdef __x86_64__
#include <giusto/arch/x86_64.h>
#else
#error "Giusto has no system calls for this processor"
#endif

/** The status of a call that was about these words. A failure is noted. */
static inline giusto_status
giusto_noted(struct giusto_outcome out, uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    giusto_status status = giusto_status_of(out);
    struct giusto_about about = {{a, b, c}};
    return status == 0 ? 0 : giusto_note(status, number, about);
}

/** A call that has at most three arguments and no results. */
static inline giusto_status giusto_simple(uint64_t number, uint64_t a, uint64_t b, uint64_t c)
{
    struct giusto_arguments in = {{a, b, c}, {0}};
    return giusto_noted(giusto_syscall(number, in), number, a, b, c);
}

#ifdef __cplusplus
}
#endif
#endif
