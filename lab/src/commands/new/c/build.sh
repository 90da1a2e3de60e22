#!/bin/sh
# Builds the programs: ./build.sh, or CC=clang ./build.sh
set -eu
cd "$(dirname "$0")"
beside='@ROOT@'
giusto=${GIUSTO_SDK:-$beside}/giusto
[ -x "$giusto" ] || {
    echo "build.sh: $giusto is not there: let GIUSTO_SDK name the folder of Giusto's SDK" >&2
    exit 2
}
cc=${CC:-cc}
compile=$("$giusto" c --cflags --cc "$cc")
link=$("$giusto" c --libs --cc "$cc")
for program in client server; do
    "$cc" -std=c11 -O2 -g -Wall -Wextra $compile $program.c $link -o $program.elf
done
