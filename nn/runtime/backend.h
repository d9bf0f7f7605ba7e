// Where a model runs: on the CPU, or on a device that has memory of its own.
#ifndef INTAGLIO_NN_RUNTIME_BACKEND_H_
#define INTAGLIO_NN_RUNTIME_BACKEND_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/routine/candidates.h"
#include "intaglio/nn/routine/routine.h"

namespace intaglio::nn {

// Immutable: instances of a model use one at once.
class Backend {
 public:
  virtual ~Backend() = default;

  // What stands before the colon in the names of its own candidates: "cpu", "cuda".
  virtual std::string name() const = 0;
  // What it runs on, such as "NVIDIA H200". Times that were measured hold only there.
  virtual std::string hardware() const = 0;

  // Prepares a layer as `choice` says. The tensors of a run lie in memory of Allocate, except
  // constants, which stay where the graph has them. Only for graphs that passed Validate. If the
  // backend does not have the operator, the error names the layer.
  virtual Result<PreparedLayer> Prepare(const Graph& graph, size_t layer,
                                        const LayerChoice& choice) const = 0;

  // The candidates of a layer here.
  virtual std::vector<CandidateInfo> ListCandidates(const Graph& graph, size_t layer) const = 0;

  // Whether several threads may call Prepare at once.
  virtual bool prepares_at_once() const = 0;

  // Memory for an arena, all zeros, at a multiple of kArenaAlignment.
  virtual Result<std::shared_ptr<std::byte>> Allocate(size_t bytes) const = 0;

  // Copies from and to the caller's memory. Copies and routines run in the order of the calls, but
  // maybe later. So `from` of CopyIn must stay as it is until the next CopyOut. CopyOut returns
  // when everything before it is done, with an error if any of that went wrong.
  virtual Status CopyIn(std::byte* to, const void* from, size_t bytes) const = 0;
  virtual Status CopyOut(void* to, const void* from, size_t bytes) const = 0;
  virtual Status Fill(std::byte* to, int byte, size_t bytes) const = 0;
  // Returns when everything before it is done, with an error if any of that went wrong.
  virtual Status Wait() const = 0;
};

// The backend of the CPU, with the candidates of the operators' rows. `expected_bytes` is how much
// the packed constants and the arena of one model will take, as far as known. They lie in large
// pages if they fill these.
std::shared_ptr<const Backend> MakeHostBackend(const LayerOptions& options,
                                               size_t expected_bytes = 0);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_RUNTIME_BACKEND_H_
