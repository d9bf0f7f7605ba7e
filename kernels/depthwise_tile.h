// The depthwise loop of every kernel, over a kernel vocabulary V that has, beside what finish.h
// names,
//   LoadWidened<kSigned>(const uint8_t*)   kLanes bytes as int32
//   MulInt16(a, b)                         products of the low halves, where b's high halves are 0
//   LoadRuns(const int32_t* p, ptrdiff_t step)   the inverse of StoreRuns
#ifndef INTAGLIO_KERNELS_DEPTHWISE_TILE_H_
#define INTAGLIO_KERNELS_DEPTHWISE_TILE_H_

#include "intaglio/kernels/depthwise_args.h"
#include "intaglio/kernels/finish.h"
#include "intaglio/kernels/kernel.h"

namespace intaglio {

template <class V, int kVectors, bool kSigned>
INTAGLIO_INLINE void AccumulateTaps(const DepthwiseArgs& args, typename V::I32 (&acc)[kVectors]) {
  const int32_t* weights = args.weights;
  for (int t = 0; t < args.tap_count; ++t, weights += kVectors * V::kLanes) {
    const uint8_t* input = args.taps[t] + args.first_channel;
    INTAGLIO_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const auto x = V::template LoadWidened<kSigned>(input + j * V::kLanes);
      acc[j] = V::Add(acc[j], V::MulInt16(x, V::Load(weights + j * V::kLanes)));
    }
  }
}

template <class V, int kVectors>
void ComputeDepthwise(const DepthwiseArgs& args) {
  using I32 = typename V::I32;
  I32 sums[kVectors];
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) sums[j] = V::Set(0);
  if (args.input_is_signed) {
    AccumulateTaps<V, kVectors, true>(args, sums);
  } else {
    AccumulateTaps<V, kVectors, false>(args, sums);
  }

  // From the order of memory to the order of a panel's lanes.
  int32_t natural[kVectors * V::kLanes];
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) V::Store(natural + j * V::kLanes, sums[j]);
  constexpr int kRun = V::kLanes < 4 ? V::kLanes : 4;
  I32 acc[1][kVectors];
  INTAGLIO_UNROLL
  for (int j = 0; j < kVectors; ++j) {
    acc[0][j] = V::Add(V::LoadRuns(natural + j * kRun, kRun * kVectors),
                       V::Load(args.params->offset + j * V::kLanes));
  }
  ApplyScaling<V, kVectors, 1>(*args.params, acc);
  StoreRows<V, kVectors, 1>(args.epilogue, acc, args.dst, 0);
}

template <class V, int kVectors = V::kMaxVectors>
void Depthwise(const DepthwiseArgs& args) {
  if constexpr (kVectors > 1) {
    if (args.vectors < kVectors) return Depthwise<V, kVectors / 2>(args);
  }
  ComputeDepthwise<V, kVectors>(args);
}

}  // namespace intaglio

#endif  // INTAGLIO_KERNELS_DEPTHWISE_TILE_H_
