/**
 * The environment: what the manifest gives the program, by name.
 */
#ifndef GIUSTO_ENV_H
#define GIUSTO_ENV_H

#include <giusto/call.h>
#include <giusto/panic.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Memory that others may write too. */
struct giusto_memory {
    /** Its first word; null if there is none. */
    volatile uint64_t *words;
    /** How long it is, in bytes. */
    size_t bytes;
};

/** The name of the program's domain. */
const char *giusto_name(void);

/** The slot of a capability. Panics, at the place of the call, if the manifest gives none. */
#define giusto_cap(name) giusto_cap_at(GIUSTO_HERE, name)

/** `giusto_cap` on behalf of another place. */
giusto_slot giusto_cap_at(const struct giusto_place *place, const char *name);

/** The slot of a capability; `GIUSTO_NOTHING` if the manifest gives none of this name. */
giusto_slot giusto_find_cap(const char *name);

/** The memory that the manifest maps under this name. Panics as `giusto_cap` does. */
#define giusto_memory(name) giusto_memory_at(GIUSTO_HERE, name)

/** `giusto_memory` on behalf of another place. */
struct giusto_memory giusto_memory_at(const struct giusto_place *place, const char *name);

/** The memory that the manifest maps under this name; `words` is null if there is none. */
struct giusto_memory giusto_find_memory(const char *name);

/**
 * Copies an argument, with a NUL behind it, to `value`, which has room for `size` bytes. Returns
 * its length without the NUL; -1, and nothing is copied, if it is not given. What is too long is
 * cut: the length is `size` or more then.
 */
ptrdiff_t giusto_arg(const char *name, char *value, size_t size);

/** An argument that is a decimal number; `otherwise` if it is not given. Panics if it is none. */
#define giusto_number(name, otherwise) giusto_number_at(GIUSTO_HERE, name, otherwise)

/** `giusto_number` on behalf of another place. */
uint64_t giusto_number_at(const struct giusto_place *place, const char *name, uint64_t otherwise);

/** How many threads the manifest lays out stacks and message buffers for: 1 or more. */
unsigned giusto_threads(void);

/**
 * The message buffer of thread `n`: `GIUSTO_BUFFER_WORDS` words. The first thread's is 0, and
 * mapped; that of a further one is mapped while the thread exists. Panics if `n` is not below
 * `giusto_threads()`.
 */
volatile uint64_t *giusto_buffer(unsigned n);

/** The top of the stack of thread `n`. Panics as `giusto_buffer` does. */
uint64_t giusto_stack(unsigned n);

/**
 * The next slot that is free to be filled, each once; threads may ask at the same time.
 * `GIUSTO_NOTHING` when all have been handed out: the call that it is passed to fails then.
 */
giusto_slot giusto_fresh_slot(void);

#ifdef __cplusplus
}
#endif
#endif
