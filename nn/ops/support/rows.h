// What the rows of operators are written with.
#ifndef INTAGLIO_NN_OPS_SUPPORT_ROWS_H_
#define INTAGLIO_NN_OPS_SUPPORT_ROWS_H_

#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

inline constexpr TypeSet kEightBit = SetOf(Type::kInt8) | SetOf(Type::kUInt8);
inline constexpr TypeSet kInt16 = SetOf(Type::kInt16);
// Plain numbers, except for QUANTIZE, DEQUANTIZE and what only moves elements.
inline constexpr TypeSet kUInt16 = SetOf(Type::kUInt16);
inline constexpr TypeSet kQuantized = kEightBit | kInt16;
inline constexpr TypeSet kInteger = SetOf(Type::kInt32) | SetOf(Type::kInt64);
inline constexpr TypeSet kFloat = SetOf(Type::kFloat32);
inline constexpr TypeSet kBool = SetOf(Type::kBool);
inline constexpr TypeSet kNumbers = kQuantized | kInteger | kFloat;
inline constexpr TypeSet kSigned =
    SetOf(Type::kInt8) | SetOf(Type::kInt16) | SetOf(Type::kInt32) | kFloat;
inline constexpr TypeSet kReal = SetOf(Type::kInt8) | SetOf(Type::kInt16) | kFloat;
inline constexpr TypeSet kArgTypes = kEightBit | SetOf(Type::kInt32) | SetOf(Type::kBool) | kFloat;
inline constexpr size_t kMany = 1 << 20;
inline constexpr uint32_t kAllInputs = ~uint32_t{0};
inline constexpr uint32_t kAllButFirst = kAllInputs << 1;
inline constexpr uint32_t kWeights = 1 << 1;
inline constexpr uint32_t kWeightsAndBias = kWeights | 1 << 2;

// Reasons against a candidate.
template <size_t kInput>
const char* NeedsInt8Weights(const LayerView& layer, const LayerOptions&) {
  return layer.input(kInput).type == Type::kInt8 ? nullptr : "the weights are not int8";
}
template <size_t kInput>
const char* RefusesInt8Weights(const LayerView& layer, const LayerOptions&) {
  return layer.input(kInput).type == Type::kInt8 ? "the weights are int8" : nullptr;
}
// The first of them that is not null.
template <auto... kReasons>
const char* FirstReason(const LayerView& layer, const LayerOptions& options) {
  const char* why_not = nullptr;
  (void)(... || ((why_not = kReasons(layer, options)) != nullptr));
  return why_not;
}

// Products of float32 by int8 weights, which are input 1, and by all others.
using PrepareLayer = Result<PreparedLayer> (*)(const LayerView& layer, const LayerOptions& options);
template <auto... kReasons>
constexpr Candidate HybridCandidate(const char* algorithm, PrepareLayer prepare) {
  return {.algorithm = algorithm,
          .prepare = prepare,
          .types = kFloat,
          .why_not = FirstReason<NeedsInt8Weights<1>, kReasons...>,
          .kind = "hybrid"};
}
template <auto... kReasons>
constexpr Candidate FloatCandidate(const char* algorithm, PrepareLayer prepare) {
  return {algorithm, prepare, kFloat, FirstReason<RefusesInt8Weights<1>, kReasons...>};
}

// The ways of a function of one number that goes through a table where numbers have 8 bits, or
// where they are quantized.
template <auto kPrepare>
inline constexpr Candidate kBytesByTable[] = {{"table", kPrepare, kEightBit},
                                              {"elementwise", kPrepare, ~kEightBit}};
template <auto kPrepare>
inline constexpr Candidate kIntegersByTable[] = {{"table", kPrepare, kQuantized},
                                                 {"elementwise", kPrepare, ~kQuantized}};

ShapesResult InferUnary(const LayerView& layer);      // the shape of input 0
ShapesResult InferBroadcast(const LayerView& layer);  // that to which all inputs broadcast

// The row of a function of one number, and of two.
constexpr OperatorRow UnaryRow(const char* name, TypeSet types, const Candidates& candidates,
                               const char* remark = "") {
  return {.name = name,
          .min_inputs = 1,
          .max_inputs = 1,
          .types = types,
          .infer = InferUnary,
          .candidates = candidates,
          .remark = remark};
}
constexpr OperatorRow BinaryRow(const char* name, TypeSet types, const Candidates& candidates,
                                const char* remark = "") {
  return {.name = name,
          .min_inputs = 2,
          .max_inputs = 2,
          .types = types,
          .infer = InferBroadcast,
          .candidates = candidates,
          .remark = remark};
}

// Output 0 has the bytes of input 0.
Result<PreparedLayer> PrepareReshape(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_ROWS_H_
