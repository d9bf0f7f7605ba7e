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
#include "intaglio/gemm/winograd_weights.h"
#include "intaglio/nn/graph/layer_view.h"
#include "intaglio/nn/graph/numerics.h"

namespace intaglio::nn {

// How one layer shall be computed, where that is not the default.
struct LayerChoice {
  std::string routine = {};  // the candidate's name; empty: the first that accepts the layer
  std::string kernel = {};   // for its packed constants; empty: the model's
  int threads = 0;           // the most that it may use; 0: the model's
};

// What a routine gets for one run. Tensors come in the order of the layer. All are dense, except
// that output 0 may have a stride if the prepared layer allows it (strides_output). The bytes
// between its lines then belong to others.
struct RunArguments {
  Context& context;
  std::span<const void* const> inputs;  // null if an optional input is absent
  std::span<void* const> outputs;
  // PreparedLayer::scratch_bytes bytes at a multiple of 64.
  void* scratch;
  // For each input, the same memory to be written if the input is a variable, else null.
  std::span<void* const> variables;
  // Bytes of output 0 from one line of its last dimension to the next.
  ptrdiff_t output_stride;
  int64_t& rounds_left;  // how many rounds all loops of this run together may still take
  // Whether an earlier layer has made the shared form of input 0 in the scratch
  // (PreparedLayer::shared_scratch_key).
  bool scratch_is_ready = false;
};

// One way to compute one layer, with everything that it needs packed and computed. It is immutable,
// because instances of a model run it at once.
class Routine {
 public:
  virtual ~Routine() = default;
  virtual Status Run(const RunArguments& arguments) const = 0;
};

struct PreparedLayer {
  std::shared_ptr<const Routine> routine;
  std::string name;    // its candidate's name: backend:type/algorithm
  std::string kernel;  // for which constants are packed; may be empty
  int64_t macs = 0;
  int64_t work = 0;  // per run (CountWork of nn/graph/cost.h); rounds of loops are not counted
  int64_t round_work = 0;  // the most for one round of a loop, without loops inside it
  size_t constant_bytes = 0;
  size_t scratch_bytes = 0;
  // If this is not 0, the scratch begins with a form of input 0, such as its quantized elements.
  // Layers with the same key and the same input 0 have the same bytes there, so they may share the
  // scratch: the first of them makes the form, and the others find it. Behind the form, each layer
  // may write.
  int64_t shared_scratch_key = 0;
  // The inputs whose memory output 0 may take: bit i is input i. Before the routine writes an
  // element, it must have read the elements of that input at the same byte and at earlier ones. It
  // need not care for other inputs: if one lies in the same memory and has no bit here, output 0
  // does not take that memory.
  uint32_t in_place_inputs = 0;
  // The inputs that are constants and that the routine has packed, so that runs do not read them:
  // bit i is input i.
  uint32_t packed_inputs = 0;
  // Output 0 has the same bytes as input 0. The routine copies them unless both lie in the same
  // memory.
  bool alias = false;
  // The axis of a concatenation, not negative. Its inputs may already lie at their places in output
  // 0. The routine copies those that do not.
  std::optional<int> joined_axis = std::nullopt;
  // The routine writes output 0 with RunArguments::output_stride.
  bool strides_output = false;
  int threads = 0;  // the most that it may use; 0: all of the context's
};

class Ledger;      // nn/graph/ledger.h
class PackedOnce;  // nn/routine/packed_once.h

// What the candidates of a device must know of it. Each backend derives its own.
struct Device {};

// The options of Model::Prepare that operators use, and what the layers of a model share.
struct LayerOptions {
  std::string kernel;  // for packed constants
  // Computes in float32 where that provably gives the same bits (BindOptions::fit).
  bool fit = true;
  // The weights of all layers together do not fit in L2 (BindOptions::weights_from_memory). Only
  // CONV_2D and FULLY_CONNECTED use it.
  bool cold = false;
  // The default gives what is computed before a model is prepared the same bits on every CPU.
  FloatSums float_sums = FloatSums::kUnfused;
  WinogradWeights winograd_weights = WinogradWeights::kBySize;  // where the routine does not say
  // Bytes are charged to this ledger before they are allocated; may be null.
  std::shared_ptr<Ledger> ledger = nullptr;
  // The packed constants that layers of the model share; may be null. Constants are told apart by
  // their addresses, so each model needs its own.
  std::shared_ptr<PackedOnce> packed = nullptr;
  // The name of the candidate that computes the layer. Empty: the first that accepts it.
  std::string routine = {};
  const Device* device = nullptr;  // of the backend; null for the CPU's
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_ROUTINE_ROUTINE_H_
