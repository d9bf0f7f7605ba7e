// How the operators are read from .onnx files: a row each, by family. To add an operator, write in
// its family's file a function that translates it, and its row.
#ifndef INTAGLIO_NN_FORMATS_ONNX_ROWS_H_
#define INTAGLIO_NN_FORMATS_ONNX_ROWS_H_

#include <limits>
#include <span>

#include "intaglio/nn/formats/onnx/translation.h"

namespace intaglio::nn::onnx {

inline constexpr const char* kOnnx = "";  // also written "ai.onnx"
inline constexpr const char* kMicrosoft = "com.microsoft";
inline constexpr int kOldest = 7;   // older opsets are refused
inline constexpr int kNewest = 28;  // the newest opset whose changes the rows know
inline constexpr int kEver = std::numeric_limits<int>::max();  // OnnxRow::until

struct OnnxRow {
  const char* name;
  void (*read)(Translation& t);
  const char* types;  // of the data: "float32, int32"
  // The opsets of the domain for which `read` holds. Newer ones than kNewest are read as kNewest.
  int since = 1;
  int until = kEver;
  const char* remark = "";
  const char* domain = kOnnx;
};

std::span<const OnnxRow> AttentionRows();
std::span<const OnnxRow> ControlRows();
std::span<const OnnxRow> ElementwiseRows();
std::span<const OnnxRow> LinearRows();
std::span<const OnnxRow> MicrosoftRows();
std::span<const OnnxRow> MovementRows();
std::span<const OnnxRow> NormalizationRows();
std::span<const OnnxRow> QLinearRows();
std::span<const OnnxRow> QuantizedRows();
std::span<const OnnxRow> RecurrentRows();
std::span<const OnnxRow> ReduceRows();
std::span<const OnnxRow> RotaryRows();
std::span<const OnnxRow> WindowRows();

// Calls visit(row) for each row. Stops where it returns true, and returns the row; else null.
template <class Visit>
const OnnxRow* FindRow(const Visit& visit) {
  for (const auto rows :
       {AttentionRows(), ControlRows(), ElementwiseRows(), LinearRows(), MicrosoftRows(),
        MovementRows(), NormalizationRows(), QLinearRows(), QuantizedRows(), RecurrentRows(),
        ReduceRows(), RotaryRows(), WindowRows()}) {
    for (const OnnxRow& row : rows) {
      if (visit(row)) return &row;
    }
  }
  return nullptr;
}

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_ROWS_H_
