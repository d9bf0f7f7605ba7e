// The memory plan: where in one arena each block of memory lies, decided before the first run.
#ifndef INTAGLIO_NN_ROUTINE_MEMORY_PLAN_H_
#define INTAGLIO_NN_ROUTINE_MEMORY_PLAN_H_

#include <cstddef>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/routine/place_blocks.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// The plan of a graph. Tensors share one block if one is an alias of the other or takes its memory
// in place. If that costs no memory, these share one, too: the result of a concatenation and its
// operands, and the scratch of layers that use the same form of an input.
struct MemoryPlan {
  static constexpr int kNoBlock = -1;

  std::vector<Block> blocks;  // of tensors, then of scratch
  std::vector<int>
      tensor_block;  // per tensor; kNoBlock for constants and tensors that nothing writes
  std::vector<size_t> tensor_offset;  // per tensor: where in its block it starts
  std::vector<size_t> tensor_bytes;   // per tensor: its block's, or from the first to the last of
                                      // its place in a result
  std::vector<size_t> tensor_stride;  // per tensor: bytes from one line of its last dimension to
                                      // the next, where the lines lie in those of a result; else 0
  std::vector<int> first;  // per tensor: the layer that writes it, -1 for inputs and variables
  std::vector<int> last;   // the last layer that reads it; their number for outputs and variables
  std::vector<int> scratch_block;  // per layer; kNoBlock for none
  std::vector<bool>
      scratch_is_ready;        // per layer: its form of input 0 is there from a layer before
  std::vector<bool> in_place;  // per layer: output 0 has the memory of an input, or of all
  size_t arena_bytes = 0;
};

// Only for graphs that passed Validate. With keep_all, every tensor has a block of its own for
// good.
Result<MemoryPlan> PlanMemory(const Graph& graph, const std::vector<PreparedLayer>& layers,
                              bool keep_all);

// Estimates the bytes of a graph's packed constants. EstimateBytes adds the arena, unless that is
// large itself. Only for graphs that passed Validate.
size_t ConstantBytes(const Graph& graph);
size_t EstimateBytes(const Graph& graph);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_MEMORY_PLAN_H_
