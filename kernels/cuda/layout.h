// Where things lie: the packed channels in device memory, 16-byte chunks in shared memory, and
// which thread holds which element of a matrix instruction's operands. Plain arithmetic, so that
// the host tests what the device runs.
#ifndef INTAGLIO_KERNELS_CUDA_LAYOUT_H_
#define INTAGLIO_KERNELS_CUDA_LAYOUT_H_

#include <cstdint>

#include "intaglio/fixedpoint/registers.h"

namespace intaglio::cuda {

// Packed channels: one line of int8 per channel, contiguous along depth, padded with zeros to whole
// groups of kChannelGroup lines and whole kDepthUnits of depth.
inline constexpr int kChannelGroup = 64;
inline constexpr int kDepthUnit = 64;

// Bytes that one asynchronous copy, one row of a matrix fragment, and one vector load move.
inline constexpr int kChunk = 16;

// What a kernel reads the rows of a convolution from: no image, one whose rows are made of whole
// chunks, or any.
enum class Images : uint8_t { kNone, kWholeChunks, kAny };

INTAGLIO_INLINE constexpr int DivideUp(int a, int b) { return a / b + (a % b != 0); }
INTAGLIO_INLINE constexpr int RoundUp(int a, int b) { return DivideUp(a, b) * b; }

// The lines of a group stand in an order of their own. In a matrix instruction's result, thread t
// of a quad holds columns 8i + 2t and 8i + 2t + 1 of every block i of 8. Line 8i + 2t + e holds
// channel 16t + 2i + e, so that a thread's columns are 16 consecutive channels, which it finishes
// with vector loads and stores with vector stores, without a detour through shared memory.
INTAGLIO_INLINE constexpr int ChannelOfLine(int line) {
  const int q = line % kChannelGroup;
  return line - q + 16 * (q / 2 % 4) + 2 * (q / 8) + q % 2;
}
INTAGLIO_INLINE constexpr int LineOfChannel(int channel) {
  const int q = channel % kChannelGroup;
  return channel - q + 8 * (q % 16 / 2) + 2 * (q / 16) + q % 2;
}

// Byte offset of a chunk in a shared-memory tile whose lines hold kChunksPerLine chunks. Chunks are
// exchanged within their line such that 8 consecutive lines' chunks of one index lie in 8 different
// groups of 4 banks. With 8 chunks per line it is what bulk tensor copies call a 128-byte swizzle.
template <int kChunksPerLine>
INTAGLIO_INLINE constexpr int SwizzledOffset(int line, int chunk) {
  static_assert(kChunksPerLine == 4 || kChunksPerLine == 8);
  const int key = kChunksPerLine == 4 ? line / 2 % 4 : line % 8;
  return (line * kChunksPerLine + (chunk ^ key)) * kChunk;
}

// Accumulator r of a lane of mma.m16n8k32 on bytes (PTX ISA, "Matrix Fragments for mma.m16n8k32").
// The accumulators of wgmma.m64nNk32 repeat this: warp w holds rows 16w to 16w + 15, registers 4i
// to 4i + 3 columns 8i to 8i + 7.
struct AccumulatorPlace {
  int row;
  int col;
};
INTAGLIO_INLINE constexpr AccumulatorPlace PlaceInC(int lane, int r) {
  return {lane / 4 + 8 * (r / 2), lane % 4 * 2 + r % 2};
}

// ldmatrix.x4 reads four 8 x 16-byte matrices: lane l gives the address of row l % 8 of matrix
// l / 8, and receives, in register j, bytes 4 (l % 4) .. + 3 of row l / 4 of matrix j. These are
// the rows and chunks that lanes give such that the registers are fragments: of A, one of 16 rows;
// of B, two of 8 columns each, one after the other.
struct ChunkPlace {
  int line;
  int chunk;
};
INTAGLIO_INLINE constexpr ChunkPlace AddressForA(int lane) { return {lane % 16, lane / 16}; }
INTAGLIO_INLINE constexpr ChunkPlace AddressForB(int lane) {
  return {lane % 8 + 8 * (lane / 16), lane / 8 % 2};
}

}  // namespace intaglio::cuda

#endif  // INTAGLIO_KERNELS_CUDA_LAYOUT_H_
