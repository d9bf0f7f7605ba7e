// What an operator makes of a layer: a routine that computes it, and what the routine needs.
#ifndef INTAGLIO_NN_ROUTINE_ROUTINE_H_
#define INTAGLIO_NN_ROUTINE_ROUTINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/gemm/context.h"
#include "intaglio/nn/graph/layer_view.h"

namespace intaglio::nn {

// What a routine gets for one run: dense tensors in the order of the layer (null where an optional
// input is absent), scratch in the arena, as much as its preparation asked for, aligned to 64
// bytes, and the inputs once more, to be written, where they are variables (else null). Only output
// 0 need not be dense, where the preparation allowed that: then others own what lies between its
// lines.
struct RunArguments {
  Context& context;
  std::span<const void* const> inputs;
  std::span<void* const> outputs;
  void* scratch;
  std::span<void* const> variables;
  // Bytes of output 0 from one line of its last dimension to the next.
  ptrdiff_t output_stride;
  int64_t& rounds_left;  // of all loops of this run
  // The scratch holds what it shares with a layer before (PreparedLayer::shared_scratch_key).
  bool scratch_is_ready = false;
};

// One way to compute one layer, with everything it needs packed and computed. Immutable: instances
// of a model run it at once.
class Routine {
 public:
  virtual ~Routine() = default;
  virtual Status Run(const RunArguments& arguments) const = 0;
};

struct PreparedLayer {
  std::shared_ptr<const Routine> routine;
  std::string name;    // its candidate's: backend:type/algorithm
  std::string kernel;  // of packed constants, or empty
  int64_t macs = 0;
  int64_t work = 0;  // per run (CountWork of nn/graph/cost.h); rounds of loops are not counted
  int64_t round_work = 0;  // the most for one round of a loop, without loops inside it
  size_t constant_bytes = 0;
  size_t scratch_bytes = 0;
  // Not 0: the scratch begins with a form of input 0, and layers of the same number and input have
  // the same bytes there. They may share them: the first of the layers makes it, the others find it
  // made, and each may have written behind it.
  int64_t shared_scratch_key = 0;
  // The inputs whose memory output 0 may take: bit i is input i. The routine must read each element
  // of that input before it writes an element at the same byte or a later one.
  uint32_t in_place_inputs = 0;
  // The constants among the inputs that the routine has in a form of its own, and does not read
  // again: bit i is input i.
  uint32_t packed_inputs = 0;
  // Output 0 has the bytes of input 0. The routine copies unless both are the same memory.
  bool alias = false;
  // The axis of a concatenation whose inputs may lie in output 0, where they belong: the routine
  // copies the others. Not negative.
  std::optional<int> joined_axis = std::nullopt;
  // The routine writes output 0 with the stride that it is told.
  bool strides_output = false;
};

class Ledger;      // nn/graph/ledger.h
class PackedOnce;  // nn/routine/packed_once.h

// What the candidates of a device need of it: each backend derives its own.
struct Device {};

// What operators take from the options of Model::Prepare.
struct LayerOptions {
  std::string kernel;  // for packed constants
  // Compute in float32 where that is proven to give the same bits, as by BindOptions::fit.
  bool fit = true;
  // The weights of all layers are more than L2 holds (BindOptions::weights_from_memory): for
  // CONV_2D and FULLY_CONNECTED.
  bool cold = false;
  // Packed data is charged to this ledger before it is allocated; may be null.
  std::shared_ptr<Ledger> ledger = nullptr;
  // Layers find here what another layer has made of the same constant; may be null. It compares
  // addresses, so it serves one model only.
  std::shared_ptr<PackedOnce> packed = nullptr;
  // Names the candidate that computes the layer; empty: the first that accepts it.
  std::string routine = {};
  const Device* device = nullptr;  // of the backend; null for the CPU's
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_ROUTINE_H_
