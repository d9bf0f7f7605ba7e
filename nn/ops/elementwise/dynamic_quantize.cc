#include "intaglio/nn/ops/elementwise/dynamic_quantize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>

#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/half_even.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/ops/support/wide.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

constexpr int kMostParts = 64;

struct Extremes {
  float least = 0;
  float greatest = 0;
};

HalfEvenQuantizer QuantizerOf(const Extremes& e) {
  const float scale = e.least == e.greatest ? 1.0f : (e.greatest - e.least) / 255.0f;
  const float zero_point = std::fmin(std::fmax(0.0f - e.least / scale, 0.0f), 255.0f);
  return {scale, static_cast<int32_t>(std::nearbyint(zero_point)), RangeOf(Type::kUInt8)};
}

class DynamicQuantizeRoutine final : public Routine {
 public:
  DynamicQuantizeRoutine(ptrdiff_t count, const LayerOptions& options)
      : count_(count),
        range_(WideRoutinesOf(options.kernel).range),
        quantize_(QuantizeHalfEvenBytesOf(options.kernel)) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* const x = static_cast<const float*>(arguments.inputs[0]);
    auto* const y = static_cast<uint8_t*>(arguments.outputs[0]);
    const int parts = std::min(kMostParts, PartsOf(arguments.context, count_, kLeastBytesOfThread));
    const HalfEvenQuantizer q = QuantizerOf(ExtremesOf(arguments.context, parts, x));
    ForNumberedParts(arguments.context, parts, count_, [&](int, ptrdiff_t begin, ptrdiff_t end) {
      quantize_(q, x + begin, end - begin, y + begin);
    });
    *static_cast<float*>(arguments.outputs[1]) = q.scale;
    *static_cast<uint8_t*>(arguments.outputs[2]) = static_cast<uint8_t>(q.zero_point);
    return {};
  }

 private:
  Extremes ExtremesOf(Context& context, int parts, const float* x) const {
    std::array<Extremes, kMostParts> of_parts;
    ForNumberedParts(context, parts, count_, [&](int part, ptrdiff_t begin, ptrdiff_t end) {
      Extremes& e = of_parts[static_cast<size_t>(part)];
      range_(x + begin, end - begin, &e.least, &e.greatest);
    });
    Extremes all;
    for (int i = 0; i < parts; ++i) {
      all.least = std::min(all.least, of_parts[static_cast<size_t>(i)].least);
      all.greatest = std::max(all.greatest, of_parts[static_cast<size_t>(i)].greatest);
    }
    return all;
  }

  ptrdiff_t count_;
  decltype(WideRoutines::range) range_;
  QuantizeHalfEvenBytes quantize_;
};

Result<PreparedLayer> PrepareDynamicQuantize(const LayerView& layer, const LayerOptions& options) {
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(0), Type::kUInt8));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(1), Type::kFloat32));
  INTAGLIO_RETURN_IF_ERROR(CheckType(layer, layer.output(2), Type::kUInt8));
  PreparedLayer prepared;
  prepared.routine = std::make_shared<DynamicQuantizeRoutine>(
      static_cast<ptrdiff_t>(*CountElements(layer.output().shape)), options);
  return prepared;
}

ShapesResult InferDynamicQuantize(const LayerView& layer) {
  return std::vector<Shape>{layer.input(0).shape, {}, {}};
}

}  // namespace

constinit const OperatorRow DynamicQuantize::kRow = {
    .name = "DYNAMIC_QUANTIZE",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kFloat,
    .infer = InferDynamicQuantize,
    .candidates = Candidate{"quantize", PrepareDynamicQuantize, kAnyType, nullptr, /*bounded=*/0}};

}  // namespace intaglio::nn
