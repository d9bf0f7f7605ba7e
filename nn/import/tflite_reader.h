// Reads .tflite files into graphs. The bytes are not trusted: whatever they hold, the answer is a
// graph that passes Validate, or one line that says what is wrong.
#ifndef INTAGLIO_NN_IMPORT_TFLITE_READER_H_
#define INTAGLIO_NN_IMPORT_TFLITE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph.h"
#include "intaglio/nn/limits.h"

namespace intaglio::nn {

struct ImportOptions {
  // What reading may take: constants that are computed or widened. Model::Prepare has limits of its
  // own for what it takes.
  Limits limits = {};
  // Other shapes than the file's for the inputs of the model, in its order; empty, or past the end:
  // the file's. All shapes that follow from them change too. What the file fixes stays: an error
  // names the layer where a new shape meets a constant one, or a state, that it does not fit.
  std::vector<Shape> input_shapes = {};
  // Reads the file into memory instead of mapping it (LoadTflite), so that nothing that happens to
  // the file afterwards matters.
  bool copy_file = false;
};

// Maps the file; constants stay in the mapping, which lives as long as the graph's tensors. Nobody
// may write or truncate the file meanwhile: what is read then changes, or, behind the new end, ends
// the process by SIGBUS. A file that is replaced by rename is safe. Where others may write it, set
// ImportOptions::copy_file.
Result<Graph> LoadTflite(const std::string& path, const ImportOptions& options = {});

// The inputs and outputs of the file's model, with the shapes that it has for them, as a graph
// without layers. Looks at no operator: for what ImportOptions::input_shapes are to be.
Result<Graph> LoadTfliteSignature(const std::string& path);

// Reads a file that is in memory already. `owner` keeps the bytes alive, or is null where the
// caller does. `name` stands in messages and becomes the graph's name. Bytes that are not 16-byte
// aligned are copied.
Result<Graph> ImportTflite(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                           const std::string& name, const ImportOptions& options = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_IMPORT_TFLITE_READER_H_
