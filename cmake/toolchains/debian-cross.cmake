# What the toolchain files of Debian's cross compilers have in common. Set before: INTAGLIO_TRIPLE,
# INTAGLIO_QEMU.
set(CMAKE_CXX_COMPILER ${INTAGLIO_TRIPLE}-g++)

# Programs of the build machine (flatc); libraries of the target. Debian's cross compilers search
# /usr/include last, so header-only packages of the build machine serve.
set(CMAKE_FIND_ROOT_PATH /usr/${INTAGLIO_TRIPLE})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)

# Tests run in the emulator, as the CPU that the environment variable QEMU_CPU names (without it, as
# `max`). -L is for programs that are not linked statically.
set(CMAKE_CROSSCOMPILING_EMULATOR ${INTAGLIO_QEMU} -L /usr/${INTAGLIO_TRIPLE})
