// Buffers of the caller that an instance reads its inputs from and writes its outputs to, in place
// of memory in its arena.
#ifndef INTAGLIO_NN_BOUND_BUFFERS_H_
#define INTAGLIO_NN_BOUND_BUFFERS_H_

#include <cstddef>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/program.h"

namespace intaglio::nn {

class BoundBuffers {
 public:
  // The program must outlive it.
  explicit BoundBuffers(const Program& program);

  // Null unbinds. An error, which changes nothing, where an output would share memory with another
  // bound buffer: a layer may write one before another one reads it.
  Status BindInput(size_t i, const void* data);
  Status BindOutput(size_t i, void* data);

  const void* input(size_t i) const { return inputs_[i]; }  // null: not bound
  void* output(size_t i) const { return outputs_[i]; }
  bool any() const;

  // Per tensor: where it lies instead of in the arena, or null. Nothing writes the memory of
  // inputs. An output that cannot lie in its buffer stays in the arena and is to be copied from
  // there.
  std::vector<std::byte*> Moved() const;

 private:
  Status CheckApart(const Tensor& tensor, const void* data, const void* self) const;
  void MoveOutput(TensorId id, std::byte* to, std::vector<std::byte*>& moved) const;

  const Program& program_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_BOUND_BUFFERS_H_
