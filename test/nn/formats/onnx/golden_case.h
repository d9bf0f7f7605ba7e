// Recorded cases of .onnx models.
#ifndef INTAGLIO_TEST_NN_FORMATS_ONNX_GOLDEN_CASE_H_
#define INTAGLIO_TEST_NN_FORMATS_ONNX_GOLDEN_CASE_H_

#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/test/nn/ops/golden_file.h"

namespace intaglio::nn::test {

struct OnnxCase {
  Result<Graph> graph;
  std::vector<GoldenRun> runs;  // with what the inputs of the graph get
};

// Reads the model. Inputs that the name lists behind an @ get the recorded values now, by
// OnnxOptions::constants (record_node_tests.py).
OnnxCase ReadOnnxCase(const GoldenCase& c);

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_FORMATS_ONNX_GOLDEN_CASE_H_
