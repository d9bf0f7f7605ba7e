// Inside the .onnx reader: what the translation of one node sees and makes (rows.h).
#ifndef INTAGLIO_NN_FORMATS_ONNX_TRANSLATION_H_
#define INTAGLIO_NN_FORMATS_ONNX_TRANSLATION_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "intaglio/nn/formats/onnx/layer_maker.h"
#include "intaglio/nn/formats/onnx/onnx.pb.h"
#include "intaglio/nn/ops/operators.h"

namespace intaglio::nn::onnx {

class GraphReader;

// Attributes of a call of a function, by name: what the function's nodes refer to.
using Arguments = std::map<std::string, const AttributeProto*>;

// A node whose inputs have been found. Errors end the translation (LayerMaker).
class Translation {
 public:
  Translation(const NodeProto& node, int opset, const Arguments& arguments,
              std::vector<TensorId> inputs, LayerMaker& maker, GraphReader& reader)
      : make(maker),
        node_(node),
        opset_(opset),
        arguments_(arguments),
        inputs_(std::move(inputs)),
        outputs_(static_cast<size_t>(node.output_size()), kNoTensor),
        reader_(reader) {}

  LayerMaker& make;

  const NodeProto& node() const { return node_; }
  // The version of the operators of the node's domain that the model was written for.
  int opset() const { return opset_; }
  GraphReader& reader() const { return reader_; }

  size_t input_count() const { return inputs_.size(); }
  bool has(size_t i) const { return i < inputs_.size() && inputs_[i] != kNoTensor; }
  // An input that must be there.
  TensorId in(size_t i);
  // An input, or kNoTensor.
  TensorId optional(size_t i) const { return has(i) ? inputs_[i] : kNoTensor; }
  Tensor input(size_t i) { return make.At(in(i)); }
  int rank(size_t i) { return make.RankOf(in(i)); }
  const std::vector<TensorId>& inputs() const { return inputs_; }

  size_t output_count() const { return outputs_.size(); }
  // Whether the file gives output i a name, so that someone may read it.
  bool wants(size_t i) const {
    return i < outputs_.size() && !node_.output(static_cast<int>(i)).empty();
  }
  void Set(size_t i, TensorId id) {
    if (i < outputs_.size()) outputs_[i] = id;
  }
  const std::vector<TensorId>& outputs() const { return outputs_; }
  // Output i has elements of so many bits, whatever the inputs have.
  void SetWithBits(size_t i, TensorId id, int bits) {
    Set(i, id);
    make.SetNarrow(id, bits);
    decides_bits_ = true;
  }
  bool decides_bits() const { return decides_bits_; }

  // Attributes. The second argument is what holds where the file has none. Another kind of
  // attribute under the name is an error.
  bool HasAttribute(const char* name) const { return Find(name) != nullptr; }
  int64_t Int(const char* name, int64_t otherwise);
  int IntWithin(const char* name, int64_t otherwise, int least, int most);
  bool Flag(const char* name, bool otherwise);  // 0 or another number
  float Float(const char* name, float otherwise);
  std::string String(const char* name, std::string otherwise);
  std::vector<int64_t> Ints(const char* name, std::vector<int64_t> otherwise = {});
  std::vector<float> Floats(const char* name, std::vector<float> otherwise = {});
  std::vector<std::string> Strings(const char* name);
  TensorId TensorAttribute(const char* name);  // a constant
  const GraphProto* Subgraph(const char* name);

  // Axes of input 0: those of an attribute before the opset `moved`, else those of input 1. Counted
  // from the front. None are given: `otherwise`.
  std::vector<int> Axes(int moved, std::vector<int> otherwise, int rank);

  // They end the translation.
  void Invalid(const std::string& what) { make.Fail(InvalidArgument(what)); }
  void Refuse(const std::string& what) { make.Fail(intaglio::Unsupported(what)); }

 private:
  const AttributeProto* Find(const char* name) const;
  // The attribute if it is of the kind; null where there is none.
  const AttributeProto* FindOf(const char* name, AttributeProto::AttributeType kind);

  const NodeProto& node_;
  const int opset_;
  const Arguments& arguments_;
  std::vector<TensorId> inputs_;
  std::vector<TensorId> outputs_;
  bool decides_bits_ = false;
  GraphReader& reader_;
};

// The numbers as dimensions, sizes or places.
std::vector<int> ToInts(Translation& t, const std::vector<int64_t>& values, const char* what);

}  // namespace intaglio::nn::onnx

#endif  // INTAGLIO_NN_FORMATS_ONNX_TRANSLATION_H_
