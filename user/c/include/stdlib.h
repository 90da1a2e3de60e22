/**
 * A heap of fixed size, and the end of the program.
 *
 * The heap is `GIUSTO_HEAP_USUAL` bytes, unless the program has `GIUSTO_HEAP(bytes);` once outside
 * of functions. A program that allocates nothing has none. Each block takes 16 bytes more than was
 * asked for, and its size is a multiple of 16; blocks are placed first fit, in time proportional to
 * their number. Null means that there is no room, or that 0 bytes were asked for.
 *
 * A block that is freed twice, that `malloc` has not returned, or behind whose end, rounded up to
 * 16 bytes, was written is a panic when it is freed or resized. Threads share the heap: while one
 * is in a function, others wait, and it has the highest of their priorities.
 */
#ifndef GIUSTO_STDLIB_H
#define GIUSTO_STDLIB_H

#include <giusto/panic.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

/** Bytes of the heap of a program that does not say. */
#define GIUSTO_HEAP_USUAL 65536

/** Gives the program a heap of so many bytes, at compile time. */
#define GIUSTO_HEAP(bytes) \
    __attribute__((aligned(16))) unsigned char giusto_heap[bytes]; \
    const size_t giusto_heap_size = sizeof giusto_heap

/** The heap: `GIUSTO_HEAP` defines both. */
extern unsigned char giusto_heap[];
extern const size_t giusto_heap_size;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
/** Where it fails, the old block stays. */
void *realloc(void *block, size_t size);
void free(void *block);

/**
 * Ends the run with a status, if the program holds `system`; else only the thread, which waits for
 * ever. So does returning from `main`.
 */
__attribute__((noreturn)) void exit(int status);

/** A panic at the place where it stands. */
#define abort() giusto_panic("abort")
__attribute__((noreturn)) void(abort)(void);

#ifdef __cplusplus
}
#endif
#endif
