/**
 * Memory and strings, as in C11.
 */
#ifndef GIUSTO_STRING_H
#define GIUSTO_STRING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

void *memcpy(void *__restrict to, const void *__restrict from, size_t length);
void *memmove(void *to, const void *from, size_t length);
void *memset(void *to, int byte, size_t length);
int memcmp(const void *a, const void *b, size_t length);
void *memchr(const void *in, int byte, size_t length);

size_t strlen(const char *text);
/** The length, but not more than `most`: no byte behind that is looked at. */
size_t strnlen(const char *text, size_t most);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t most);
char *strchr(const char *in, int letter);
char *strrchr(const char *in, int letter);
char *strstr(const char *in, const char *wanted);
size_t strspn(const char *text, const char *letters);
size_t strcspn(const char *text, const char *letters);
char *strcpy(char *__restrict to, const char *__restrict from);
char *strncpy(char *__restrict to, const char *__restrict from, size_t size);
char *strcat(char *__restrict to, const char *__restrict from);

#ifdef __cplusplus
}
#endif

#endif
