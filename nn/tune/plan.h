// What a tuning found: how each layer of a network is computed fastest on a machine. It is kept in
// a file of JSON (docs/tuning.md) and replayed: the same choices every time, and no measuring.
#ifndef INTAGLIO_NN_TUNE_PLAN_H_
#define INTAGLIO_NN_TUNE_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/named_range.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/nn/tune/machine.h"

namespace intaglio::nn::tune {

// How a layer of a childnet is computed (nn/routine/childnet.h).
struct ChildWay {
  size_t layer = 0;  // its number in the childnet
  std::string operator_name;
  std::string routine;
  std::string kernel;
  int threads = 0;
  double ns = 0;  // where the childnet was measured alone
  std::vector<ChildWay> layers = {};
};

// One way to compute a layer, and its time, in nanoseconds.
struct TimedWay {
  std::string routine;  // as Model::ListRoutines names it
  std::string kernel;   // of its packed constants; empty if it has none
  int threads = 0;      // the most that it uses; 0: all
  double ns = 0;        // 0: not measured
  size_t bytes = 0;     // of packed constants
  // The layer computes in another form than in the network: in float32 what its integers stand for
  // (nn/passes/compute_in_float.h), or with the integers that stand for its float32 (nn/quantize).
  bool converted = false;
  // If the routine is a childnet, those of its layers that are not computed as by default. The
  // routine's name has the same choices (nn/routine/routine_name.h).
  std::vector<ChildWay> layers = {};
};

// What stands before the algorithm in a routine's name: "cpu:qint8" of "cpu:qint8/gemm".
std::string SchemaOf(const std::string& routine);

// The routine of a layer that vanishes in float32: a QUANTIZE of integers.
inline constexpr const char* kVanishes = "cpu:float32/none";

// By how much outputs differ from those of the untuned network.
struct Difference {
  bool measured = false;
  double steps = 0;     // the most by which an output differs, in steps of its quantization
  double relative = 0;  // the root mean square of the difference over that of the outputs
};

struct LayerPlan {
  size_t layer = 0;           // its number in the graph
  std::string label;          // for the reader
  std::string operator_name;  // "CONV_2D"
  TimedWay chosen;
  TimedWay untuned;  // what runs without a plan
  double noise = 0;  // by what share of its time equal runs of the untuned layer differed
  // What it changes if this layer alone computes in the other form. Only measured for layers that
  // do.
  Difference difference = {};
};

// A way through the whole network that was measured in turns with the others.
struct NetworkTime {
  std::string name;  // "untuned", "integers", "float32", "int8", "mixed"
  double ns = 0;
  double predicted_ns = 0;  // by the sum of the layers and adapters
  size_t bytes = 0;         // of packed constants and the arena
};

struct Plan {
  std::string model;  // a name for the reader
  uint64_t digest = 0;
  // AcceptedKey of the plan if its layers of int8 were prepared like this. Then a replay does not
  // try them first. 0: not known.
  uint64_t accepted = 0;
  Machine machine;
  std::string device = {};  // that some layers run on, "cuda: NVIDIA H200"; empty: none does
  int threads = 1;
  double untuned_ns = 0;  // a run of the network, measured in turns with the next
  double tuned_ns = 0;
  double predicted_ns = 0;            // by the sum of the layers and adapters
  size_t adapters = 0;                // layers that were put in to change forms
  Difference difference = {};         // of the tuned network, if it is bounded
  std::vector<NetworkTime> networks;  // that were compared
  // If not empty, layers of float32 compute with int8 by these ranges of tensors. Numbers of layers
  // are those of the network as the quantizer simplifies it.
  std::vector<NamedRange> ranges;
  std::vector<LayerPlan> layers;  // those that are not computed as without a plan
};

// Stands for what decides whether the layers that compute in another form can be prepared: the
// network by its digest, the parameters of its operators that AddParameters knows, zero points, the
// machine with its library, the ranges, and which layers they are. `graph` is the one that numbers
// of layers are of. Where a network differs elsewhere, Prepare finds what it cannot take.
uint64_t AcceptedKey(const Plan& plan, const Graph& graph);

std::string ToJson(const Plan& plan);

// The most bytes that the text of a plan may have.
inline constexpr size_t kMaxPlanBytes = size_t{64} << 20;

// Errors say in one line what is wrong with the text.
Result<Plan> ParsePlan(std::string_view json);

// A plan as what Model::Prepare takes.
struct Replay {
  // The network to prepare: the one that was given, or one where some layers compute in the other
  // form.
  Graph graph;
  std::vector<RoutineChoice> choices;  // for PrepareOptions::routines, with that graph
  // The layers that compute in the other form, by their numbers in the network that was given or,
  // with Plan::ranges, in the simplified one.
  std::vector<size_t> converted_layers;
  // What of the plan does not fit here. Such layers are computed as without a plan.
  std::vector<std::string> warnings;
};

// It is an error if the plan was made for another network. If it was made on another machine, or
// for another device than PrepareOptions::device, that is a warning. So is a routine or a kernel
// that this machine or this network does not have.
Result<Replay> ReplayOf(const Plan& plan, const Graph& graph, const PrepareOptions& options);

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_PLAN_H_
