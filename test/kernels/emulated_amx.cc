// The AMX kernel, its tile registers emulated.
#include "intaglio/test/kernels/emulated_tiles.h"

#define kKernelAmx kEmulatedAmx
#define kKernelAmxInt8Rows kEmulatedAmxInt8Rows
#define kKernelAmxLittle kEmulatedAmxLittle
#define kKernelAmxWords kEmulatedAmxWords
#include "intaglio/kernels/x86/int8_amx.cc"
