/**
 * Capabilities, and the objects that a program can create. A new object goes into an empty slot
 * (`giusto_fresh_slot`), within the domain's quota. Errors: docs/system-calls.md, by call.
 */
#ifndef GIUSTO_OBJECT_H
#define GIUSTO_OBJECT_H

#include <giusto/call.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Copies a capability to an empty slot, with at most these rights: a sum of `GIUSTO_RIGHTS_`. */
static inline giusto_status giusto_copy(giusto_slot from, giusto_slot to, uint64_t rights)
{
    return giusto_simple(GIUSTO_CALL_CAP_COPY, from, to, rights);
}

/** `giusto_copy` that gives an unbadged capability to an endpoint or notification a badge. */
static inline giusto_status
giusto_mint(giusto_slot from, giusto_slot to, uint64_t rights, uint64_t badge)
{
    struct giusto_arguments in = {{from, to, rights, badge}, {0}};
    return giusto_noted(
        giusto_syscall(GIUSTO_CALL_CAP_COPY, in), GIUSTO_CALL_CAP_COPY, from, to, 0);
}

/** Empties a slot. */
static inline giusto_status giusto_delete(giusto_slot slot)
{
    return giusto_simple(GIUSTO_CALL_CAP_DELETE, slot, 0, 0);
}

/** Makes every other capability to the object stale. */
static inline giusto_status giusto_revoke(giusto_slot slot)
{
    return giusto_simple(GIUSTO_CALL_CAP_REVOKE, slot, 0, 0);
}

/** Destroys the object and empties the slot. To destroy a mapping is to unmap. */
static inline giusto_status giusto_destroy(giusto_slot slot)
{
    return giusto_simple(GIUSTO_CALL_DESTROY, slot, 0, 0);
}

/** Moves the reply right that the thread holds to an empty slot, to answer later by `send`. */
static inline giusto_status giusto_save_reply(giusto_slot to)
{
    return giusto_simple(GIUSTO_CALL_CAP_SAVE_REPLY, to, 0, 0);
}

/**
 * Creates an endpoint. Receiving on it also receives the signals of `notification`, unless that is
 * `GIUSTO_NOTHING`.
 */
static inline giusto_status giusto_create_endpoint(giusto_slot slot, giusto_slot notification)
{
    return giusto_simple(GIUSTO_CALL_ENDPOINT_CREATE, slot, notification, 0);
}

/** Creates a notification. */
static inline giusto_status giusto_create_notification(giusto_slot slot)
{
    return giusto_simple(GIUSTO_CALL_NOTIFICATION_CREATE, slot, 0, 0);
}

/** Signals a notification with the capability's badge, or bit 0 if it has none. */
static inline giusto_status giusto_signal(giusto_slot notification)
{
    return giusto_simple(GIUSTO_CALL_SIGNAL, notification, 0, 0);
}

/** Creates a timer that signals a notification. */
static inline giusto_status giusto_create_timer(giusto_slot slot, giusto_slot notification)
{
    return giusto_simple(GIUSTO_CALL_TIMER_CREATE, slot, notification, 0);
}

/** Arms a timer for an instant in nanoseconds since boot; 0 disarms it. */
static inline giusto_status giusto_set_timer(giusto_slot timer, uint64_t instant)
{
    return giusto_simple(GIUSTO_CALL_TIMER_SET, timer, instant, 0);
}

/** Unmasks an interrupt after it was delivered. */
static inline giusto_status giusto_acknowledge(giusto_slot interrupt)
{
    return giusto_simple(GIUSTO_CALL_INTERRUPT_ACK, interrupt, 0, 0);
}

/** Lets an interrupt come to a CPU from now on, which the program's domain may use. */
static inline giusto_status giusto_route(giusto_slot interrupt, uint64_t cpu)
{
    return giusto_simple(GIUSTO_CALL_INTERRUPT_ROUTE, interrupt, cpu, 0);
}

/** Creates a memory object of 1 to 512 pages (`GIUSTO_PAGE` bytes each), all zero. */
static inline giusto_status giusto_create_memory(giusto_slot slot, uint64_t pages)
{
    return giusto_simple(GIUSTO_CALL_MEMORY_CREATE, slot, pages, 0);
}

/**
 * Maps `pages` pages of a memory object, from its page `first` on, at a page-aligned address of the
 * program's own domain; the mapping goes into an empty slot. Rights: `GIUSTO_RIGHTS_READ`, and at
 * most one of `_WRITE` and `_EXECUTE`.
 */
static inline giusto_status giusto_map(giusto_slot mapping, giusto_slot memory, uint64_t first,
    uint64_t pages, uint64_t address, uint64_t rights)
{
    struct giusto_arguments in = {{GIUSTO_NOTHING, memory, address, pages, first,
        mapping | rights << GIUSTO_MAP_RIGHTS_SHIFT}, {0}};
    return giusto_noted(
        giusto_syscall(GIUSTO_CALL_MAP, in), GIUSTO_CALL_MAP, GIUSTO_NOTHING, memory, in.a[5]);
}

/** Where memory lies, to tell a device: its physical address, and its bytes from there. */
static inline giusto_status giusto_memory_address(
    giusto_slot memory, uint64_t *address, uint64_t *bytes)
{
    struct giusto_arguments in = {{memory}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_MEMORY_ADDRESS, in);
    *address = out.results[0];
    *bytes = out.results[1];
    return giusto_noted(out, GIUSTO_CALL_MEMORY_ADDRESS, memory, 0, 0);
}

/**
 * Reads 1, 2 or 4 bytes from the I/O port that lies `offset` behind the first one of a memory of
 * I/O ports.
 */
static inline giusto_status giusto_port_read(
    giusto_slot ports, uint64_t offset, uint64_t bytes, uint32_t *value)
{
    struct giusto_arguments in = {{ports, offset, bytes}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_PORT_READ, in);
    *value = (uint32_t) out.results[0];
    return giusto_noted(out, GIUSTO_CALL_PORT_READ, ports, offset, bytes);
}

/** Writes the lowest 1, 2 or 4 bytes of a value to such an I/O port. */
static inline giusto_status giusto_port_write(
    giusto_slot ports, uint64_t offset, uint64_t bytes, uint32_t value)
{
    struct giusto_arguments in = {{ports, offset, bytes, value}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_PORT_WRITE, in);
    return giusto_noted(out, GIUSTO_CALL_PORT_WRITE, ports, offset, bytes);
}

/** Changes the rights of a mapping. */
static inline giusto_status giusto_protect(giusto_slot mapping, uint64_t rights)
{
    return giusto_simple(GIUSTO_CALL_PROTECT, mapping, rights, 0);
}

#ifdef __cplusplus
}
#endif
#endif
