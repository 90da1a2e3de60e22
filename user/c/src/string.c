/* Memory and strings: string.h. */
#include <stdint.h>
#include <string.h>

/* Otherwise a loop here may become a call of the very function that it is the body of. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

/* Copies eight bytes, which need not be aligned. */
static inline void copy_word(unsigned char *to, const unsigned char *from)
{
    uint64_t word;
    __builtin_memcpy(&word, from, sizeof word);
    __builtin_memcpy(to, &word, sizeof word);
}

void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
    return memmove(to, from, length);
}

void *memmove(void *to, const void *from, size_t length)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    if ((uintptr_t)target - (uintptr_t)source >= length) {
        for (; length >= sizeof(uint64_t); length -= sizeof(uint64_t)) {
            copy_word(target, source);
            target += sizeof(uint64_t);
            source += sizeof(uint64_t);
        }
        while (length-- > 0)
            *target++ = *source++;
    } else {
        /* The target begins inside the source: from the end. */
        for (; length >= sizeof(uint64_t); length -= sizeof(uint64_t))
            copy_word(target + length - sizeof(uint64_t), source + length - sizeof(uint64_t));
        while (length-- > 0)
            target[length] = source[length];
    }
    return to;
}

void *memset(void *to, int byte, size_t length)
{
    unsigned char *target = to;
    uint64_t word = (unsigned char)byte * UINT64_C(0x0101010101010101);
    for (; length >= sizeof word; length -= sizeof word) {
        copy_word(target, (const unsigned char *)&word);
        target += sizeof word;
    }
    while (length-- > 0)
        *target++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t length)
{
    const unsigned char *first = a, *second = b;
    for (; length > 0; length--, first++, second++)
        if (*first != *second)
            return *first < *second ? -1 : 1;
    return 0;
}

void *memchr(const void *in, int byte, size_t length)
{
    const unsigned char *at = in;
    for (; length > 0; length--, at++)
        if (*at == (unsigned char)byte)
            return (void *)(uintptr_t)at;
    return NULL;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    return length;
}

size_t strnlen(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length] != '\0')
        length++;
    return length;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

int strncmp(const char *a, const char *b, size_t most)
{
    for (; most > 0; most--, a++, b++) {
        if (*a != *b)
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        if (*a == '\0')
            break;
    }
    return 0;
}

char *strchr(const char *in, int letter)
{
    for (;; in++) {
        if (*in == (char)letter)
            return (char *)(uintptr_t)in;
        if (*in == '\0')
            return NULL;
    }
}

char *strrchr(const char *in, int letter)
{
    const char *found = NULL;
    for (;; in++) {
        if (*in == (char)letter)
            found = in;
        if (*in == '\0')
            return (char *)(uintptr_t)found;
    }
}

char *strstr(const char *in, const char *wanted)
{
    size_t length = strlen(wanted);
    for (;; in++) {
        if (strncmp(in, wanted, length) == 0)
            return (char *)(uintptr_t)in;
        if (*in == '\0')
            return NULL;
    }
}

size_t strspn(const char *text, const char *letters)
{
    size_t length = 0;
    while (text[length] != '\0' && strchr(letters, text[length]) != NULL)
        length++;
    return length;
}

size_t strcspn(const char *text, const char *letters)
{
    size_t length = 0;
    while (text[length] != '\0' && strchr(letters, text[length]) == NULL)
        length++;
    return length;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    memcpy(to, from, strlen(from) + 1);
    return to;
}

char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
    size_t length = strnlen(from, size);
    memcpy(to, from, length);
    memset(to + length, 0, size - length);
    return to;
}

char *strcat(char *restrict to, const char *restrict from)
{
    strcpy(to + strlen(to), from);
    return to;
}
