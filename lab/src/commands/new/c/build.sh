#!/bin/sh
# Builds the programs: ./build.sh, or CC=clang ./build.sh
set -eu
cd "$(dirname "$0")"
cc=${CC:-cc}
compile=$('@ROOT@/giusto' c --cflags --cc "$cc")
link=$('@ROOT@/giusto' c --libs --cc "$cc")
for program in client server; do
    "$cc" -std=c11 -O2 -g -Wall -Wextra $compile $program.c $link -o $program.elf
done
