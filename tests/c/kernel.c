/* System calls, and what the environment says. */
#include "check.h"
#include <giusto.h>
#include <stdio.h>
#include <string.h>

enum { DOUBLE = 5, LONG = 6, HELLO = 1, GIFT = 1000, MILLISECOND = 1000000 };

/*
 * A server as a thread: answers with the double, or with the sum of all words; for a capability
 * that comes along and can be deleted, it adds GIFT.
 */
static void server(uint64_t endpoint)
{
    volatile uint64_t *buffer = giusto_buffer(1);
    struct giusto_message message;
    giusto_slot taken = giusto_fresh_slot();
    giusto_accept(buffer, taken);
    giusto_status status = giusto_receive((giusto_slot)endpoint, &message, giusto_never());
    while (status == 0) {
        uint64_t sum = giusto_label(&message) == DOUBLE ? message.words[0] : 0;
        if (giusto_has_capability(&message) && giusto_delete(taken) == 0)
            sum += GIFT;
        for (unsigned i = 0; i < giusto_length(&message); i++)
            sum += i < GIUSTO_REGISTER_WORDS ? message.words[i] : buffer[i];
        message = giusto_message(giusto_label(&message), 1, sum, 0);
        status = giusto_reply_wait((giusto_slot)endpoint, &message);
    }
}

static int environment(void)
{
    char text[16], small[4];
    struct giusto_memory shared = giusto_memory("shared");
    int failed = check("environment: name, numbers and text",
        strcmp(giusto_name(), "suite") == 0 && giusto_number("number", 0) == 4711
            && giusto_number("absent", 3) == 3 && giusto_arg("text", text, sizeof text) == 9
            && strcmp(text, "two words") == 0 && giusto_arg("text", small, sizeof small) == 9
            && strcmp(small, "two") == 0 && giusto_arg("absent", text, sizeof text) == -1);
    failed += check("environment: capabilities and memory",
        giusto_find_cap("absent") == GIUSTO_NOTHING && giusto_find_memory("absent").words == NULL
            && shared.bytes == GIUSTO_PAGE && giusto_threads() == 2);
    shared.words[511] = 1;
    return failed;
}

/* Whether a failed call is told with this text, behind the slot and what stands in between. */
static bool is_told(giusto_status status, const char *call, giusto_slot slot, const char *rest)
{
    char told[120], expected[120];
    snprintf(expected, sizeof expected, "%s: slot %u%s", call, (unsigned)slot, rest);
    return status != 0 && strcmp(giusto_why(status, told, sizeof told), expected) == 0;
}

static int told(void)
{
    giusto_slot console = giusto_cap("console"), endpoint = giusto_fresh_slot();
    giusto_slot less = giusto_fresh_slot(), empty = giusto_fresh_slot();
    struct giusto_message message;
    char text[120], cut[8];
    int failed = check("a slot that is in use is told",
        is_told(giusto_create_endpoint(console, GIUSTO_NOTHING), "EndpointCreate", console,
            " (`console`) is in use: it holds a capability to the console"));
    failed += check("an object of another kind is told",
        is_told(giusto_signal(console), "Signal", console,
            " (`console`) holds the console, not a notification"));
    failed += check("an empty slot is told",
        is_told(giusto_delete(empty), "CapDelete", empty, " is empty"));
    failed += check("a missing right is told",
        giusto_create_endpoint(endpoint, GIUSTO_NOTHING) == 0
            && giusto_copy(endpoint, less, GIUSTO_RIGHTS_SEND) == 0
            && is_told(giusto_receive(less, &message, giusto_at_once()), "Ipc", less,
                " lacks the right to receive"));
    failed += check("a stale capability is told",
        giusto_revoke(endpoint) == 0
            && is_told(giusto_receive(less, &message, giusto_at_once()), "Ipc", less,
                ": its object is gone, or was revoked"));
    giusto_status status = giusto_create_memory(empty, 500);
    failed += check("a quota is told",
        status != 0 && strcmp(giusto_why(status, text, sizeof text),
            "MemoryCreate: the quota of memories or frames is used up") == 0);
    failed += check("what has no room is cut, and another error is its name alone",
        strcmp(giusto_why(status, cut, sizeof cut), "MemoryC") == 0
            && strcmp(giusto_why(GIUSTO_ERROR_STALE, text, sizeof text), "Stale") == 0);
    return failed + check("and all is given back",
        giusto_delete(less) == 0 && giusto_destroy(endpoint) == 0);
}

static int messages(void)
{
    giusto_slot endpoint = giusto_fresh_slot(), thread = giusto_fresh_slot();
    int failed = check("an endpoint is created, and a slot is filled once",
        giusto_create_endpoint(endpoint, GIUSTO_NOTHING) == 0
            && giusto_create_endpoint(endpoint, GIUSTO_NOTHING) == GIUSTO_ERROR_SLOT_OCCUPIED);
    struct giusto_message message = giusto_message(DOUBLE, 1, 21, 0);
    giusto_status late = giusto_call_until(endpoint, &message, giusto_clock() + MILLISECOND);
    failed += check("a call without a server is ended by its deadline",
        late == GIUSTO_ERROR_TIMEOUT && strcmp(giusto_error_name(late), "Timeout") == 0
            && message.words[0] == 21);
    failed += check("a thread starts",
        giusto_start_thread(1, thread, 100, server, endpoint) == 0);
    failed += check("a thread answers a short message",
        giusto_call(endpoint, &message) == 0 && message.words[0] == 42);
    volatile uint64_t *buffer = giusto_buffer(0);
    uint64_t sum = 0;
    message = giusto_message(LONG, GIUSTO_MAX_WORDS, 0, 1);
    for (unsigned i = 0; i < GIUSTO_MAX_WORDS; i++) {
        sum += i;
        if (i < GIUSTO_REGISTER_WORDS)
            message.words[i] = i;
        else
            buffer[i] = i;
    }
    failed += check("a thread answers the longest message",
        giusto_call(endpoint, &message) == 0 && message.words[0] == sum);
    message = giusto_message(LONG, GIUSTO_MAX_WORDS + 1, 0, 0);
    failed += check("a message that is too long is refused",
        giusto_call(endpoint, &message) == GIUSTO_ERROR_TOO_LONG);
    message = giusto_message(LONG, 1, 1, 0);
    message.info |= GIUSTO_INFO_CAPABILITY;
    giusto_offer(buffer, endpoint, GIUSTO_RIGHTS_SEND);
    failed += check("a capability goes along with a message",
        giusto_call(endpoint, &message) == 0 && message.words[0] == 1 + GIFT);
    failed += check("a thread is stopped, let go, and given another priority",
        giusto_suspend(thread) == 0 && giusto_set_priority(thread, 90) == 0
            && giusto_set_priority(thread, 101) == GIUSTO_ERROR_PRIORITY_TOO_HIGH
            && giusto_resume(thread) == 0 && giusto_yield() == 0);
    giusto_slot copy = giusto_fresh_slot();
    failed += check("a copy of a capability is made and revoked",
        giusto_copy(endpoint, copy, GIUSTO_RIGHTS_SEND) == 0 && giusto_revoke(endpoint) == 0
            && giusto_call(copy, &message) == GIUSTO_ERROR_STALE && giusto_delete(copy) == 0);
    failed += check("a thread is destroyed", giusto_destroy(thread) == 0);
    return failed;
}

static int signals(void)
{
    giusto_slot notification = giusto_fresh_slot(), timer = giusto_fresh_slot();
    giusto_slot badged = giusto_fresh_slot();
    struct giusto_message message = {0, 0, {0}};
    int failed = check("a notification is created, and has a badged copy",
        giusto_create_notification(notification) == 0
            && giusto_mint(notification, badged, GIUSTO_RIGHTS_SEND, 6) == 0);
    failed += check("nothing is signalled yet",
        giusto_receive(notification, &message, giusto_at_once()) == GIUSTO_ERROR_TIMEOUT);
    failed += check("a signal arrives with its badge",
        giusto_signal(badged) == 0
            && giusto_receive(notification, &message, giusto_at_once()) == 0
            && giusto_is_notification(&message) && message.badge == 6);
    uint64_t due = giusto_clock() + MILLISECOND;
    failed += check("a timer signals at its instant",
        giusto_create_timer(timer, badged) == 0 && giusto_set_timer(timer, due) == 0
            && giusto_receive(notification, &message, giusto_never()) == 0
            && message.badge == 6 && giusto_clock() >= due);
    due = giusto_clock() + MILLISECOND;
    giusto_sleep(MILLISECOND);
    failed += check("sleep lasts as long as it should", giusto_clock() >= due);
    return failed;
}

static int memory(void)
{
    const uint64_t at = UINT64_C(0x4000000000);
    giusto_slot object = giusto_fresh_slot(), mapping = giusto_fresh_slot();
    uint64_t rights = GIUSTO_RIGHTS_READ | GIUSTO_RIGHTS_WRITE;
    volatile uint64_t *words = (volatile uint64_t *)(uintptr_t)at;
    int mapped = giusto_create_memory(object, 2) == 0
        && giusto_map(mapping, object, 0, 2, at, rights) == 0;
    int failed = check("memory is created and mapped", mapped);
    if (mapped) {
        int zero = words[0] == 0 && words[1023] == 0;
        words[1023] = 5;
        failed += check("memory is zero, and keeps what is written", zero && words[1023] == 5);
    }
    failed += check("a mapping for writing and executing is refused",
        giusto_protect(mapping, rights | GIUSTO_RIGHTS_EXECUTE) == GIUSTO_ERROR_WRITE_EXECUTE);
    uint64_t address, bytes;
    failed += check("where memory of its own lies is not told",
        giusto_memory_address(object, &address, &bytes) == GIUSTO_ERROR_MISSING_RIGHT);
    uint32_t value;
    failed += check("memory has no I/O ports to read",
        giusto_port_read(object, 0, 1, &value) == GIUSTO_ERROR_INVALID_ARGUMENT);
    failed += check("memory has no I/O ports to write",
        giusto_port_write(object, 0, 1, 5) == GIUSTO_ERROR_INVALID_ARGUMENT);
    failed += check("memory is unmapped", giusto_destroy(mapping) == 0);
    return failed;
}

/* Floating point is kept across system calls and other threads. */
static int floating(void)
{
    volatile double third = 1.0 / 3.0;
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        sum += third;
        giusto_sleep(1000);
    }
    return check("floating point survives system calls", sum > 0.999 && sum < 1.001);
}

static int greeting(void)
{
    struct giusto_message message = giusto_message(HELLO, 1, 12, 0);
    giusto_status status = giusto_call(giusto_cap("greeting"), &message);
    return check("a server in Rust answers",
        status == 0 && giusto_label(&message) == GIUSTO_ANSWER_DONE && giusto_length(&message) == 2
            && message.words[0] == 144 && message.words[1] == 1);
}

/* A unit of time is an instruction, where time is counted so, and a nanosecond. */
static int work(void)
{
    enum { UNITS = 1000000 };
    uint64_t before = giusto_clock();
    giusto_work(UNITS);
    uint64_t took = giusto_clock() - before;
    return check("work takes its time", took > UNITS / 100 * 99 && took < UNITS / 100 * 110);
}

int kernel(void)
{
    return work() + environment() + told() + messages() + signals() + memory() + floating()
        + greeting();
}
