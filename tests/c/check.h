/* Lines that the laboratory counts. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

/* Reports whether something holds; returns how many did not: 0 or 1. */
static inline int check(const char *name, int holds)
{
    printf("%s %s\n", holds ? "ok" : "FAILED", name);
    return !holds;
}

/* The same of one kind among several. */
static inline int check_of(const char *kind, const char *name, int holds)
{
    printf("%s %s: %s\n", holds ? "ok" : "FAILED", kind, name);
    return !holds;
}

int strings(void);
int formats(void);
int heap(void);
int kernel(void);

#endif
