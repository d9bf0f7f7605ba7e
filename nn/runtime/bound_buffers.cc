#include "intaglio/nn/runtime/bound_buffers.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace intaglio::nn {
namespace {

const Tensor& TensorOf(const Program& program, TensorId id) {
  return program.graph().tensors[static_cast<size_t>(id)];
}

size_t BytesOf(const Tensor& tensor) { return *CountBytes(tensor.shape, tensor.type); }

bool Overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto x = reinterpret_cast<uintptr_t>(a);
  const auto y = reinterpret_cast<uintptr_t>(b);
  return a != nullptr && b != nullptr && x < y + b_bytes && y < x + a_bytes;
}

// The tensors that share a block with others.
class SharedBlock {
 public:
  SharedBlock(const Program& program, TensorId id)
      : program_(program),
        plan_(program.plan()),
        block_(plan_.tensor_block[static_cast<size_t>(id)]) {}

  template <class Visit>
  void ForTensors(const Visit& visit) const {
    for (size_t i = 0; i < plan_.tensor_block.size(); ++i) {
      if (plan_.tensor_block[i] == block_) visit(i);
    }
  }

  // Whether the whole block lies within `bytes` bytes from its start.
  bool Fits(size_t bytes) const {
    bool fits = true;
    ForTensors([&](size_t i) {
      const Tensor& tensor = program_.graph().tensors[i];
      const size_t extent = plan_.tensor_stride[i] != 0 ? plan_.tensor_bytes[i] : BytesOf(tensor);
      fits = fits && !tensor.variable && plan_.tensor_offset[i] + extent <= bytes;
    });
    return fits;
  }

  // Whether all tensors of the block are dense. Then any of them may move away from the others:
  // their layers copy every tensor that does not lie in its place.
  bool IsDense() const {
    bool dense = true;
    ForTensors([&](size_t i) { dense = dense && plan_.tensor_stride[i] == 0; });
    return dense;
  }

 private:
  const Program& program_;
  const MemoryPlan& plan_;
  int block_;
};

}  // namespace

BoundBuffers::BoundBuffers(const Program& program)
    : program_(program),
      inputs_(program.graph().inputs.size()),
      outputs_(program.graph().outputs.size()) {}

bool BoundBuffers::any() const {
  const auto is_bound = [](const void* data) { return data != nullptr; };
  return std::any_of(inputs_.begin(), inputs_.end(), is_bound) ||
         std::any_of(outputs_.begin(), outputs_.end(), is_bound);
}

// `self` is the address of the pointer that is about to change.
Status BoundBuffers::CheckApart(const Tensor& tensor, const void* data, const void* self) const {
  const auto meets = [&](TensorId id, const void* other, const void* place) {
    return place != self && Overlap(data, BytesOf(tensor), other, BytesOf(TensorOf(program_, id)));
  };
  const auto error = [&](const char* what, size_t i) {
    return InvalidArgument("the buffer for '" + tensor.name + "' overlaps that of " + what + " " +
                           std::to_string(i));
  };
  const bool is_input = std::any_of(inputs_.begin(), inputs_.end(),
                                    [&](const void* const& place) { return &place == self; });
  for (size_t i = 0; i < inputs_.size() && !is_input; ++i) {
    if (meets(program_.graph().inputs[i], inputs_[i], &inputs_[i])) return error("input", i);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (meets(program_.graph().outputs[i], outputs_[i], &outputs_[i])) return error("output", i);
  }
  return {};
}

Status BoundBuffers::BindInput(size_t i, const void* data) {
  const Tensor& tensor = TensorOf(program_, program_.graph().inputs[i]);
  INTAGLIO_RETURN_IF_ERROR(CheckApart(tensor, data, &inputs_[i]));
  inputs_[i] = data;
  return {};
}

Status BoundBuffers::BindOutput(size_t i, void* data) {
  const Tensor& tensor = TensorOf(program_, program_.graph().outputs[i]);
  INTAGLIO_RETURN_IF_ERROR(CheckApart(tensor, data, &outputs_[i]));
  outputs_[i] = data;
  return {};
}

// Moves an output together with all tensors that share its memory, such as the operands of a
// concatenation and tensors whose memory it takes in place. If others of the block do not fit or
// have moved, it moves the output alone.
void BoundBuffers::MoveOutput(TensorId id, std::byte* to, std::vector<std::byte*>& moved) const {
  const MemoryPlan& plan = program_.plan();
  const auto index = static_cast<size_t>(id);
  if (plan.tensor_block[index] == MemoryPlan::kNoBlock || moved[index] != nullptr) return;
  const Tensor& tensor = TensorOf(program_, id);
  if (tensor.variable || tensor.constant) return;
  const SharedBlock block(program_, id);
  bool others_moved = false;
  block.ForTensors([&](size_t i) { others_moved = others_moved || moved[i] != nullptr; });
  if (plan.tensor_offset[index] == 0 && !others_moved && block.Fits(BytesOf(tensor))) {
    block.ForTensors([&](size_t i) { moved[i] = to + plan.tensor_offset[i]; });
  } else if (block.IsDense()) {
    moved[index] = to;
  }
}

std::vector<std::byte*> BoundBuffers::Moved() const {
  const Graph& graph = program_.graph();
  std::vector<std::byte*> moved(graph.tensors.size());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i] == nullptr) continue;
    MoveOutput(graph.outputs[i], static_cast<std::byte*>(outputs_[i]), moved);
  }
  // Inputs come last, so that they lie in their own buffers, whatever they share memory with.
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == nullptr) continue;
    // Layers only read inputs; the pointer has the type of other tensors' memory.
    moved[static_cast<size_t>(graph.inputs[i])] =
        static_cast<std::byte*>(const_cast<void*>(inputs_[i]));
  }
  return moved;
}

}  // namespace intaglio::nn
