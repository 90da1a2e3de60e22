/* malloc: a heap of fixed size. */
#include "check.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, BYTES = 8192 };

GIUSTO_HEAP(BYTES);

/* As many blocks as there is room for; returns how many. */
static int fill(unsigned char *blocks[BLOCKS], size_t size)
{
    int count = 0;
    while (count < BLOCKS && (blocks[count] = malloc(size)) != NULL) {
        memset(blocks[count], count, size);
        count++;
    }
    return count;
}

static int whole(unsigned char *blocks[BLOCKS], int count, size_t size)
{
    for (int i = 0; i < count; i++)
        for (size_t at = 0; at < size; at++)
            if (blocks[i][at] != (unsigned char)i)
                return 0;
    return 1;
}

int heap(void)
{
    unsigned char *blocks[BLOCKS];
    int count = fill(blocks, 240);
    int failed = check("malloc: the heap is used up, then there is none",
        count == BYTES / 256 && malloc(1) == NULL && whole(blocks, count, 240));
    for (int i = 0; i < count; i += 2)
        free(blocks[i]);
    failed += check("malloc: freed blocks are found, but are too small for more",
        malloc(241) == NULL && (blocks[0] = malloc(240)) != NULL);
    for (int i = 0; i < count; i++)
        if (i % 2 == 1 || i == 0)
            free(blocks[i]);
    void *all = malloc(BYTES - 16);
    failed += check("malloc: neighbours that are free are one block", all != NULL);
    free(all);
    char *text = malloc(4);
    memcpy(text, "abc", 4);
    char *longer = realloc(text, 100);
    failed += check("malloc: realloc keeps what there is, or the block if it fails",
        longer != NULL && strcmp(longer, "abc") == 0 && realloc(longer, BYTES) == NULL
            && strcmp(longer, "abc") == 0);
    free(longer);
    unsigned char *zero = calloc(10, 10);
    int sum = 0;
    for (int i = 0; i < 100; i++)
        sum |= zero[i];
    free(zero);
    failed += check("malloc: calloc clears, and refuses what overflows",
        sum == 0 && calloc(SIZE_MAX / 2, 3) == NULL && malloc(SIZE_MAX) == NULL);
    return failed;
}
