#include "hard_shrink.h"

#include <intaglio/nn/routine/routine_of.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace nn = intaglio::nn;
using intaglio::Result;
using intaglio::Status;
using intaglio::Type;

namespace {

// The shapes of the outputs, from the parameters and the shapes of the inputs.
nn::ShapesResult InferShapes(const nn::LayerView& layer) {
  return std::vector<nn::Shape>{layer.input(0).shape};
}

// Parameters come from files that nobody has checked.
Status Check(const nn::LayerView& layer) {
  const nn::Tensor& x = layer.input(0);
  const nn::Tensor& y = layer.output();
  const nn::Quantization& q = x.quantization;
  const float lambda = layer.op<HardShrink>().lambda;
  if (!(lambda >= 0)) return layer.Invalid("lambda is " + std::to_string(lambda));
  if (y.type != x.type) return layer.Unsupported("the output is not int8");
  if (q.scales.size() != 1 || !(q.scales[0] > 0)) {
    return layer.Unsupported("the input has no scale of its own");
  }
  if (y.quantization.scales != q.scales || y.quantization.zero_points != q.zero_points) {
    return layer.Unsupported("input and output differ in their quantization");
  }
  return {};
}

// Everything that follows from the parameters is computed once. Runs compute with integers only:
// |scale * (x - zero_point)| > lambda where |x - zero_point| > limit.
Result<nn::PreparedLayer> Prepare(const nn::LayerView& layer, const nn::LayerOptions&) {
  if (const Status status = Check(layer); !status.ok()) return status;
  const nn::Quantization& q = layer.input(0).quantization;
  const int zero_point = q.zero_points[0];
  const double steps = static_cast<double>(layer.op<HardShrink>().lambda) / q.scales[0];
  const int limit = static_cast<int>(std::min(std::floor(steps), 1024.0));
  const int64_t count = *intaglio::nn::CountElements(layer.input(0).shape);

  nn::PreparedLayer prepared;
  prepared.in_place_inputs = 1;  // each element is read before it is written
  prepared.routine = nn::RoutineOf([=](const nn::RunArguments& arguments) {
    const auto* const x = static_cast<const int8_t*>(arguments.inputs[0]);
    auto* const y = static_cast<int8_t*>(arguments.outputs[0]);
    for (int64_t i = 0; i < count; ++i) {
      const bool is_near = std::abs(x[i] - zero_point) <= limit;
      y[i] = is_near ? static_cast<int8_t>(zero_point) : x[i];
    }
  });
  return prepared;
}

Result<nn::Operator> Read(std::span<const uint8_t> options, const nn::LayerView&) {
  HardShrink op;
  if (options.size() != sizeof(op.lambda)) {
    return intaglio::InvalidArgument("has " + std::to_string(options.size()) +
                                     " bytes of options, not 4");
  }
  std::memcpy(&op.lambda, options.data(), sizeof(op.lambda));
  return nn::Operator(op);
}

Result<std::vector<uint8_t>> Write(const nn::LayerView& layer) {
  const float lambda = layer.op<HardShrink>().lambda;
  std::vector<uint8_t> options(sizeof(lambda));
  std::memcpy(options.data(), &lambda, sizeof(lambda));
  return options;
}

}  // namespace

constinit const nn::OperatorRow HardShrink::kRow = {
    .name = "HARD_SHRINK",
    .min_inputs = 1,
    .max_inputs = 1,
    .types = nn::SetOf(Type::kInt8),
    .infer = InferShapes,
    .candidates =
        nn::Candidate{.algorithm = "hard_shrink", .prepare = Prepare, .backend = "example"}};

constinit const nn::CustomOperator kHardShrinkInFiles = {
    .name = "HardShrink", .row = &HardShrink::kRow, .read = Read, .write = Write};
