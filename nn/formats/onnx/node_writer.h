// Inside the .onnx writer: the nodes and constants of a file.
#ifndef INTAGLIO_NN_FORMATS_ONNX_NODE_WRITER_H_
#define INTAGLIO_NN_FORMATS_ONNX_NODE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/graph/tensor.h"
#include "intaglio/nn/passes/permutation.h"

namespace intaglio::nn::onnx {

// What nodes read and make. Values get their names at the end, inputs and outputs of the model
// first.
using Value = int;
inline constexpr Value kNoValue = -1;  // an optional input that is absent

struct Attribute {
  const char* name;
  std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
               std::vector<std::string>>
      value;
};
using Attributes = std::vector<Attribute>;

std::vector<int64_t> Widened(const std::vector<int>& values);
TensorProto::DataType CodeOf(Type type);

// Constants of fewer bytes are in the file, even if the others lie beside it.
inline constexpr size_t kLeastApart = 1024;

// Refuses files that are too large.
Status CheckSize(size_t bytes);

// Adds nodes in the order in which they run. The first error sticks; status() has it.
class NodeWriter {
 public:
  // Constants of `least_apart` bytes and more will not be in the file, whatever their size.
  explicit NodeWriter(GraphProto& graph, size_t least_apart = SIZE_MAX)
      : graph_(graph), least_apart_(least_apart) {}

  const Status& status() const { return status_; }
  // How many values there are. The next one gets this number.
  Value count() const { return static_cast<Value>(wanted_.size()); }
  // The oldest opset that has all nodes so far.
  int opset() const { return opset_; }
  bool uses_microsoft() const { return uses_microsoft_; }
  void RequireOpset(int opset) { opset_ = opset > opset_ ? opset : opset_; }

  // The values that are made from now on get names that begin with this one.
  void SetName(std::string name) { name_ = std::move(name); }
  // The name that a value would like to have.
  void Rename(Value value, const std::string& name) {
    if (value != kNoValue) wanted_[static_cast<size_t>(value)] = name;
  }

  Value AddInput(const Tensor& tensor);
  // The last step: drops nodes that nothing reads, gives names to everything, lists the outputs.
  void Finish(const std::vector<Value>& outputs, const std::vector<const Tensor*>& tensors);

  // `op` is the node's operator, with the domain if that is com.microsoft.
  Value Node(const char* op, std::vector<Value> inputs, const Attributes& attributes = {});
  std::vector<Value> Nodes(const char* op, std::vector<Value> inputs, size_t outputs,
                           const Attributes& attributes = {});

  // A constant of these bytes. Small ones are written once.
  Value Constant(Type type, const Shape& shape, const void* data, size_t bytes);
  Value Constant(const Tensor& tensor) {
    return Constant(tensor.type, tensor.shape, tensor.data, tensor.data_bytes);
  }
  template <class T>
  Value Vector(const std::vector<T>& values) {
    return Constant(TypeOf<T>, {static_cast<int>(values.size())}, values.data(),
                    values.size() * sizeof(T));
  }
  template <class T>
  Value Scalar(T value) {
    return Constant(TypeOf<T>, {}, &value, sizeof value);
  }
  Value Ints(const std::vector<int>& values) { return Vector(Widened(values)); }
  // One number of a type, which must be able to hold it.
  Value Number(Type type, double value);

  // These write no node where nothing would change, and none behind one that it undoes.
  Value Transposed(Value value, const Permutation& permutation);
  Value Reshaped(Value value, const Shape& from, const Shape& to);
  Value CastTo(Value value, Type from, Type to);

 private:
  // What a value was made from by one Transpose or Reshape.
  struct Moved {
    Value from = kNoValue;
    Permutation permutation;  // empty: reshaped
    Shape shape;              // before it was reshaped
  };

  Value NewValue(const char* what);
  void Charge(size_t bytes);
  void SetOperator(NodeProto& node, const std::string& op);
  std::vector<Value> MadeAlone(std::vector<Value> outputs);
  void DropUnread(const std::vector<Value>& outputs);
  std::string NameOf(Value value);
  std::string Unique(const std::string& wanted);
  void SetType(ValueInfoProto& info, const Tensor& tensor) const;

  GraphProto& graph_;
  const size_t least_apart_;
  Status status_;
  int opset_ = 21;
  bool uses_microsoft_ = false;
  size_t bytes_ = 0;
  std::string name_;
  std::vector<std::string> wanted_;  // per value: the name that it would like
  std::vector<std::string> names_;   // per value: empty until it has one
  std::vector<std::vector<Value>> node_inputs_;
  std::vector<std::vector<Value>> node_outputs_;
  std::vector<Value> inputs_;
  std::vector<Value> constants_;
  std::map<std::string, Value> small_constants_;
  std::map<Value, Moved> moved_;
  std::set<std::string> taken_;
  std::map<std::string, int> copies_;  // of a name that is taken
};

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_NODE_WRITER_H_
