// What a classifier's output says.
#ifndef INTAGLIO_TOOLS_CLASSIFY_H_
#define INTAGLIO_TOOLS_CLASSIFY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/model.h"

namespace intaglio::tools {

// One label per line of a text file; class i is line i, counted from 0.
Result<std::vector<std::string>> ReadLabels(const std::string& path);

// Whether output i has one score per class for one input, and comes from a SOFTMAX.
bool LooksLikeClassifier(const nn::Model& model, size_t output);

struct Score {
  size_t index = 0;
  double score = 0;  // dequantized
};

// The highest `count` scores, highest first; the lower index first among equal ones.
std::vector<Score> TopScores(const nn::Tensor& tensor, const std::vector<uint8_t>& bytes,
                             size_t count);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_CLASSIFY_H_
