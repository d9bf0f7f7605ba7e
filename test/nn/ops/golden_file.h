// Files *.golden. golden/golden_format.py, which writes them, describes their format.
#ifndef INTAGLIO_TEST_NN_OPS_GOLDEN_FILE_H_
#define INTAGLIO_TEST_NN_OPS_GOLDEN_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/nn/graph/tensor.h"

namespace intaglio::nn::test {

using GoldenBytes = std::vector<uint8_t>;

struct GoldenOutput {
  uint8_t type = 0;  // of the .tflite format
  Shape shape;
  GoldenBytes bytes;
};

struct GoldenRun {
  std::vector<GoldenBytes> inputs;
  std::vector<GoldenOutput> outputs;
};

struct GoldenCase {
  std::string name;
  GoldenBytes model;
  std::string error;  // a part of the error that must come, or empty
  float bound = 0;    // of float32 outputs
  std::vector<GoldenRun> runs;
};

// The paths of all files of the folder golden/, in order.
std::vector<std::string> GoldenFiles();

// Throws std::exception where the file is not as it should be.
std::vector<GoldenCase> ReadGoldenFile(const std::string& path);

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_OPS_GOLDEN_FILE_H_
