// The passes that make a graph of an .onnx file faster, in the order in which they run:
//
//   remove-unread       layers that nothing reads -> none
//   share-equal         equal layers -> one
//   remove-transposes   TRANSPOSE layers -> none, where they meet
//   fold-bias           a product, ADD -> a product with a bias
//   fuse-quantization   DEQUANTIZE, an operator, QUANTIZE -> one layer of integers
//   fold-constants      layers of constants -> constants
//   remove-transposes   once more
//   merge-tables        functions of one tensor of 8 bits -> one table
//   fold-normalization  a product, MUL, ADD -> a product with other weights
//   fuse-activations    a layer, RELU -> a layer with an activation
//
// The order is that of what they need. Many groups are found only where a result has one reader, so
// that readers which are not needed go first. Quantization comes before all that changes weights or
// rounding: it looks for the layers as the tool that quantized the network wrote them, and wants
// their weights as integers. Constants of dequantized weights are computed behind it. Products and
// what follows them are neighbours only when transposes are gone; those that wait for constants go
// behind fold-constants. Activations come behind MUL and ADD.
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

// A pass may be there more than once.
std::span<const Pass> ListPasses();

// Refuses a name that no pass has, and that of a pass that is required.
Status CheckPassNames(std::span<const std::string> names);

// Runs all passes but those of these names, which must have passed CheckPassNames. Returns one
// report for each, in order.
std::vector<PassReport> RunPasses(Graph& graph, const PassContext& context,
                                  std::span<const std::string> without = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PASSES_PASS_LIST_H_
