/* Text on the console. */
#include "internal.h"
#include <giusto.h>
#include <stdio.h>
#include <string.h>

/* The longest text that one system call writes. */
enum { CHUNK = GIUSTO_REGISTER_WORDS * 8 };
/* How long text waits before it is tried again, in nanoseconds. */
enum { PAUSE = 1000000 };

giusto_status giusto_write(giusto_slot console, const char *text, size_t length)
{
    giusto_status status = 0;
    while (length > 0 && status == 0) {
        size_t part = length < CHUNK ? length : CHUNK;
        struct giusto_arguments in = {{console, part}, {0}};
        memcpy(in.w, text, part);
        while ((status = giusto_status_of(giusto_syscall(GIUSTO_CALL_CONSOLE_WRITE, in)))
            == GIUSTO_ERROR_TIMEOUT)
            giusto_sleep(PAUSE);
        text += part;
        length -= part;
    }
    return status;
}

/* Text on its way to the console, gathered so that few system calls carry it. */
struct chunk {
    struct giusto_sink sink;
    giusto_slot console;
    size_t used;
    char bytes[CHUNK];
};

static void flush(struct chunk *chunk)
{
    if (chunk->console != GIUSTO_NOTHING)
        giusto_write(chunk->console, chunk->bytes, chunk->used);
    chunk->used = 0;
}

static void put(struct giusto_sink *sink, const char *text, size_t length)
{
    struct chunk *chunk = (struct chunk *)sink;
    sink->length += length;
    while (length > 0) {
        size_t room = CHUNK - chunk->used, part = length < room ? length : room;
        memcpy(chunk->bytes + chunk->used, text, part);
        chunk->used += part;
        text += part;
        length -= part;
        if (chunk->used == CHUNK)
            flush(chunk);
    }
}

int vprintf(const char *format, va_list arguments)
{
    struct chunk chunk = {{put, 0}, giusto_find_cap("console"), 0, {0}};
    giusto_format(&chunk.sink, format, arguments);
    flush(&chunk);
    return (int)chunk.sink.length;
}

int printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vprintf(format, arguments);
    va_end(arguments);
    return length;
}

int puts(const char *line)
{
    return printf("%s\n", line);
}

int putchar(int byte)
{
    char text = (char)byte;
    giusto_slot console = giusto_find_cap("console");
    if (console != GIUSTO_NOTHING)
        giusto_write(console, &text, 1);
    return (unsigned char)byte;
}

int getchar(void)
{
    giusto_slot console = giusto_find_cap("console");
    return console == GIUSTO_NOTHING ? EOF : giusto_read(console);
}
