// The passes that make a graph of an .onnx file faster, in the order in which they run:
//
//   fuse-quantization   DEQUANTIZE, an operator, QUANTIZE -> one layer of integers
//   fold-constants      layers of constants -> constants
//   remove-transposes   TRANSPOSE layers -> none, where they meet
//
// Quantization comes first: it looks for the layers as the tool that quantized the network wrote
// them. Constants of dequantized weights are computed behind it, because it wants these weights as
// integers.
#ifndef INTAGLIO_NN_PASSES_PASS_LIST_H_
#define INTAGLIO_NN_PASSES_PASS_LIST_H_

#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/passes/fold_constants.h"
#include "intaglio/nn/passes/pass_report.h"

namespace intaglio::nn {

// What passes need besides the graph.
struct PassContext {
  FoldBudget& budget;  // for constants that they make
  // Sums and products of two quantized tensors follow ONNX Runtime's fused kernels.
  bool ort_fused = false;
};

struct Pass {
  const char* name;
  const char* description;  // one line
  // Routines need what it does, so nobody can switch it off.
  bool required;
  // Takes a graph that passes Validate, and leaves one.
  std::vector<PassCount> (*run)(Graph& graph, const PassContext& context);
};

std::span<const Pass> ListPasses();

// Refuses a name that no pass has, and that of a pass that is required.
Status CheckPassNames(std::span<const std::string> names);

// Runs all passes but those of these names, which must have passed CheckPassNames. Returns one
// report for each, in order.
std::vector<PassReport> RunPasses(Graph& graph, const PassContext& context,
                                  std::span<const std::string> without = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_PASS_LIST_H_
