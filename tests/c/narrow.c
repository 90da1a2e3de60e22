/* Writes to a device's register by an instruction of so many bits, and is stopped at that. */
#include <giusto.h>

int main(void)
{
    volatile uint64_t *pins = giusto_memory("pins").words;
    uint64_t bits = giusto_number("bits", 64);
    if (bits == 8)
        *(volatile uint8_t *)pins = 1;
    else if (bits == 16)
        *(volatile uint16_t *)pins = 1;
    else
        *(volatile uint32_t *)pins = 1;
    *pins = 0;
    return 0;
}
