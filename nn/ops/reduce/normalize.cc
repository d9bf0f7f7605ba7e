// L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION and LOG_SOFTMAX: along the last dimension.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "intaglio/fixedpoint/inverse_sqrt.h"
#include "intaglio/gemm/float_loops.h"
#include "intaglio/nn/graph/cost.h"
#include "intaglio/nn/graph/ledger.h"
#include "intaglio/nn/ops/reduce/log_softmax.h"
#include "intaglio/nn/ops/reduce/operators.h"
#include "intaglio/nn/ops/support/checks.h"
#include "intaglio/nn/ops/support/parallel.h"
#include "intaglio/nn/ops/support/quantization.h"
#include "intaglio/nn/ops/support/rows.h"
#include "intaglio/nn/routine/routine_of.h"

namespace intaglio::nn {
namespace {

// row(in, out, depth) for each row.
template <class T, class Row>
std::shared_ptr<const Routine> RowRoutine(const LayerView& layer, const Row& row) {
  const Shape& shape = layer.input(0).shape;
  const auto count = static_cast<ptrdiff_t>(*CountElements(shape));
  const ptrdiff_t depth = shape.back();
  return RoutineOf([=](const RunArguments& arguments) {
    const auto* in = static_cast<const T*>(arguments.inputs[0]);
    auto* out = static_cast<T*>(arguments.outputs[0]);
    for (ptrdiff_t at = 0; at < count; at += depth) row(in + at, out + at, depth);
  });
}

void NormalizeFloat(const float* in, float* out, ptrdiff_t depth) {
  float sum = 0;
  for (ptrdiff_t i = 0; i < depth; ++i) sum += in[i] * in[i];
  const float norm = std::max(std::sqrt(sum), 1e-6f);
  for (ptrdiff_t i = 0; i < depth; ++i) out[i] = in[i] / norm;
}

// LOCAL_RESPONSE_NORMALIZATION: x (bias + alpha sum)^-beta. The sum is that of the squares of the
// channels from `radius` before to radius - 1 behind, where there are such. All channels build
// their sums together, each in the order of its channels.
class ResponseRoutine final : public Routine {
 public:
  ResponseRoutine(const LocalResponseNormalization& op, const Shape& shape)
      : op_(op),
        count_(static_cast<ptrdiff_t>(*CountElements(shape))),
        depth_(shape.back()),
        radius_(std::min(op.radius, shape.back())) {}

  Status Run(const RunArguments& arguments) const override {
    const auto* in = static_cast<const float*>(arguments.inputs[0]);
    auto* out = static_cast<float*>(arguments.outputs[0]);
    auto* const squares = static_cast<float*>(arguments.scratch);
    for (ptrdiff_t at = 0; at < count_; at += depth_) RunRow(in + at, squares, out + at);
    return {};
  }

  size_t scratch_bytes() const { return 2 * static_cast<size_t>(depth_) * sizeof(float); }

 private:
  void RunRow(const float* in, float* squares, float* out) const {
    float* const sums = squares + depth_;
    for (ptrdiff_t c = 0; c < depth_; ++c) squares[c] = in[c] * in[c];
    std::fill_n(sums, depth_, 0.0f);
    for (ptrdiff_t offset = -radius_; offset < radius_; ++offset) {
      const ptrdiff_t end = std::min(depth_, depth_ - offset);
      for (ptrdiff_t c = std::max<ptrdiff_t>(0, -offset); c < end; ++c)
        sums[c] += squares[c + offset];
    }
    for (ptrdiff_t c = 0; c < depth_; ++c) out[c] = in[c] * Response(sums[c]);
  }

  // Computes in float64, as in TFLite, whose options have that type.
  float Response(float sum) const {
    const double base = static_cast<double>(op_.bias) + static_cast<double>(op_.alpha) * sum;
    const float by_roots = op_.beta == 0.75f || op_.beta == 0.5f ? PowerByRoots(base) : kUnknown;
    if (by_roots == by_roots) return by_roots;
    return static_cast<float>(std::pow(base, -static_cast<double>(op_.beta)));
  }

  // Returns NaN if the error of the roots, below 2^-51, or that of pow could turn one power into
  // two different float32 numbers.
  float PowerByRoots(double base) const {
    const double root = std::sqrt(base);
    const double power = 1 / (op_.beta == 0.5f ? root : root * std::sqrt(root));
    const auto low = static_cast<float>(power * (1 - 0x1p-50));
    const auto high = static_cast<float>(power * (1 + 0x1p-50));
    return low == high ? low : kUnknown;
  }

  static constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

  LocalResponseNormalization op_;
  ptrdiff_t count_;
  ptrdiff_t depth_;
  ptrdiff_t radius_;
};

// 128 x / |x|: the input's scale cancels out.
template <class T>
struct Normalize8 {
  int32_t zero_point = 0;

  void operator()(const T* in, T* out, ptrdiff_t depth) const {
    int32_t sum = 0;
    for (ptrdiff_t i = 0; i < depth; ++i) {
      const int32_t x = in[i] - zero_point;
      sum += x * x;
    }
    const InverseSqrtMultiplier root = TfliteInverseSqrt(sum);
    const Range range = RangeOf(TypeOf<T>);
    for (ptrdiff_t i = 0; i < depth; ++i) {
      const int32_t x = in[i] - zero_point;
      if constexpr (TypeOf<T> == Type::kUInt8) {
        const int32_t scaled = Requantize(128 * x, {root.multiplier, -root.right_shift});
        out[i] = static_cast<T>(AddAndClamp(scaled, 128, range));
      } else {
        const int32_t scaled = Requantize(x, {root.multiplier, 7 - root.right_shift});
        out[i] = static_cast<T>(AddAndClamp(scaled, 0, range));
      }
    }
  }
};

ShapesResult InferRows(const LayerView& layer) {
  if (!layer.input(0).shape.empty()) return std::vector<Shape>{layer.input(0).shape};
  return layer.Invalid("the input has no dimension");
}

Result<PreparedLayer> PrepareL2Normalization(const LayerView& layer, const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Type type = layer.output().type;
  PreparedLayer prepared;
  if (type == Type::kFloat32) {
    prepared.routine = RowRoutine<float>(layer, NormalizeFloat);
    return prepared;
  }
  const Result<InOut> q = SameTypeInOut(layer);
  if (!q.ok()) return q.status();
  if (q->output.scale != 1.0f / 128 || q->output.zero_point != (type == Type::kUInt8 ? 128 : 0)) {
    return layer.Unsupported("an output with another quantization than steps of 1/128 around 0");
  }
  if (layer.input(0).shape.back() > 1 << 15) {
    return layer.Unsupported("rows of more than 2^15 elements");
  }
  prepared.routine = VisitType<int8_t, uint8_t>(type, [&](auto zero) {
    using T = decltype(zero);
    return RowRoutine<T>(layer, Normalize8<T>{q->input.zero_point});
  });
  return prepared;
}

Result<PreparedLayer> PrepareLogSoftmaxFloat(const LayerView& layer, const LayerOptions& options) {
  constexpr ptrdiff_t kLeastElementsOfThread = 1 << 11;  // as for SOFTMAX
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const Shape& shape = layer.input(0).shape;
  const ptrdiff_t depth = shape.back();
  const auto count = static_cast<ptrdiff_t>(*CountElements(shape));
  PreparedLayer prepared;
  prepared.routine =
      RoutineOf([count, depth, log_softmax = FloatLoopsOf(options.kernel).log_softmax](
                    const RunArguments& arguments) {
        if (count == 0) return;
        const auto* const in = static_cast<const float*>(arguments.inputs[0]);
        auto* const out = static_cast<float*>(arguments.outputs[0]);
        ForParts(arguments.context, count / depth, kLeastElementsOfThread / depth + 1,
                 [&](ptrdiff_t begin, ptrdiff_t end) {
                   for (ptrdiff_t row = begin; row < end; ++row) {
                     log_softmax(in + row * depth, depth, out + row * depth);
                   }
                 });
      });
  return prepared;
}

constexpr Candidate kLogSoftmaxWays[] = {{"log_softmax", PrepareLogSoftmax8, kEightBit},
                                         {"log_softmax", PrepareLogSoftmaxFloat, kFloat}};

Result<PreparedLayer> PrepareLocalResponseNormalization(const LayerView& layer,
                                                        const LayerOptions&) {
  INTAGLIO_RETURN_IF_ERROR(CheckOneType(layer));
  const LocalResponseNormalization op = layer.op<LocalResponseNormalization>();
  if (op.radius < 0) return layer.Invalid("the radius is " + std::to_string(op.radius));
  PreparedLayer prepared;
  const auto routine = std::make_shared<ResponseRoutine>(op, layer.input(0).shape);
  prepared.scratch_bytes = routine->scratch_bytes();
  prepared.routine = routine;
  return prepared;
}

int64_t CountNeighbours(const LayerView& layer) {
  const int64_t wanted = 2 * int64_t{layer.op<LocalResponseNormalization>().radius};
  const int64_t each = std::clamp<int64_t>(wanted, 0, layer.input(0).shape.back());
  return MultiplySaturated(CountOrMax(layer.output()), each);
}

std::string FloatOfLogSoftmax(const LayerView& layer) {
  const Tensor& input = layer.input(0);
  if (input.type != Type::kUInt8) return {};
  return "it takes the logarithms of uint8 '" + input.name + "' in float32";
}

}  // namespace

constinit const OperatorRow LogSoftmax::kRow = {.name = "LOG_SOFTMAX",
                                                .min_inputs = 1,
                                                .max_inputs = 1,
                                                .types = kEightBit | kFloat,
                                                .infer = InferRows,
                                                .candidates = kLogSoftmaxWays,
                                                .remark = "output of 8 bits in steps of 1/16",
                                                .forces_float = FloatOfLogSoftmax};

constinit const OperatorRow L2Normalization::kRow = {
    .name = "L2_NORMALIZATION",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kEightBit | kFloat,
    .infer = InferRows,
    .candidates = Candidate{"normalize", PrepareL2Normalization},
    .remark = "output in steps of 1/128"};

constinit const OperatorRow LocalResponseNormalization::kRow = {
    .name = "LOCAL_RESPONSE_NORMALIZATION",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = kFloat,
    .infer = InferRows,
    .candidates = Candidate{"normalize", PrepareLocalResponseNormalization},
    .extra_work = CountNeighbours};

}  // namespace intaglio::nn
