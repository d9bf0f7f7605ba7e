#include "intaglio/test/nn/ops/golden_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace intaglio::nn::test {

uint8_t NumberOf(Type type) {
  switch (type) {
    case Type::kFloat32:
      return 0;
    case Type::kInt32:
      return 2;
    case Type::kUInt8:
      return 3;
    case Type::kInt64:
      return 4;
    case Type::kBool:
      return 6;
    case Type::kInt16:
      return 7;
    case Type::kInt8:
      return 9;
    case Type::kUInt16:
      return 16;
  }
  return 255;
}

Status RunGolden(Model& model, const GoldenRun& run, std::vector<GoldenBytes>& outputs) {
  std::vector<InputBuffer> in;
  std::vector<OutputBuffer> out;
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    const Type type = i < model.input_count() ? model.input(i).type : Type::kInt8;
    in.push_back({run.inputs[i].data(), run.inputs[i].size(), type});
  }
  outputs.clear();
  for (size_t i = 0; i < model.output_count(); ++i) {
    const Tensor& tensor = model.output(i);
    outputs.emplace_back(*CountBytes(tensor.shape, tensor.type));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.push_back({outputs[i].data(), outputs[i].size(), model.output(i).type});
  }
  return model.Run(in, out);
}

bool IsSame(float actual, float expected) {
  return std::bit_cast<uint32_t>(actual) == std::bit_cast<uint32_t>(expected) ||
         (std::isnan(actual) && std::isnan(expected));
}

std::optional<size_t> FirstDifference(const GoldenBytes& actual, const GoldenOutput& expected,
                                      const std::function<bool(float, float)>& is_close) {
  if (actual == expected.bytes) return {};
  if (expected.type != NumberOf(Type::kFloat32) || actual.size() != expected.bytes.size()) {
    const auto [at, other] =
        std::mismatch(actual.begin(), actual.end(), expected.bytes.begin(), expected.bytes.end());
    return static_cast<size_t>(at - actual.begin());
  }
  for (size_t i = 0; i < actual.size(); i += sizeof(float)) {
    float a = 0;
    float e = 0;
    std::memcpy(&a, actual.data() + i, sizeof(a));
    std::memcpy(&e, expected.bytes.data() + i, sizeof(e));
    if (!is_close(a, e)) return i;
  }
  return {};
}

}  // namespace intaglio::nn::test
