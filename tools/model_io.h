// Models and the tensors that go in and out of them, for the subcommands.
#ifndef INTAGLIO_TOOLS_MODEL_IO_H_
#define INTAGLIO_TOOLS_MODEL_IO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/load.h"
#include "intaglio/nn/runtime/model.h"
#include "intaglio/tools/model_source.h"

namespace intaglio::tools {

// What a source says of reading it.
Result<nn::LoadOptions> LoadOptionsOf(const ModelSource& source);

// What it says of preparing it.
Status TakeOptions(const ModelSource& source, nn::PrepareOptions& options);

// Imports and prepares a model, both with the limits of its source. Messages start with the path.
// Inputs take `shapes`, if there are any, instead of the source's. `passes` gets what the passes
// did, if it is not null and the file can be read; so does `signatures`.
Result<nn::Model> LoadModel(const ModelSource& source, nn::PrepareOptions options = {},
                            std::vector<nn::Shape> shapes = {},
                            std::vector<nn::PassReport>* passes = nullptr,
                            std::vector<nn::Signature>* signatures = nullptr);

// One buffer per input and output of a model.
class Buffers {
 public:
  explicit Buffers(const nn::Model& model);

  std::vector<std::vector<uint8_t>> inputs;
  std::vector<std::vector<uint8_t>> outputs;

  Status Run(nn::Model& model, std::span<std::chrono::nanoseconds> layer_times = {});

 private:
  std::vector<Type> input_types_;
  std::vector<Type> output_types_;
};

// "uint8 [1, 224, 224, 3]"
std::string Describe(const nn::Tensor& tensor);

// Element i as a real number: dequantized where the tensor has one scale.
double RealValue(const nn::Tensor& tensor, const std::vector<uint8_t>& bytes, size_t i);

// "12.3 MB", "640 B"; 1 kB is 1000 B.
std::string FormatBytes(size_t bytes);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_MODEL_IO_H_
