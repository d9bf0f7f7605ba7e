// The compositions of compositions.h, over any vocabulary.
#ifndef INTAGLIO_TEST_PIPELINE_COMPOSITION_LIST_H_
#define INTAGLIO_TEST_PIPELINE_COMPOSITION_LIST_H_

#include "intaglio/pipeline/pipeline.h"
#include "intaglio/pipeline/stages.h"
#include "intaglio/test/pipeline/compositions.h"

namespace intaglio::test {

// A stage of the user's own: x where it is even, else -x - 1.
struct FlipOdd {
  template <class R>
  INTAGLIO_INLINE typename R::I32 Apply(typename R::I32 x, const Place&) const {
    const auto odd = R::Equal(R::And(x, R::Set(1)), R::Set(1));
    return R::Xor(x, odd);
  }
};

// Calls visit(pipeline) for one of them.
template <class Visit>
void VisitComposition(int composition, const StageParameters& p, const Visit& visit) {
  const Requantize twice{p.multiplier, Rounding::kDouble};
  const Requantize once{p.multiplier, Rounding::kSingle};
  const RequantizeChannels twice_each{p.mantissa, p.exponent, p.axis, Rounding::kDouble};
  const RequantizeChannels once_each{p.mantissa, p.exponent, p.axis, Rounding::kSingle};
  const AddBias bias{p.bias, p.axis};
  const AddZeroPoint zero{p.zero_point};
  const Clamp clamp{p.low, p.high};
  switch (composition) {
    case 0:
      return visit(Pipeline(CastTo<int32_t>{}));
    case 1:
      return visit(Pipeline(bias, CastTo<int8_t>{}));
    case 2:
      return visit(Pipeline(twice, CastTo<uint8_t>{}));
    case 3:
      return visit(Pipeline(once, CastTo<int16_t>{}));
    case 4:
      return visit(Pipeline(bias, twice_each, zero, clamp, CastTo<int8_t>{}));
    case 5:
      return visit(Pipeline(once_each, zero, CastTo<int32_t>{}));
    case 6:
      return visit(Pipeline(RequantizeFloat{p.one_scale}, CastTo<int16_t>{}));
    case 7:
      return visit(
          Pipeline(bias, RequantizeFloatChannels{p.scale, p.axis}, zero, CastTo<uint8_t>{}));
    case 8:
      return visit(Pipeline(ScaleToFloat{p.one_scale}, CastTo<float>{}));
    case 9:
      return visit(Pipeline(bias, ScaleToFloatChannels{p.scale, p.axis}, CastTo<float>{}));
    case 10:
      return visit(Pipeline(RoundingShift{p.shift}, CastTo<int8_t>{}));
    case 11:
      return visit(Pipeline(clamp, bias, CastTo<int32_t>{}));
    case 12:
      return visit(Pipeline(
          twice,
          AddResidual<int8_t>{p.residual_int8, p.residual_stride, 1, p.zero_point, p.multiplier},
          CastTo<int8_t>{}));
    case 13:
      return visit(Pipeline(
          AddResidual<int16_t>{p.residual_int16, 1, p.residual_stride, p.zero_point, p.multiplier},
          clamp, CastTo<int16_t>{}));
    case 14:
      return visit(Pipeline(bias, FixedPointLogistic<4>{}, RoundingShift{16}, CastTo<int16_t>{}));
    case 15:
      return visit(Pipeline(FixedPointTanh<3>{}, RoundingShift{24}, CastTo<int8_t>{}));
    case 16:
      return visit(Pipeline(FlipOdd{}, zero, CastTo<int32_t>{}));
    default:
      return visit(Pipeline(bias, twice, FlipOdd{}, once_each, clamp, CastTo<uint8_t>{}));
  }
}

template <class R>
void RunComposition(int composition, const StageParameters& p, const AccumulatorTile& tile) {
  VisitComposition(composition, p, [&](const auto& pipeline) {
    const TilePipeline by_pointer = AsTilePipeline<R>(pipeline);
    by_pointer.run(by_pointer.pipeline, tile);
  });
}

}  // namespace intaglio::test

#endif  // INTAGLIO_TEST_PIPELINE_COMPOSITION_LIST_H_
