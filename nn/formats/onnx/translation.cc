#include "intaglio/nn/formats/onnx/translation.h"

#include <algorithm>

#include "intaglio/nn/formats/onnx/graph_reader.h"
#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn::onnx {

TensorId Translation::in(size_t i) {
  if (!has(i)) Invalid("input " + std::to_string(i) + " is absent");
  return inputs_[i];
}

const AttributeProto* Translation::Find(const char* name) const {
  const auto& attributes = node_.attribute();
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const AttributeProto& a) { return a.name() == name; });
  if (found == attributes.end()) return nullptr;
  if (found->ref_attr_name().empty()) return &*found;
  const auto argument = arguments_.find(found->ref_attr_name());
  return argument == arguments_.end() ? nullptr : argument->second;
}

const AttributeProto* Translation::FindOf(const char* name, AttributeProto::AttributeType kind) {
  const AttributeProto* const attribute = Find(name);
  // Files of the first years do not say the kind.
  if (attribute == nullptr || attribute->type() == kind ||
      attribute->type() == AttributeProto::UNDEFINED) {
    return attribute;
  }
  Invalid("attribute '" + std::string(name) + "' is of another kind");
  return nullptr;
}

int64_t Translation::Int(const char* name, int64_t otherwise) {
  const AttributeProto* const attribute = FindOf(name, AttributeProto::INT);
  return attribute == nullptr ? otherwise : attribute->i();
}

int Translation::IntWithin(const char* name, int64_t otherwise, int least, int most) {
  const int64_t value = Int(name, otherwise);
  if (value >= least && value <= most) return static_cast<int>(value);
  Invalid("attribute '" + std::string(name) + "' is " + std::to_string(value) + "; " +
          std::to_string(least) + " to " + std::to_string(most) + " are possible");
  return least;
}

bool Translation::Flag(const char* name, bool otherwise) { return Int(name, otherwise) != 0; }

float Translation::Float(const char* name, float otherwise) {
  const AttributeProto* const attribute = FindOf(name, AttributeProto::FLOAT);
  return attribute == nullptr ? otherwise : attribute->f();
}

std::string Translation::String(const char* name, std::string otherwise) {
  const AttributeProto* const attribute = FindOf(name, AttributeProto::STRING);
  return attribute == nullptr ? otherwise : attribute->s();
}

std::vector<int64_t> Translation::Ints(const char* name, std::vector<int64_t> otherwise) {
  const AttributeProto* const attribute = FindOf(name, AttributeProto::INTS);
  if (attribute == nullptr) return otherwise;
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<float> Translation::Floats(const char* name, std::vector<float> otherwise) {
  const AttributeProto* const attribute = FindOf(name, AttributeProto::FLOATS);
  if (attribute == nullptr) return otherwise;
  return {attribute->floats().begin(), attribute->floats().end()};
}

std::vector<std::string> Translation::Strings(const char* name) {
  const AttributeProto* const attribute = FindOf(name, AttributeProto::STRINGS);
  if (attribute == nullptr) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

TensorId Translation::TensorAttribute(const char* name) {
  const AttributeProto* const attribute = FindOf(name, AttributeProto::TENSOR);
  if (attribute == nullptr || !attribute->has_t()) {
    Invalid("attribute '" + std::string(name) + "' is absent");
    return kNoTensor;
  }
  return reader_.AddConstant(attribute->t());
}

const GraphProto* Translation::Subgraph(const char* name) {
  const AttributeProto* const attribute = FindOf(name, AttributeProto::GRAPH);
  if (attribute != nullptr && attribute->has_g()) return &attribute->g();
  Invalid("attribute '" + std::string(name) + "' is absent");
  return nullptr;
}

std::vector<int> Translation::Axes(int moved, std::vector<int> otherwise, int rank) {
  std::vector<int64_t> given;
  if (opset_ < moved) {
    if (!HasAttribute("axes")) return otherwise;
    given = Ints("axes");
  } else {
    if (!has(1)) return otherwise;
    given = make.Ints(in(1), "the axes");
    if (given.empty()) return otherwise;
  }
  std::vector<int> axes;
  for (const int64_t axis : given) axes.push_back(Axis(make, axis, rank));
  return axes;
}

std::vector<int> ToInts(Translation& t, const std::vector<int64_t>& values, const char* what) {
  std::vector<int> ints;
  for (const int64_t value : values) {
    if (!std::in_range<int>(value)) {
      t.Invalid(std::string(what) + " of " + std::to_string(value) + " does not fit 32 bits");
      return {};
    }
    ints.push_back(static_cast<int>(value));
  }
  return ints;
}

}  // namespace intaglio::nn::onnx
