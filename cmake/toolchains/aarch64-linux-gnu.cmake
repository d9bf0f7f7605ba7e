# AArch64 with Debian's cross compiler (package g++-aarch64-linux-gnu). docs/arm.md says how to use it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(INTAGLIO_TRIPLE aarch64-linux-gnu)
set(INTAGLIO_QEMU qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
