// Pipelines of every stage, by number, so that code compiled for one instruction set can be called
// from code compiled for none. Includes no more than it must: whatever a file compiled for one
// instruction set inlined a copy of, the linker might hand to the rest of the test.
#ifndef INTAGLIO_TEST_PIPELINE_COMPOSITIONS_H_
#define INTAGLIO_TEST_PIPELINE_COMPOSITIONS_H_

#include <cstdint>

#include "intaglio/fixedpoint/requantize.h"
#include "intaglio/pipeline/tile.h"

namespace intaglio::test {

// Arrays reach as far as rows and columns of the tile.
struct StageParameters {
  Axis axis;
  const int32_t* bias;
  const int32_t* mantissa;
  const int32_t* exponent;
  const float* scale;
  const int8_t* residual_int8;
  const int16_t* residual_int16;
  ptrdiff_t residual_stride;
  QuantizedMultiplier multiplier;
  float one_scale;
  int shift;
  int32_t zero_point;
  int32_t low;
  int32_t high;
};

constexpr int kCompositions = 18;

// The type of the result of a composition.
Type OutputOf(int composition);

// Runs a composition over a tile, by the name of the vocabulary.
void RunScalar(int composition, const StageParameters& p, const AccumulatorTile& tile);
void RunSse41(int composition, const StageParameters& p, const AccumulatorTile& tile);
void RunAvx2(int composition, const StageParameters& p, const AccumulatorTile& tile);
void RunAvx512(int composition, const StageParameters& p, const AccumulatorTile& tile);
void RunPlainSse41(int composition, const StageParameters& p, const AccumulatorTile& tile);
void RunPlainAvx2(int composition, const StageParameters& p, const AccumulatorTile& tile);
void RunPlainAvx512(int composition, const StageParameters& p, const AccumulatorTile& tile);
void RunNeon(int composition, const StageParameters& p, const AccumulatorTile& tile);

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_PIPELINE_COMPOSITIONS_H_
