/**
 * How `printf` spells integers of a fixed size.
 */
#ifndef GIUSTO_INTTYPES_H
#define GIUSTO_INTTYPES_H

#include <stdint.h>

#define PRId8 "hhd"
#define PRIi8 "hhi"
#define PRIu8 "hhu"
#define PRIo8 "hho"
#define PRIx8 "hhx"
#define PRIX8 "hhX"
#define PRId16 "hd"
#define PRIi16 "hi"
#define PRIu16 "hu"
#define PRIo16 "ho"
#define PRIx16 "hx"
#define PRIX16 "hX"
#define PRId32 "d"
#define PRIi32 "i"
#define PRIu32 "u"
#define PRIo32 "o"
#define PRIx32 "x"
#define PRIX32 "X"
#define PRId64 __INT64_FMTd__
#define PRIi64 __INT64_FMTi__
#define PRIu64 __UINT64_FMTu__
#define PRIo64 __UINT64_FMTo__
#define PRIx64 __UINT64_FMTx__
#define PRIX64 __UINT64_FMTX__
#define PRIdPTR "ld"
#define PRIuPTR "lu"
#define PRIxPTR "lx"

/* Only some compilers say how they spell 64 bits; the others take a long. */
#ifndef __INT64_FMTd__
#define __INT64_FMTd__ "ld"
#define __INT64_FMTi__ "li"
#define __UINT64_FMTu__ "lu"
#define __UINT64_FMTo__ "lo"
#define __UINT64_FMTx__ "lx"
#define __UINT64_FMTX__ "lX"
#endif

#endif
