// Inside the .tflite reader: variables that are resources. VAR_HANDLE makes a handle of a name,
// READ_VARIABLE and ASSIGN_VARIABLE go through it, and the subgraph of a CALL_ONCE assigns
// constants before the first run. In the graph they are tensors that are variables; handles vanish.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_RESOURCES_H_
#define INTAGLIO_NN_FORMATS_TFLITE_RESOURCES_H_

#include <map>
#include <string>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

class Resources {
 public:
  // Variables become tensors of the graph. All arguments must outlive this.
  Resources(const TfliteFile& file, Budget& budget, Graph& graph)
      : file_(file), budget_(budget), graph_(graph) {}

  // From here on, this tensor of the file's first subgraph is the handle of a variable.
  Status MakeHandle(TensorId handle, const tflite::VarHandleOptions* options);

  // The variable behind a handle; an error where nothing was assigned to it before.
  Result<TensorId> Find(TensorId handle) const;

  // The variable behind a handle, made like the tensor `value` where nothing was assigned to it
  // before.
  Result<TensorId> FindOrMake(TensorId handle, TensorId value);

  // What a CALL_ONCE with this subgraph does.
  Status Initialize(int32_t subgraph);

  // No layer, input or output of the graph uses a tensor that the file says is a handle.
  Status CheckHandles(const tflite::SubGraph& subgraph) const;

 private:
  Status Initialize(const tflite::SubGraph& subgraph);
  Status SetInitial(const std::string& name, const Tensor& value);

  const TfliteFile& file_;
  Budget& budget_;
  Graph& graph_;
  std::map<TensorId, std::string> names_;      // of handles
  std::map<std::string, TensorId> variables_;  // by name
};

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_RESOURCES_H_
