// Whether a network of integers answers as the network of float32 that it was made from.
#ifndef INTAGLIO_NN_QUANTIZE_AGREEMENT_H_
#define INTAGLIO_NN_QUANTIZE_AGREEMENT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/quantize/calibrate.h"
#include "intaglio/nn/quantize/similarity.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::nn::quantize {

// How one output agrees with the exact one.
struct OutputAgreement {
  std::string name;
  Similarity similarity;
  size_t same_place = 0;  // samples whose largest element is at the same place
};

struct Agreement {
  size_t samples = 0;
  std::vector<OutputAgreement> outputs;  // those that are float32 in `exact`
};

// Runs both models on at most `most` samples, which are inputs of `exact`. The inputs of `actual`
// are the same, or their quantized form. Both models have the same number of inputs and of outputs,
// and the same shapes.
Result<Agreement> Compare(Model& exact, Model& actual, const NextSample& next, size_t most);

// Inputs of the graph `from` in the types of those of `to`, which has as many of the same shapes.
InputBytes InputsFor(const Graph& from, const InputBytes& inputs, const Graph& to);

}  // namespace intaglio::nn::quantize

#endif  // INTAGLIO_NN_QUANTIZE_AGREEMENT_H_
