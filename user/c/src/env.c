/* The environment's text, which crate abi defines (`env.rs`). */
#include "internal.h"
#include <giusto.h>
#include <stdio.h>
#include <string.h>

const char *giusto_environment = "";

/* The value of the key `prefix` and `name`, and its length; null if there is none. */
static const char *find(const char *prefix, const char *name, size_t *length)
{
    size_t first = strlen(prefix), second = strlen(name);
    const char *line = giusto_environment;
    while (*line != '\0') {
        size_t whole = strcspn(line, "\n");
        if (whole > first + second && line[first + second] == '='
            && strncmp(line, prefix, first) == 0 && strncmp(line + first, name, second) == 0) {
            *length = whole - first - second - 1;
            return line + first + second + 1;
        }
        line += line[whole] == '\n' ? whole + 1 : whole;
    }
    return NULL;
}

/* The value of a digit; more than any base if it is none. */
static unsigned digit_of(char letter)
{
    if (letter >= '0' && letter <= '9')
        return (unsigned)(letter - '0');
    return letter >= 'a' && letter <= 'f' ? (unsigned)(letter - 'a') + 10 : 255;
}

/* Reads a number up to its last digit; the end is where it stopped, or null if it is too large. */
static uint64_t number(const char *text, unsigned base, const char **end)
{
    uint64_t value = 0;
    for (;; text++) {
        unsigned digit = digit_of(*text);
        if (digit >= base) {
            *end = text;
            return value;
        }
        if (value > (UINT64_MAX - digit) / base) {
            *end = NULL;
            return 0;
        }
        value = value * base + digit;
    }
}

/* Reads two numbers with a colon between them. */
static bool pair(const char *name, const char *prefix, unsigned base, uint64_t values[2])
{
    size_t length;
    const char *text = find(prefix, name, &length);
    if (text == NULL)
        return false;
    values[0] = number(text, base, &text);
    if (text == NULL || *text != ':')
        return false;
    values[1] = number(text + 1, base, &text);
    return text != NULL;
}

__attribute__((noreturn)) static void
missing(const struct giusto_place *place, const char *what, const char *name)
{
    char message[96];
    snprintf(message, sizeof message, "the manifest %s '%s'", what, name);
    giusto_panic_at(place, message);
}

const char *giusto_name(void)
{
    static char name[32];
    size_t length;
    const char *text = find("name", "", &length);
    if (text == NULL)
        return "?";
    /* Threads that ask at the same time write the same bytes. */
    memcpy(name, text, length < sizeof name ? length : sizeof name - 1);
    return name;
}

giusto_slot giusto_find_cap(const char *name)
{
    size_t length;
    const char *text = find("cap.", name, &length);
    return text == NULL ? GIUSTO_NOTHING : (giusto_slot)number(text, 10, &text);
}

giusto_slot giusto_cap_at(const struct giusto_place *place, const char *name)
{
    giusto_slot slot = giusto_find_cap(name);
    if (slot == GIUSTO_NOTHING)
        missing(place, "gives no capability", name);
    return slot;
}

struct giusto_memory giusto_find_memory(const char *name)
{
    struct giusto_memory memory = {NULL, 0};
    uint64_t values[2];
    if (pair(name, "mem.", 16, values)) {
        memory.words = (volatile uint64_t *)(uintptr_t)values[0];
        memory.bytes = values[1];
    }
    return memory;
}

struct giusto_memory giusto_panics(void)
{
    struct giusto_memory memory = {NULL, 0};
    uint64_t values[2];
    if (pair("log", "", 16, values) || pair("panics", "", 16, values)) {
        memory.words = (volatile uint64_t *)(uintptr_t)values[0];
        memory.bytes = values[1];
    }
    return memory;
}

struct giusto_memory giusto_memory_at(const struct giusto_place *place, const char *name)
{
    struct giusto_memory memory = giusto_find_memory(name);
    if (memory.words == NULL)
        missing(place, "maps no memory", name);
    return memory;
}

ptrdiff_t giusto_arg(const char *name, char *value, size_t size)
{
    size_t length;
    const char *text = find("arg.", name, &length);
    if (text == NULL)
        return -1;
    if (size > 0) {
        size_t copied = length < size ? length : size - 1;
        memcpy(value, text, copied);
        value[copied] = '\0';
    }
    return (ptrdiff_t)length;
}

uint64_t giusto_number_at(const struct giusto_place *place, const char *name, uint64_t otherwise)
{
    size_t length;
    const char *text = find("arg.", name, &length), *end;
    if (text == NULL)
        return otherwise;
    uint64_t value = number(text, 10, &end);
    if (length == 0 || end != text + length)
        missing(place, "gives what is no number for the argument", name);
    return value;
}

unsigned giusto_threads(void)
{
    size_t length;
    const char *text = find("threads", "", &length);
    return text == NULL ? 1 : (unsigned)number(text, 10, &text);
}

uint64_t giusto_first_priority(void)
{
    size_t length;
    const char *text = find("priority", "", &length);
    return text == NULL ? 0 : number(text, 10, &text);
}

/* A row of stacks or buffers, of which thread `n` has one. */
static void row(const char *name, unsigned n, uint64_t values[2])
{
    if (n >= giusto_threads() || !pair(name, "", 16, values))
        missing(GIUSTO_HERE, "does not lay out so many", name);
}

volatile uint64_t *giusto_buffer(unsigned n)
{
    uint64_t values[2];
    row("buffers", n, values);
    return (volatile uint64_t *)(uintptr_t)(values[0] + n * values[1]);
}

uint64_t giusto_stack(unsigned n)
{
    uint64_t values[2];
    row("stacks", n, values);
    return values[0] - n * values[1];
}

bool giusto_stacks(uint64_t row[2])
{
    return pair("stacks", "", 16, row) && row[1] != 0;
}

giusto_slot giusto_fresh_slot(void)
{
    static uint32_t handed_out;
    uint64_t values[2];
    if (!pair("slots", "", 10, values))
        return GIUSTO_NOTHING;
    uint32_t index = __atomic_load_n(&handed_out, __ATOMIC_RELAXED);
    do {
        if (values[0] + index >= values[1])
            return GIUSTO_NOTHING;
    } while (!__atomic_compare_exchange_n(
        &handed_out, &index, index + 1, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return (giusto_slot)values[0] + index;
}
