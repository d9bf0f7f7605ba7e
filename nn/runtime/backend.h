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

  // How a layer is computed here: by the candidate that `routine` names or, if that is empty, by
  // the first that accepts the layer. The routine's arguments lie in memory of Allocate, but for
  // constants, which stay where the graph has them. Called on graphs that passed Validate; an
  // operator that the backend does not have is an error that names the layer.
  virtual Result<PreparedLayer> Prepare(const Graph& graph, size_t layer,
                                        const std::string& routine) const = 0;

  // The candidates of a layer here.
  virtual std::vector<CandidateInfo> ListCandidates(const Graph& graph, size_t layer) const = 0;

  // Whether it may be called by several threads at once.
  virtual bool prepares_at_once() const = 0;

  // Memory for an arena, all zeros, at a multiple of kArenaAlignment.
  virtual Result<std::shared_ptr<std::byte>> Allocate(size_t bytes) const = 0;

  // From and to the caller's memory, in the order of the routines that run before and after. `from`
  // of CopyIn must stay until the next CopyOut, which returns when all that comes before is done,
  // with an error if any of it went wrong.
  virtual Status CopyIn(std::byte* to, const void* from, size_t bytes) const = 0;
  virtual Status CopyOut(void* to, const void* from, size_t bytes) const = 0;
  virtual Status Fill(std::byte* to, int byte, size_t bytes) const = 0;
};

// The CPU's: the routines of the operator table. What one model's layers pack, and its arena, lie
// in large pages as far as `expected_bytes` fill them; 0 where nothing is expected.
std::shared_ptr<const Backend> MakeHostBackend(const LayerOptions& options,
                                               size_t expected_bytes = 0);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_RUNTIME_BACKEND_H_
