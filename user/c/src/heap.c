/* The heap of a program that does not say how large it is. */
#include <stdlib.h>

GIUSTO_HEAP(GIUSTO_HEAP_USUAL);
