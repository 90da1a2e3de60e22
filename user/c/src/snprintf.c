/* Formatted text into memory. */
#include "internal.h"
#include <stdio.h>
#include <string.h>

struct memory {
    struct giusto_sink sink;
    char *to;
    size_t size;
};

static void put(struct giusto_sink *sink, const char *text, size_t length)
{
    struct memory *memory = (struct memory *)sink;
    if (sink->length < memory->size) {
        size_t room = memory->size - sink->length;
        memcpy(memory->to + sink->length, text, length < room ? length : room);
    }
    sink->length += length;
}

int vsnprintf(char *to, size_t size, const char *format, va_list arguments)
{
    /* The last byte is for the NUL. */
    struct memory memory = {{put, 0}, to, size > 0 ? size - 1 : 0};
    giusto_format(&memory.sink, format, arguments);
    if (size > 0)
        to[memory.sink.length < memory.size ? memory.sink.length : memory.size] = '\0';
    return (int)memory.sink.length;
}

int snprintf(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    return length;
}
