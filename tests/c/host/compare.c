/*
 * The library's string.h, snprintf and malloc on the host, with random arguments: against the
 * host's own functions, and against a copy of what each block holds.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *own_memcpy(void *, const void *, size_t);
void *own_memmove(void *, const void *, size_t);
void *own_memset(void *, int, size_t);
int own_memcmp(const void *, const void *, size_t);
void *own_memchr(const void *, int, size_t);
size_t own_strlen(const char *);
size_t own_strnlen(const char *, size_t);
int own_strcmp(const char *, const char *);
int own_strncmp(const char *, const char *, size_t);
char *own_strchr(const char *, int);
char *own_strrchr(const char *, int);
char *own_strstr(const char *, const char *);
size_t own_strspn(const char *, const char *);
size_t own_strcspn(const char *, const char *);
char *own_strcpy(char *, const char *);
char *own_strncpy(char *, const char *, size_t);
char *own_strcat(char *, const char *);
int own_snprintf(char *, size_t, const char *, ...);
void *own_malloc(size_t);
void *own_calloc(size_t, size_t);
void *own_realloc(void *, size_t);
void own_free(void *);
struct giusto_place;
void giusto_panic_at(const struct giusto_place *, const char *);
int own_mutex_lock(void *);
int own_mutex_unlock(void *);

enum { ROUNDS = 100000, ROOM = 64, BLOCKS = 24, HEAP = 4096 };

__attribute__((aligned(16))) unsigned char giusto_heap[HEAP];
const size_t giusto_heap_size = HEAP;

void giusto_panic_at(const struct giusto_place *place, const char *message)
{
    (void)place;
    fprintf(stderr, "panic: %s\n", message);
    exit(1);
}

/* There is one thread. */
int own_mutex_lock(void *mutex)
{
    (void)mutex;
    return 0;
}

int own_mutex_unlock(void *mutex)
{
    (void)mutex;
    return 0;
}

static uint64_t state = 1;

/* A number below a limit. */
static uint64_t below(uint64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

#define HOLDS(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "round %d: %s\n", round, #condition); \
            exit(1); \
        } \
    } while (0)

static int sign(int value)
{
    return (value > 0) - (value < 0);
}

/* Few letters, so that there is much to find; at most ROOM / 2 - 1 of them. */
static void random_text(char *text)
{
    static const char letters[] = {'a', 'b', 'c', '\x80'};
    size_t length = below(ROOM / 2);
    for (size_t i = 0; i < length; i++)
        text[i] = letters[below(sizeof letters)];
    text[length] = '\0';
}

static void ranges(int round)
{
    unsigned char ours[ROOM], theirs[ROOM];
    for (size_t i = 0; i < ROOM; i++)
        ours[i] = theirs[i] = (unsigned char)below(256);
    size_t from = below(ROOM), to = below(ROOM), length = below(ROOM - (from > to ? from : to));
    int byte = (int)below(256);
    HOLDS(own_memmove(ours + to, ours + from, length) == ours + to);
    memmove(theirs + to, theirs + from, length);
    HOLDS(memcmp(ours, theirs, ROOM) == 0);
    HOLDS(own_memset(ours + to, byte, length) == ours + to);
    memset(theirs + to, byte, length);
    HOLDS(memcmp(ours, theirs, ROOM) == 0);
    HOLDS(sign(own_memcmp(ours + to, ours + from, length))
        == sign(memcmp(ours + to, ours + from, length)));
    HOLDS(own_memchr(ours, byte, ROOM) == memchr(ours, byte, ROOM));
    HOLDS(own_memcpy(ours, theirs + ROOM - length, length) == ours
        && memcmp(ours, theirs + ROOM - length, length) == 0);
}

static void texts(int round)
{
    char a[ROOM], b[ROOM], ours[ROOM], theirs[ROOM];
    random_text(a);
    random_text(b);
    b[below(4)] = '\0';
    size_t most = below(ROOM / 2);
    int letter = below(8) == 0 ? '\0' : 'b';
    HOLDS(own_strlen(a) == strlen(a) && own_strnlen(a, most) == strnlen(a, most));
    HOLDS(sign(own_strcmp(a, b)) == sign(strcmp(a, b)));
    HOLDS(sign(own_strncmp(a, b, most)) == sign(strncmp(a, b, most)));
    HOLDS(own_strchr(a, letter) == strchr(a, letter));
    HOLDS(own_strrchr(a, letter) == strrchr(a, letter));
    HOLDS(own_strstr(a, b) == strstr(a, b));
    HOLDS(own_strspn(a, b) == strspn(a, b) && own_strcspn(a, b) == strcspn(a, b));
    memset(ours, '#', ROOM);
    memset(theirs, '#', ROOM);
    own_strncpy(ours, a, most);
    strncpy(theirs, a, most);
    HOLDS(memcmp(ours, theirs, ROOM) == 0);
    own_strcat(own_strcpy(ours, a), b);
    strcat(strcpy(theirs, a), b);
    HOLDS(strcmp(ours, theirs) == 0);
}

#define SAME(...) \
    HOLDS(own_snprintf(ours, size, __VA_ARGS__) == snprintf(theirs, size, __VA_ARGS__) \
        && memcmp(ours, theirs, sizeof ours) == 0)

/* Random flags, width, precision and length before each conversion. */
static void formats(int round)
{
    static const char *const lengths[] = {"hh", "h", "", "l", "ll", "j", "z", "t"};
    char format[40], ours[100], theirs[100], text[ROOM];
    size_t size = below(sizeof ours);
    char letter = "diuoxXcsp%"[below(10)];
    unsigned length = letter == 'c' || letter == 's' || letter == 'p' ? 2 : (unsigned)below(8);
    const char *flags = strchr("dixX", letter) != NULL || letter == 'o' ? "-0+ #" : "-";
    char *at = format;
    *at++ = '<';
    *at++ = '%';
    for (size_t i = 0; letter != '%' && i < strlen(flags); i++)
        if (below(3) == 0)
            *at++ = flags[i];
    if (letter != '%' && below(2) == 0)
        at += sprintf(at, "%d", (int)below(40));
    if (letter != '%' && letter != 'c' && letter != 'p' && below(2) == 0)
        at += sprintf(at, ".%d", (int)below(40));
    sprintf(at, "%s%c>", letter == '%' ? "" : lengths[length], letter);
    uint64_t value = below(3) == 0 ? below(3) - 1 : below(UINT64_MAX) >> below(64);
    memset(ours, '#', sizeof ours);
    memset(theirs, '#', sizeof theirs);
    random_text(text);
    if (letter == 's')
        SAME(format, text);
    else if (letter == 'p')
        SAME(format, (void *)(uintptr_t)(value | 1));
    else if (letter == 'c' || length <= 2)
        SAME(format, (int)value);
    else
        SAME(format, value);
}

/* What a block holds: the same byte everywhere. */
struct block {
    unsigned char *at;
    size_t size;
    unsigned char byte;
};

static void blocks(int round)
{
    static struct block all[BLOCKS];
    struct block *one = &all[below(BLOCKS)];
    size_t size = 1 + below(below(4) == 0 ? HEAP : 200);
    for (size_t i = 0; i < one->size; i++)
        HOLDS(one->at[i] == one->byte);
    if (one->at == NULL || below(4) == 0) {
        int fresh = one->at == NULL;
        unsigned char *at = fresh ? own_malloc(size) : own_realloc(one->at, size);
        if (at == NULL)
            return;
        for (size_t i = 0; !fresh && i < one->size && i < size; i++)
            HOLDS(at[i] == one->byte);
        HOLDS((uintptr_t)at % 16 == 0 && at >= giusto_heap && at + size <= giusto_heap + HEAP);
        struct block made = {at, size, (unsigned char)below(256)};
        *one = made;
        memset(at, made.byte, size);
    } else {
        own_free(one->at);
        one->at = NULL;
        one->size = 0;
    }
}

int main(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        ranges(round);
        texts(round);
        formats(round);
        blocks(round);
    }
    printf("%d rounds\n", ROUNDS);
    return 0;
}
