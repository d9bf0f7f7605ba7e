// What the rows of operators are written with.
#ifndef INTAGLIO_NN_OPS_SUPPORT_ROWS_H_
#define INTAGLIO_NN_OPS_SUPPORT_ROWS_H_

#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/graph/operator_row.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

inline constexpr TypeSet kEightBit = SetOf(Type::kInt8) | SetOf(Type::kUInt8);
inline constexpr TypeSet kQuantized = kEightBit | SetOf(Type::kInt16);
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

ShapesResult InferUnary(const LayerView& layer);      // the shape of input 0
ShapesResult InferBroadcast(const LayerView& layer);  // that to which all inputs broadcast

// Output 0 has the bytes of input 0.
Result<PreparedLayer> PrepareReshape(const LayerView& layer, const LayerOptions& options);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_SUPPORT_ROWS_H_
