/* What the library's files know of each other. */
#ifndef GIUSTO_INTERNAL_H
#define GIUSTO_INTERNAL_H

#include <giusto/call.h>
#include <stdarg.h>
#include <stddef.h>

/* The environment: lines `key=value`, with a NUL at the end. */
extern const char *giusto_environment;

/* The row of stacks: the top of the first one, and how far they are apart. False: none is named. */
bool giusto_stacks(uint64_t row[2]);

/* Finds that row, at the program's start. */
void giusto_find_row(void);

/* A further thread is to run on stack `n`, which another one may have had. */
void giusto_forget(unsigned n);

/* `giusto_start_thread` without letting the thread run. */
giusto_status giusto_prepare_thread(
    unsigned n, giusto_slot slot, uint64_t priority, void (*work)(uint64_t), uint64_t argument);

/* The priority that the manifest gives the first thread. */
uint64_t giusto_first_priority(void);

/* Ends the thread. */
__attribute__((noreturn)) void giusto_wait_for_ever(void);

/* The endpoint that takes the faults of a supervised program; `GIUSTO_NOTHING` if it is not. */
giusto_slot giusto_fault_handler(void);

/* Where a panic leaves its reason: the log, or what stands in for it; empty if there is neither. */
struct giusto_memory giusto_panics(void);

/* Tells the supervisor, if there is one, that the program has ended. */
void giusto_tell_end(void);

/* Where formatted text goes. */
struct giusto_sink {
    void (*put)(struct giusto_sink *sink, const char *text, size_t length);
    /* Bytes that were put. */
    size_t length;
};

/* Formats: see stdio.h. */
void giusto_format(struct giusto_sink *sink, const char *format, va_list arguments);

#endif
