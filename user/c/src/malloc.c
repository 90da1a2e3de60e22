/*
 * Blocks of a heap of fixed size: stdlib.h.
 *
 * The heap is a row of blocks, each with a header before it; the last block ends where the heap
 * does. A header's mark depends on its address, its size and whether the block is used, so that a
 * header that was written over is noticed. Neighbours that are free become one block when a search
 * passes them.
 */
#include <errno.h>
#include <giusto/panic.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct header {
    /* Bytes of the block with its header: a multiple of 16. */
    size_t size;
    uint64_t mark;
};

#define UNIT sizeof(struct header)
_Static_assert(UNIT == 16, "blocks are aligned as the heap is");

/* Marks of used and of free blocks, before the address and size are mixed in. */
static const uint64_t USED = UINT64_C(0x5553454455534544), FREE = UINT64_C(0x4652454546524545);

/* Whether the heap is one free block at least. */
static bool ready;

/* The heap is one thread's at a time, which has the priority of those that wait for it. */
static pthread_mutex_t mutex = {.protocol = PTHREAD_PRIO_INHERIT};

static uint64_t mark(const struct header *block, uint64_t kind)
{
    return kind ^ (uintptr_t)block ^ block->size << 20;
}

static bool is(const struct header *block, uint64_t kind)
{
    return block->mark == mark(block, kind);
}

static void make(struct header *block, size_t size, uint64_t kind)
{
    block->size = size;
    block->mark = mark(block, kind);
}

static unsigned char *end(void)
{
    return giusto_heap + giusto_heap_size / UNIT * UNIT;
}

/* The block behind another; null behind the last. Panics if its header was written over. */
static struct header *next(struct header *block)
{
    struct header *behind = (struct header *)((unsigned char *)block + block->size);
    if ((unsigned char *)behind == end())
        return NULL;
    if (!is(behind, USED) && !is(behind, FREE))
        giusto_panic("a block of the heap was written beyond");
    return behind;
}

static void enter(void)
{
    int error = pthread_mutex_lock(&mutex);
    if (error != 0)
        giusto_panic(error == EOWNERDEAD ? "a thread has ended that was changing the heap"
                                         : "the heap's mutex was written over");
    if (!ready) {
        ready = true;
        if (giusto_heap_size >= UNIT)
            make((struct header *)giusto_heap, giusto_heap_size / UNIT * UNIT, FREE);
    }
}

static void leave(void)
{
    pthread_mutex_unlock(&mutex);
}

/* Joins a free block with those behind it that are free. */
static void join(struct header *block)
{
    for (struct header *behind = next(block); behind != NULL && is(behind, FREE);
         behind = next(block))
        make(block, block->size + behind->size, FREE);
}

/* Takes so many bytes of a free block; the rest stays free. */
static void take(struct header *block, size_t size)
{
    size_t rest = block->size - size;
    if (rest > 0)
        make((struct header *)((unsigned char *)block + size), rest, FREE);
    make(block, size, USED);
}

/* Bytes of a block for so many of the program's; 0 if no heap has them. */
static size_t whole(size_t size)
{
    return size == 0 || size > giusto_heap_size ? 0 : (size + 2 * UNIT - 1) / UNIT * UNIT;
}

static void *allocate(size_t size)
{
    size_t wanted = whole(size);
    if (wanted == 0 || giusto_heap_size < UNIT)
        return NULL;
    struct header *block = (struct header *)giusto_heap;
    if (!is(block, USED) && !is(block, FREE))
        giusto_panic("the heap was written over at its beginning");
    for (; block != NULL; block = next(block)) {
        if (!is(block, FREE))
            continue;
        join(block);
        if (block->size >= wanted) {
            take(block, wanted);
            return block + 1;
        }
    }
    return NULL;
}

/* The header of a block that the program has. */
static struct header *header(void *block)
{
    uintptr_t at = (uintptr_t)block, first = (uintptr_t)giusto_heap;
    if (at < first + UNIT || at >= (uintptr_t)end() || (at - first) % UNIT != 0)
        giusto_panic("this is no block of the heap");
    struct header *found = (struct header *)block - 1;
    if (is(found, FREE))
        giusto_panic("a block of the heap is used that was freed");
    if (!is(found, USED))
        giusto_panic("this is no block of the heap, or something was written before it");
    next(found);
    return found;
}

void *malloc(size_t size)
{
    enter();
    void *block = allocate(size);
    leave();
    return block;
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *block = malloc(bytes);
    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void free(void *block)
{
    if (block == NULL)
        return;
    enter();
    struct header *freed = header(block);
    make(freed, freed->size, FREE);
    leave();
}

void *realloc(void *block, size_t size)
{
    if (block == NULL)
        return malloc(size);
    enter();
    size_t old = header(block)->size - UNIT;
    void *larger = allocate(size);
    leave();
    if (larger != NULL) {
        memcpy(larger, block, old < size ? old : size);
        free(block);
    }
    return larger;
}
