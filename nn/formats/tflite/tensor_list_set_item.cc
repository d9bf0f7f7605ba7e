#include "intaglio/nn/formats/tflite/tensor_list_set_item.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "intaglio/nn/formats/tflite/operators.h"

namespace intaglio::nn {
namespace {

using Code = tflite::BuiltinOperator;

// Operators by what they make.
class Makers {
 public:
  Makers(const TfliteFile& file, const tflite::SubGraph& subgraph, const Graph& graph)
      : file_(file), subgraph_(subgraph), graph_(graph), maker_(graph.tensors.size(), -1) {
    for (uint32_t i = 0; i < Length(subgraph.operators()); ++i) {
      const auto* const outputs = subgraph.operators()->Get(i)->outputs();
      for (uint32_t k = 0; k < Length(outputs); ++k) {
        if (Exists(outputs->Get(k))) maker_[static_cast<size_t>(outputs->Get(k))] = i;
      }
    }
  }

  bool Exists(TensorId id) const { return id >= 0 && std::cmp_less(id, graph_.tensors.size()); }

  const tflite::Operator& At(size_t place) const {
    return *subgraph_.operators()->Get(static_cast<uint32_t>(place));
  }

  bool Is(const tflite::Operator& op, Code code, size_t inputs) const {
    const Result<Code> found = CodeAt(file_, op);
    return found.ok() && *found == code && Length(op.inputs()) == inputs &&
           Length(op.outputs()) == 1;
  }

  // What makes a tensor, if it is an operator of this kind and number of inputs.
  const tflite::Operator* Find(TensorId id, Code code, size_t inputs) const {
    if (!Exists(id) || maker_[static_cast<size_t>(id)] < 0) return nullptr;
    const tflite::Operator& op = At(static_cast<size_t>(maker_[static_cast<size_t>(id)]));
    return Is(op, code, inputs) ? &op : nullptr;
  }

  // Whether a tensor is an int32 constant, of which all elements are `value`.
  bool IsAll(TensorId id, int32_t value) const {
    if (!Exists(id)) return false;
    const Tensor& tensor = graph_.tensors[static_cast<size_t>(id)];
    if (!tensor.constant || tensor.type != Type::kInt32) return false;
    for (size_t i = 0; i < tensor.data_bytes / sizeof(value); ++i) {
      int32_t element = 0;
      std::memcpy(&element, static_cast<const std::byte*>(tensor.data) + i * sizeof(element),
                  sizeof(element));
      if (element != value) return false;
    }
    return true;
  }

  bool IsScalar(TensorId id) const {
    if (!Exists(id)) return false;
    const Tensor& tensor = graph_.tensors[static_cast<size_t>(id)];
    return tensor.type == Type::kInt32 && tensor.shape.empty();
  }

 private:
  const TfliteFile& file_;
  const tflite::SubGraph& subgraph_;
  const Graph& graph_;
  std::vector<int64_t> maker_;
};

TensorId In(const tflite::Operator& op, uint32_t i) { return op.inputs()->Get(i); }

bool IsAlongFirstAxis(const tflite::Operator& op) {
  const auto* const options = op.builtin_options_as<tflite::ConcatenationOptions>();
  return options != nullptr && options->axis() == 0 &&
         options->fused_activation_function() == tflite::ActivationFunctionType::NONE;
}

// i of a bound [i, rest, rest, ..]; kNoTensor where it is none.
TensorId IndexOf(const Makers& makers, TensorId bound, int32_t rest) {
  const tflite::Operator* const whole = makers.Find(bound, Code::CONCATENATION, 2);
  if (whole == nullptr || !IsAlongFirstAxis(*whole) || !makers.IsAll(In(*whole, 1), rest)) {
    return kNoTensor;
  }
  const tflite::Operator* const reshape = makers.Find(In(*whole, 0), Code::RESHAPE, 2);
  return reshape != nullptr && makers.IsScalar(In(*reshape, 0)) ? In(*reshape, 0) : kNoTensor;
}

// i of i + 1.
TensorId IndexBefore(const Makers& makers, TensorId id) {
  const tflite::Operator* const sum = makers.Find(id, Code::ADD, 2);
  if (sum == nullptr || !makers.IsAll(In(*sum, 1), 1) || !makers.IsScalar(In(*sum, 1))) {
    return kNoTensor;
  }
  const auto* const options = sum->builtin_options_as<tflite::AddOptions>();
  const bool plain = options == nullptr ||
                     options->fused_activation_function() == tflite::ActivationFunctionType::NONE;
  return plain ? In(*sum, 0) : kNoTensor;
}

std::optional<ItemUpdates::Update> Match(const Makers& makers, const tflite::Operator& op) {
  if (!makers.Is(op, Code::CONCATENATION, 3) || !IsAlongFirstAxis(op)) return {};
  const tflite::Operator* const before = makers.Find(In(op, 0), Code::SLICE, 3);
  const tflite::Operator* const behind = makers.Find(In(op, 2), Code::SLICE, 3);
  if (before == nullptr || behind == nullptr || In(*before, 0) != In(*behind, 0)) return {};
  if (!makers.IsAll(In(*before, 1), 0) || !makers.IsAll(In(*behind, 2), -1)) return {};
  const TensorId index = IndexOf(makers, In(*before, 2), -1);
  const TensorId next = IndexOf(makers, In(*behind, 1), 0);
  if (index == kNoTensor || next == kNoTensor || IndexBefore(makers, next) != index) return {};
  if (!makers.Exists(In(*before, 0)) || !makers.Exists(In(op, 1))) return {};
  return ItemUpdates::Update{In(*before, 0), In(op, 1), index};
}

void Count(const flatbuffers::Vector<int32_t>* ids, int by, std::vector<int>& uses) {
  for (uint32_t i = 0; i < Length(ids); ++i) {
    const int32_t id = ids->Get(i);
    if (id >= 0 && std::cmp_less(id, uses.size())) uses[static_cast<size_t>(id)] += by;
  }
}

}  // namespace

ItemUpdates::ItemUpdates(const TfliteFile& file, const tflite::SubGraph& subgraph,
                         const Graph& graph)
    : skipped_(Length(subgraph.operators())) {
  const Makers makers(file, subgraph, graph);
  for (size_t i = 0; i < skipped_.size(); ++i) {
    const std::optional<Update> update = Match(makers, makers.At(i));
    if (update.has_value()) updates_[i] = *update;
  }
  if (updates_.empty()) return;
  std::vector<int> uses(graph.tensors.size());
  Count(subgraph.outputs(), 1, uses);
  for (size_t i = 0; i < skipped_.size(); ++i) Count(makers.At(i).inputs(), 1, uses);
  std::vector<bool> helps(graph.tensors.size());
  const auto drop = [&](const flatbuffers::Vector<int32_t>* inputs) {
    Count(inputs, -1, uses);
    for (uint32_t i = 0; i < Length(inputs); ++i) {
      if (makers.Exists(inputs->Get(i))) helps[static_cast<size_t>(inputs->Get(i))] = true;
    }
  };
  // Users come after what they use.
  for (size_t i = skipped_.size(); i-- > 0;) {
    const tflite::Operator& op = makers.At(i);
    if (const auto update = updates_.find(i); update != updates_.end()) {
      drop(op.inputs());
      for (const TensorId id : {update->second.list, update->second.item, update->second.index}) {
        ++uses[static_cast<size_t>(id)];
      }
      continue;
    }
    if (Length(op.outputs()) != 1 || !makers.Exists(op.outputs()->Get(0))) continue;
    const auto output = static_cast<size_t>(op.outputs()->Get(0));
    skipped_[i] = helps[output] && uses[output] == 0;
    if (skipped_[i]) drop(op.inputs());
  }
}

const ItemUpdates::Update* ItemUpdates::Find(size_t place) const {
  const auto update = updates_.find(place);
  return update == updates_.end() ? nullptr : &update->second;
}

}  // namespace intaglio::nn
