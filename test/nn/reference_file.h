// Recorded reference outputs. make_reference.py, which writes the files, describes their format.
#ifndef INTAGLIO_TEST_NN_REFERENCE_FILE_H_
#define INTAGLIO_TEST_NN_REFERENCE_FILE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn::test {

uint64_t Fnv(std::span<const uint8_t> bytes);

struct ReferenceTensor {
  std::string type;
  std::vector<int> shape;
};

struct ReferenceOutput {
  uint64_t fnv = 0;            // of all bytes
  std::vector<uint8_t> bytes;  // all of them, or the first 64
};

struct ReferenceCase {
  std::string real;   // the name of an input file, or empty
  uint64_t seed = 0;  // of a random input, where `real` is empty
  std::vector<ReferenceOutput> outputs;
  std::vector<uint64_t> trace;  // of the first output of every operator

  std::string name() const { return real.empty() ? "random " + std::to_string(seed) : real; }
};

struct ReferenceFile {
  std::string model;  // path below the models folder, without .tflite
  uint64_t model_fnv = 0;
  std::vector<ReferenceTensor> inputs;
  std::vector<ReferenceTensor> outputs;
  std::vector<ReferenceCase> cases;
};

Result<ReferenceFile> ReadReference(const std::string& path);

// The random input of a case, for all inputs of its model, in order.
std::vector<std::vector<uint8_t>> RandomInputs(const ReferenceFile& file, uint64_t seed);

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_REFERENCE_FILE_H_
