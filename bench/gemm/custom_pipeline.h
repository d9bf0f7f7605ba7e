// An output pipeline with a stage of the caller's own: the standard half-even pipeline, whose clamp
// is replaced by a stage that the library does not know. Same results, other way.
#ifndef INTAGLIO_BENCH_GEMM_CUSTOM_PIPELINE_H_
#define INTAGLIO_BENCH_GEMM_CUSTOM_PIPELINE_H_

#include <cstdint>
#include <memory>

#include "intaglio/pipeline/pipeline.h"

namespace intaglio::bench {

struct CustomParameters {
  const int32_t* bias;
  const float* scale;
  int32_t zero_point;
  bool is_signed;  // int8 results, else uint8
};

struct CustomPipeline {
  std::shared_ptr<const void> owner;
  TilePipeline tile;
};

// Compiled for one instruction set each, as a caller's own program would be.
CustomPipeline MakeCustomAvx512(const CustomParameters& parameters);
CustomPipeline MakeCustomAvx2(const CustomParameters& parameters);
CustomPipeline MakeCustomScalar(const CustomParameters& parameters);

// max(x, low). The vocabulary is part of its type, so that no object file's copy of anything made
// from it replaces another's.
template <class Vocabulary>
struct AtLeast {
  int32_t low;

  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place&) const {
    return R::Max(x, R::Set(low));
  }
};

template <class R, class T>
CustomPipeline MakeCustomOf(const CustomParameters& p, int32_t low) {
  const Pipeline pipeline(AddBias{p.bias}, RequantizeFloatChannels{p.scale},
                          AddZeroPoint{p.zero_point}, AtLeast<R>{low}, CastTo<T>{});
  std::shared_ptr<const decltype(pipeline)> owner(new decltype(pipeline)(pipeline));
  return {owner, AsTilePipeline<R>(*owner)};
}

template <class R>
CustomPipeline MakeCustom(const CustomParameters& p) {
  return p.is_signed ? MakeCustomOf<R, int8_t>(p, -128) : MakeCustomOf<R, uint8_t>(p, 0);
}

}  // namespace intaglio::bench

#endif  // INTAGLIO_BENCH_GEMM_CUSTOM_PIPELINE_H_
