// Reads .tflite files into graphs. The bytes are not trusted: whatever they hold, the answer is a
// graph that passes Validate, or one line that says what is wrong.
#ifndef INTAGLIO_NN_FORMATS_TFLITE_READER_H_
#define INTAGLIO_NN_FORMATS_TFLITE_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/input_constant.h"
#include "intaglio/nn/formats/signature.h"
#include "intaglio/nn/formats/tflite/custom_operator.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/graph/limits.h"

namespace intaglio::nn {

struct ImportOptions {
  // What reading may take for constants that are computed or widened. Model::Prepare has its own
  // limits.
  Limits limits = {};
  // Other shapes than the file's for the inputs of the model, in its order; empty, or past the end:
  // the file's. All shapes that follow from them change too. What the file fixes stays: an error
  // names the layer where a new shape meets a constant one, or a state, that it does not fit.
  std::vector<Shape> input_shapes = {};
  // Your own operators: how custom operators of the file are read.
  std::vector<CustomOperator> custom_operators = {};
  // Reads the file into memory instead of mapping it (LoadTflite). Later changes of the file then
  // have no effect.
  bool copy_file = false;
  // If it is not null, it gets the file's signatures. Those of other subgraphs than the first, and
  // those that nobody could call the model by, are left out.
  std::vector<Signature>* signatures = nullptr;
  // Values for inputs of the file, by name. These inputs become constants before anything else is
  // read, so that shapes and parameters may follow from them, and are no inputs of the model any
  // more: input_shapes does not count them, and no signature names them.
  std::vector<InputConstant> constants = {};
};

// Maps the file. Constants stay in the mapping, which lives as long as the graph's tensors. Nobody
// may write or truncate the file during that time: a write changes what is read, and reading behind
// a new end terminates the process by SIGBUS. Replacing the file by rename is safe. If others may
// write the file, set ImportOptions::copy_file.
Result<Graph> LoadTflite(const std::string& path, const ImportOptions& options = {});

// Returns the inputs and outputs of the file's model, with their shapes in the file, as a graph
// without layers. It looks at no operator. Callers use it to choose ImportOptions::input_shapes and
// constants.
Result<Graph> LoadTfliteSignature(const std::string& path);

// Reads a file that is in memory already. `owner` keeps the bytes alive, or is null where the
// caller does, as long as the graph lives. `name` stands in messages and becomes the graph's name.
// Bytes that are not 16-byte aligned are copied.
Result<Graph> ImportTflite(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
                           const std::string& name, const ImportOptions& options = {});

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_FORMATS_TFLITE_READER_H_
