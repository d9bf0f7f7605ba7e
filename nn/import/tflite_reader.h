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

namespace intaglio::nn {

struct ImportOptions {
  // The sum of all tensors that are not constant. A file of a kilobyte can name tensors of any
  // size; the sum bounds what preparing and running the graph will ask for.
  size_t max_activation_bytes = size_t{2} << 30;
  // Other shapes than the file's for the inputs of the model, in its order; empty, or past the end:
  // the file's. All shapes that follow from them change too. What the file fixes stays: an error
  // names the layer where a new shape meets a constant one, or a state, that it does not fit.
  std::vector<Shape> input_shapes = {};
};

// Maps the file; constants stay in the mapping, which lives as long as the graph's tensors. The
// file must not be truncated meanwhile.
Result<Graph> LoadTflite(const std::string& path, const ImportOptions& options = {});

// Reads a file that is in memory already. `owner` keeps the bytes alive, or is null where the
// caller does. `name` stands in messages and becomes the graph's name. Bytes that are not 16-byte
// aligned are copied.
Result<Graph> ImportTflite(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                           const std::string& name, const ImportOptions& options = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_IMPORT_TFLITE_READER_H_
