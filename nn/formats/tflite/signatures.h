// Inside the .tflite reader and writer: names for the inputs and outputs of a file's model.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_SIGNATURES_H_
#define INTAGLIO_NN_FORMATS_TFLITE_SIGNATURES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/signature.h"
#include "intaglio/nn/formats/tflite/file.h"
#include "intaglio/nn/formats/tflite/schema_generated.h"
#include "intaglio/nn/graph/graph.h"

namespace intaglio::nn {

// Reads the signatures of the first subgraph, whose graph is given. An index of a tensor or a
// subgraph that does not exist is an error. A signature is left out, as if the file did not have
// it, if nobody could call the model by it:
//  - it belongs to another subgraph;
//  - it names a tensor that is neither an input nor an output;
//  - it gives two inputs, or two outputs, one name, or one input two names, or a tensor none;
//  - an earlier one has its key.
// Inputs of the file that are constants of the graph are left out of the signatures.
Result<std::vector<Signature>> ReadSignatures(const TfliteFile& file, const Graph& graph,
                                              Budget& budget);

// An error if a signature names an input or an output that the graph does not have.
Status CheckSignatures(const Graph& graph, const std::vector<Signature>& signatures);

// An upper bound of the bytes that signatures take in a file.
size_t BytesOf(const std::vector<Signature>& signatures);

using SignatureOffsets =
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<tflite::SignatureDef>>>;

// Writes the signatures of the first subgraph. `inputs` and `outputs` are the ids in the file of
// the graph's inputs and outputs. Returns 0, an absent field, if there are none.
SignatureOffsets WriteSignatures(const std::vector<Signature>& signatures,
                                 std::span<const int32_t> inputs, std::span<const int32_t> outputs,
                                 flatbuffers::FlatBufferBuilder& builder);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_SIGNATURES_H_
