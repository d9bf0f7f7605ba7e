// Runs a model on what a golden file recorded, and compares the outputs.
#ifndef INTAGLIO_TEST_NN_OPS_GOLDEN_RUN_H_
#define INTAGLIO_TEST_NN_OPS_GOLDEN_RUN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/tensor.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/test/nn/ops/golden_file.h"

namespace intaglio::nn::test {

// The type's number in the .tflite format.
uint8_t NumberOf(Type type);

Status RunGolden(Model& model, const GoldenRun& run, std::vector<GoldenBytes>& outputs);

// Whether both have the same bits, or are NaN. Nobody promises the sign and payload of NaN.
bool IsSame(float actual, float expected);

// The first byte of an element that differs, or nothing. Elements of float32 differ where
// `is_close(actual, expected)` says so.
std::optional<size_t> FirstDifference(const GoldenBytes& actual, const GoldenOutput& expected,
                                      const std::function<bool(float, float)>& is_close);

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_OPS_GOLDEN_RUN_H_
