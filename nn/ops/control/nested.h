// A graph that a layer runs in its scratch.
#ifndef INTAGLIO_NN_OPS_CONTROL_NESTED_H_
#define INTAGLIO_NN_OPS_CONTROL_NESTED_H_

#include <cstddef>
#include <memory>
#include <string>

#include "intaglio/nn/routine/program.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// Validates a graph of a layer: it is there, has no variables, and its inputs are like those of the
// layer from `first` on. `what` names it in messages.
Status CheckNested(const LayerView& layer, const Graph* graph, const char* what, size_t first);

// A tensor that a nested graph names `what` has the type and shape of one of the layer's. (What its
// numbers mean is not compared: TFLite copies bytes.)
Status CheckLike(const LayerView& layer, const Tensor& tensor, const Tensor& expected,
                 const std::string& what);

// The program of a graph that CheckNested passed.
Result<Program> PrepareNested(const LayerView& layer, const Graph& graph, const char* what,
                              const LayerOptions& options);

// A program in memory, for one run of the layer.
class Frame {
 public:
  // What it takes, in multiples of kArenaAlignment, as does `memory`.
  static size_t CountBytes(const Program& program);
  Frame(const Program& program, void* memory);

  const Program& program() const { return program_; }
  void* Input(size_t i) const { return program_.Address(arena_, program_.graph().inputs[i]); }
  const void* Output(size_t i) const { return program_.Read(arena_, program_.graph().outputs[i]); }
  // Whether a run reads input i, or gives it as an output.
  bool Needs(size_t i) const;
  size_t InputBytes(size_t i) const;
  void SetInput(size_t i, const void* elements) const;  // that it needs

  Status Run(const RunArguments& arguments) const;  // of the layer

 private:
  const Program& program_;
  std::byte* arena_;
  Addresses addresses_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_OPS_CONTROL_NESTED_H_
