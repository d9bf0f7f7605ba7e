// Ways to the same result, for graphs of unknown origin: kernels and thread counts, the graph
// before and after it is written, the whole and its three parts. The tests and the fuzzers share
// it.
#ifndef INTAGLIO_TEST_NN_FORMATS_WAYS_H_
#define INTAGLIO_TEST_NN_FORMATS_WAYS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/formats/tflite/reader.h"
#include "intaglio/nn/graph/graph.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::test {

// The bytes of tensors.
using Tensors = std::vector<std::vector<uint8_t>>;

// Limits under which a run takes milliseconds.
ImportOptions LimitedImport();
PrepareOptions Limited(PrepareOptions options);

// Elements that reach both ends of any 8-bit type.
std::vector<uint8_t> Ramp(size_t count);
Tensors RampInputs(const Graph& graph);

// The outputs of one run.
Result<Tensors> RunOnce(Model& model, const Tensors& in);
// The same from the first state.
Result<Tensors> Outputs(const Graph& graph, const Tensors& in, PrepareOptions options = {});

// Whether both are the same bits, or none of them is there. A NaN equals every other NaN.
bool SameOutputs(const Graph& graph, const Result<Tensors>& a, const Result<Tensors>& b);

// Says in one line what disagrees. The result is empty if everything agrees, or if the graph does
// not run at all. `choice` selects one kernel among many.
std::string CompareWays(const Graph& graph, size_t choice);

}  // namespace intaglio::nn::test

#endif  // INTAGLIO_TEST_NN_FORMATS_WAYS_H_
