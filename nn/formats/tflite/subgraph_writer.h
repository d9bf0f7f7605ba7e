// Inside the .tflite writer: one graph of a file.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_SUBGRAPH_WRITER_H_
#define INTAGLIO_NN_FORMATS_TFLITE_SUBGRAPH_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/formats/tflite/schema_generated.h"
#include "intaglio/nn/formats/tflite/signatures.h"
#include "intaglio/nn/formats/tflite/subgraphs.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// The format's code for an operator's name; CUSTOM for any other name.
tflite::BuiltinOperator CodeNamed(std::string_view name);

// The kinds of operators, each listed once.
class OperatorCodes {
 public:
  uint32_t IndexOf(const std::string& name, int version);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<tflite::OperatorCode>>> Write(
      flatbuffers::FlatBufferBuilder& b) const;

 private:
  struct Code {
    std::string name;  // from the format's list, or a custom operator's
    int version = 1;
    bool operator==(const Code&) const = default;
  };
  std::vector<Code> codes_;
};

// What the graphs of a file share.
struct FileParts {
  FileParts(const Graph& model, std::span<const CustomOperator> custom,
            const std::vector<Signature>& of_model)
      : subgraphs(model), custom_operators(custom), signatures(of_model) {}

  flatbuffers::FlatBufferBuilder builder;
  OperatorCodes codes;
  Subgraphs subgraphs;
  std::span<const CustomOperator> custom_operators;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers;
  const std::vector<Signature>& signatures;
  SignatureOffsets written_signatures = 0;
};

// Upper bounds of the bytes that a tensor, and an operator with that many tensors, take in a file.
// A variable may need a first value.
size_t BytesOf(const Tensor& tensor);
size_t BytesOfOperator(size_t tensors);

// Refuses files that are too large: FlatBuffers' offsets end at 2 GiB. Its builder, which doubles
// its memory, does not check this.
Status CheckSize(size_t bytes);

// Writes subgraph `index`, and the signatures of subgraph 0. Adds the graphs that its operators run
// to file.subgraphs.
Result<flatbuffers::Offset<tflite::SubGraph>> WriteSubgraph(size_t index, FileParts& file);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_SUBGRAPH_WRITER_H_
