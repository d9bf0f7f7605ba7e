#include "intaglio/nn/formats/tflite/signatures.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "intaglio/nn/graph/printable.h"

namespace intaglio::nn {
namespace {

using flatbuffers::Offset;
using TensorMaps = flatbuffers::Vector<Offset<tflite::TensorMap>>;
using Entries = std::vector<Signature::Entry>;

class SignatureReader {
 public:
  // `file_inputs`: those of the file, of which some may be constants of the graph.
  SignatureReader(const Graph& graph, const flatbuffers::Vector<int32_t>* file_inputs,
                  Budget& budget)
      : budget_(budget),
        tensors_(graph.tensors.size()),
        inputs_(PositionsOf(graph.inputs)),
        outputs_(PositionsOf(graph.outputs)) {
    for (uint32_t i = 0; i < Length(file_inputs); ++i) {
      const TensorId id = file_inputs->Get(i);
      if (!inputs_.contains(id)) given_.insert(id);
    }
  }

  Status Read(const tflite::SignatureDef& from) {
    INTAGLIO_RETURN_IF_ERROR(budget_.Charge(1, sizeof(Signature)));
    Signature signature;
    INTAGLIO_RETURN_IF_ERROR(ReadName(from.signature_key(), budget_, signature.key));
    Result<bool> usable = ReadEntries(from.inputs(), "input", inputs_, signature.inputs);
    if (usable.ok() && *usable) {
      usable = ReadEntries(from.outputs(), "output", outputs_, signature.outputs);
    }
    if (!usable.ok()) {
      return {usable.status().code(),
              "signature '" + ShortName(signature.key) + "': " + usable.status().message()};
    }
    std::set<size_t> named;
    for (const Signature::Entry& input : signature.inputs) {
      if (!named.insert(input.position).second) return {};
    }
    if (!*usable || !keys_.insert(signature.key).second) return {};
    signatures_.push_back(std::move(signature));
    return {};
  }

  std::vector<Signature> Finish() { return std::move(signatures_); }

 private:
  using Positions = std::map<TensorId, size_t>;

  // The first position of each tensor.
  static Positions PositionsOf(const std::vector<TensorId>& ids) {
    Positions positions;
    for (size_t i = 0; i < ids.size(); ++i) positions.emplace(ids[i], i);
    return positions;
  }

  // Returns false if an entry makes the signature unusable.
  Result<bool> ReadEntries(const TensorMaps* from, const char* role, const Positions& positions,
                           Entries& to) {
    INTAGLIO_RETURN_IF_ERROR(budget_.Charge(Length(from), sizeof(Signature::Entry)));
    std::set<std::string> names;
    bool usable = true;
    for (uint32_t i = 0; i < Length(from); ++i) {
      const tflite::TensorMap& entry = *from->Get(i);
      std::string name;
      INTAGLIO_RETURN_IF_ERROR(ReadName(entry.name(), budget_, name));
      const uint32_t id = entry.tensor_index();
      if (id >= tensors_) {
        return InvalidArgument(std::string(role) + " '" + ShortName(name) + "' is tensor #" +
                               std::to_string(id) + ", which does not exist (there are " +
                               std::to_string(tensors_) + ")");
      }
      const bool is_input = &positions == &inputs_;
      if (is_input && given_.contains(static_cast<TensorId>(id))) continue;
      const auto position = positions.find(static_cast<TensorId>(id));
      usable = usable && entry.name() != nullptr && position != positions.end() &&
               names.insert(name).second;
      if (usable) to.push_back({std::move(name), position->second});
    }
    return usable;
  }

  Budget& budget_;
  const size_t tensors_;
  const Positions inputs_;
  const Positions outputs_;
  std::set<TensorId> given_;  // inputs of the file that the caller gave values
  std::set<std::string> keys_;
  std::vector<Signature> signatures_;
};

Status CheckEntries(const Entries& entries, size_t count, const char* role) {
  for (const Signature::Entry& entry : entries) {
    if (entry.position < count) continue;
    return InvalidArgument(std::string("'") + ShortName(entry.name) + "' is " + role + " " +
                           std::to_string(entry.position) + ", but the graph has " +
                           std::to_string(count));
  }
  return {};
}

Offset<TensorMaps> WriteEntries(const Entries& entries, std::span<const int32_t> ids,
                                flatbuffers::FlatBufferBuilder& b) {
  std::vector<Offset<tflite::TensorMap>> maps;
  for (const Signature::Entry& entry : entries) {
    const auto name = b.CreateString(entry.name);
    maps.push_back(tflite::CreateTensorMap(b, name, static_cast<uint32_t>(ids[entry.position])));
  }
  return b.CreateVector(maps);
}

}  // namespace

Result<std::vector<Signature>> ReadSignatures(const TfliteFile& file, const Graph& graph,
                                              Budget& budget) {
  const auto* const signatures = file.model->signature_defs();
  const size_t subgraphs = Length(file.model->subgraphs());
  SignatureReader reader(graph, file.model->subgraphs()->Get(0)->inputs(), budget);
  for (uint32_t i = 0; i < Length(signatures); ++i) {
    const tflite::SignatureDef& signature = *signatures->Get(i);
    const std::string label = "signature #" + std::to_string(i);
    if (signature.subgraph_index() >= subgraphs) {
      return InvalidArgument(
          label + " belongs to subgraph #" + std::to_string(signature.subgraph_index()) +
          ", which does not exist (there are " + std::to_string(subgraphs) + ")");
    }
    if (signature.signature_key() == nullptr) return InvalidArgument(label + " has no key");
    if (signature.subgraph_index() == 0) INTAGLIO_RETURN_IF_ERROR(reader.Read(signature));
  }
  return reader.Finish();
}

Status CheckSignatures(const Graph& graph, const std::vector<Signature>& signatures) {
  for (const Signature& signature : signatures) {
    Status status = CheckEntries(signature.inputs, graph.inputs.size(), "input");
    if (status.ok()) status = CheckEntries(signature.outputs, graph.outputs.size(), "output");
    if (status.ok()) continue;
    return {status.code(), "signature '" + ShortName(signature.key) + "': " + status.message()};
  }
  return {};
}

size_t BytesOf(const std::vector<Signature>& signatures) {
  constexpr size_t kBytesPerTable = 64;  // with a name's length and padding
  size_t bytes = 0;
  for (const Signature& signature : signatures) {
    bytes += 2 * kBytesPerTable + signature.key.size();
    for (const Entries* const entries : {&signature.inputs, &signature.outputs}) {
      for (const Signature::Entry& entry : *entries) bytes += kBytesPerTable + entry.name.size();
    }
  }
  return bytes;
}

SignatureOffsets WriteSignatures(const std::vector<Signature>& signatures,
                                 std::span<const int32_t> inputs, std::span<const int32_t> outputs,
                                 flatbuffers::FlatBufferBuilder& b) {
  if (signatures.empty()) return 0;
  std::vector<Offset<tflite::SignatureDef>> written;
  for (const Signature& signature : signatures) {
    const auto in = WriteEntries(signature.inputs, inputs, b);
    const auto out = WriteEntries(signature.outputs, outputs, b);
    const auto key = b.CreateString(signature.key);
    written.push_back(tflite::CreateSignatureDef(b, in, out, key));
  }
  return b.CreateVector(written);
}

}  // namespace intaglio::nn
