# 32-bit Arm (ARMv7-A, hard float) with Debian's cross compiler (package g++-arm-linux-gnueabihf).
# docs/arm.md says how to use it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(INTAGLIO_TRIPLE arm-linux-gnueabihf)
set(INTAGLIO_QEMU qemu-arm)
include(${CMAKE_CURRENT_LIST_DIR}/debian-cross.cmake)
