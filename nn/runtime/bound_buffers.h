// The caller's buffers from which an instance reads its inputs and to which it writes its outputs,
// instead of memory in its arena.
#ifndef INTAGLIO_NN_RUNTIME_BOUND_BUFFERS_H_
#define INTAGLIO_NN_RUNTIME_BOUND_BUFFERS_H_

#include <cstddef>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/routine/program.h"

namespace intaglio::nn {

class BoundBuffers {
 public:
  // The program must outlive this object.
  explicit BoundBuffers(const Program& program);

  // Null unbinds. It is an error if an output would share memory with another bound buffer, because
  // a layer may write one before another layer reads the other. An error changes nothing.
  Status BindInput(size_t i, const void* data);
  Status BindOutput(size_t i, void* data);

  const void* input(size_t i) const { return inputs_[i]; }  // null if not bound
  void* output(size_t i) const { return outputs_[i]; }
  bool any() const;

  // Returns, for each tensor, where it lies instead of in the arena, or null. Nothing writes the
  // memory of inputs. An output that cannot lie in its buffer stays in the arena, and the caller
  // must copy it from there.
  std::vector<std::byte*> Moved() const;

 private:
  Status CheckApart(const Tensor& tensor, const void* data, const void* self) const;
  void MoveOutput(TensorId id, std::byte* to, std::vector<std::byte*>& moved) const;

  const Program& program_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_RUNTIME_BOUND_BUFFERS_H_
