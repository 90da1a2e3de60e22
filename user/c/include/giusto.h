/**
 * Giusto for programs in C.
 *
 * A program is a function `int main(void)`. What it may use stands in its environment, by name, and
 * comes from the manifest (`giusto/env.h`). System calls are inline functions; each returns a
 * `giusto_status`: 0, or an error, which `giusto_error_name` tells. The page docs/c.md begins with
 * an example.
 *
 * | header | what |
 * |---|---|
 * | `giusto/abi.h` | numbers that kernel and programs agree on; generated |
 * | `giusto/call.h` | any system call, by its number |
 * | `giusto/env.h` | what the program was given: capabilities, memory, arguments, slots |
 * | `giusto/message.h` | messages: send, receive, call, reply |
 * | `giusto/object.h` | capabilities, endpoints, notifications, timers, memory |
 * | `giusto/thread.h` | further threads |
 * | `giusto/futex.h` | what mutexes and conditions are made of; those are in `pthread.h` |
 * | `giusto/reservation.h` | reservations of CPU time, under the kernel `tree` |
 * | `giusto/system.h` | clock, sleep, console, the end of the run |
 * | `giusto/panic.h` | errors that the program does not survive |
 */
#ifndef GIUSTO_H
#define GIUSTO_H

#include <giusto/abi.h>
#include <giusto/call.h>
#include <giusto/env.h>
#include <giusto/futex.h>
#include <giusto/message.h>
#include <giusto/object.h>
#include <giusto/panic.h>
#include <giusto/reservation.h>
#include <giusto/system.h>
#include <giusto/thread.h>

#endif
