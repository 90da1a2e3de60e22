/* Formats of stdio.h. */
#include "internal.h"
#include <giusto.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A conversion as the format gives it. */
struct conversion {
    bool left, zero, plus, space, alternate;
    size_t width;
    /* Digits at least, or bytes of a string at most; -1 if it is not given. */
    ptrdiff_t precision;
    /* Bytes of an integer. */
    size_t size;
};

static void put(struct giusto_sink *sink, const char *text, size_t length)
{
    sink->put(sink, text, length);
}

static void repeat(struct giusto_sink *sink, char letter, size_t count)
{
    while (count-- > 0)
        put(sink, &letter, 1);
}

/* Pads a text to the width. */
static void padded(
    struct giusto_sink *sink, const struct conversion *how, const char *text, size_t length)
{
    size_t gap = how->width > length ? how->width - length : 0;
    if (!how->left)
        repeat(sink, ' ', gap);
    put(sink, text, length);
    if (how->left)
        repeat(sink, ' ', gap);
}

/* An integer: a sign or another prefix, then zeros, then digits. */
static void integer(struct giusto_sink *sink, const struct conversion *how, const char *prefix,
    uint64_t value, unsigned base, const char *letters)
{
    char digits[22];
    char *first = digits + sizeof digits;
    for (uint64_t rest = value; rest > 0; rest /= base)
        *--first = letters[rest % base];
    size_t length = (size_t)(digits + sizeof digits - first), before = strlen(prefix);
    size_t least = how->precision < 0 ? 1 : (size_t)how->precision;
    /* The alternate form of an octal number begins with a zero, which counts as a digit. */
    if (base == 8 && how->alternate && least <= length && (value != 0 || least == 0))
        least = length + 1;
    size_t zeros = least > length ? least - length : 0, whole = before + zeros + length;
    size_t gap = how->width > whole ? how->width - whole : 0;
    if (how->zero && !how->left && how->precision < 0) {
        zeros += gap;
        gap = 0;
    }
    if (!how->left)
        repeat(sink, ' ', gap);
    put(sink, prefix, before);
    repeat(sink, '0', zeros);
    put(sink, first, length);
    if (how->left)
        repeat(sink, ' ', gap);
}

/* The integer of a size among the arguments; with a sign, its value is extended. */
static uint64_t taken(va_list *arguments, size_t size, bool is_signed)
{
    uint64_t value =
        size == sizeof(uint64_t) ? va_arg(*arguments, uint64_t) : va_arg(*arguments, unsigned);
    unsigned above = 64 - 8 * (unsigned)size;
    if (is_signed)
        return (uint64_t)((int64_t)(value << above) >> above);
    return value << above >> above;
}

/* A width or a precision: digits, or `*` for an argument. */
static ptrdiff_t count(const char **format, va_list *arguments)
{
    if (**format == '*') {
        ++*format;
        return va_arg(*arguments, int);
    }
    int value = 0;
    for (; **format >= '0' && **format <= '9' && value < 100000; ++*format)
        value = value * 10 + (**format - '0');
    return value;
}

/* Reads what stands between the percent sign and the letter. */
static struct conversion read(const char **format, va_list *arguments)
{
    struct conversion how = {.precision = -1, .size = sizeof(int)};
    for (;; ++*format) {
        switch (**format) {
        case '-': how.left = true; continue;
        case '0': how.zero = true; continue;
        case '+': how.plus = true; continue;
        case ' ': how.space = true; continue;
        case '#': how.alternate = true; continue;
        default: break;
        }
        break;
    }
    ptrdiff_t width = count(format, arguments);
    how.left = how.left || width < 0;
    how.width = (size_t)(width < 0 ? -width : width);
    if (**format == '.') {
        ++*format;
        how.precision = count(format, arguments);
    }
    for (;; ++*format) {
        switch (**format) {
        case 'h': how.size /= 2; continue;
        case 'l': case 'j': case 'z': case 't': how.size = sizeof(uint64_t); continue;
        default: return how;
        }
    }
}

__attribute__((noreturn)) static void unknown(const char *format)
{
    char message[96] = "no such conversion in the format: ";
    strncpy(message + strlen(message), format, sizeof message - strlen(message) - 1);
    giusto_panic(message);
}

/* Converts an argument; false if there is no such conversion. */
static bool convert(
    struct giusto_sink *sink, const struct conversion *how, char letter, va_list *arguments)
{
    const char *lower = "0123456789abcdef", *upper = "0123456789ABCDEF";
    switch (letter) {
    case 'd':
    case 'i': {
        int64_t value = (int64_t)taken(arguments, how->size, true);
        const char *sign = value < 0 ? "-" : how->plus ? "+" : how->space ? " " : "";
        integer(sink, how, sign, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, lower);
        return true;
    }
    case 'u':
        integer(sink, how, "", taken(arguments, how->size, false), 10, lower);
        return true;
    case 'o':
        integer(sink, how, "", taken(arguments, how->size, false), 8, lower);
        return true;
    case 'x':
    case 'X': {
        uint64_t value = taken(arguments, how->size, false);
        const char *prefix = !how->alternate || value == 0 ? "" : letter == 'x' ? "0x" : "0X";
        integer(sink, how, prefix, value, 16, letter == 'x' ? lower : upper);
        return true;
    }
    case 'p':
        integer(sink, how, "0x", (uint64_t)(uintptr_t)va_arg(*arguments, void *), 16, lower);
        return true;
    case 'c': {
        char byte = (char)va_arg(*arguments, int);
        padded(sink, how, &byte, 1);
        return true;
    }
    case 's': {
        const char *text = va_arg(*arguments, const char *);
        text = text == NULL ? "(null)" : text;
        padded(sink, how, text, strnlen(text, (size_t)how->precision));
        return true;
    }
    case '%':
        put(sink, "%", 1);
        return true;
    default:
        return false;
    }
}

void giusto_format(struct giusto_sink *sink, const char *format, va_list arguments)
{
    va_list rest;
    va_copy(rest, arguments);
    const char *whole = format;
    for (;;) {
        size_t plain = strcspn(format, "%");
        put(sink, format, plain);
        format += plain;
        if (*format == '\0')
            break;
        format++;
        struct conversion how = read(&format, &rest);
        if (how.size == 0 || !convert(sink, &how, *format, &rest))
            unknown(whole);
        format++;
    }
    va_end(rest);
}
