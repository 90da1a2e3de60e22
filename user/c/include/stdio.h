/**
 * Formatted text, on the console and into memory.
 *
 * Conversions: `d i u o x X c s p %`, with the flags `- 0 + # space`, a width and a precision
 * (numbers or `*`), and the lengths `hh h l ll j z t`. There is none for floating point, and no
 * `n`: what is not known is a panic that shows the format. The compiler checks arguments against
 * formats.
 *
 * Text for the console goes to the capability `console`, 32 bytes with each system call, at the end
 * of each function; without the capability nowhere. Other domains may print between two calls.
 */
#ifndef GIUSTO_STDIO_H
#define GIUSTO_STDIO_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EOF (-1)

/** A function whose argument number `at` is the format of those from `first` on. */
#define GIUSTO_FORMAT(at, first) __attribute__((format(printf, at, first)))

/** Prints; returns how many bytes. */
int printf(const char *format, ...) GIUSTO_FORMAT(1, 2);
int vprintf(const char *format, va_list arguments) GIUSTO_FORMAT(1, 0);

/**
 * Writes at most `size` bytes, the last of which is a NUL unless `size` is 0. Returns how long the
 * whole text is, without the NUL.
 */
int snprintf(char *to, size_t size, const char *format, ...) GIUSTO_FORMAT(3, 4);
int vsnprintf(char *to, size_t size, const char *format, va_list arguments) GIUSTO_FORMAT(3, 0);

/** Prints a line. */
int puts(const char *line);

/** Prints a byte; returns it. */
int putchar(int byte);

/** The next byte that was typed, or `EOF` if there is none yet: it does not wait. */
int getchar(void);

#ifdef __cplusplus
}
#endif
#endif
