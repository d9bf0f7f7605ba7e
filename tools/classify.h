// What a classifier's output says.
#ifndef INTAGLIO_TOOLS_CLASSIFY_H_
#define INTAGLIO_TOOLS_CLASSIFY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "intaglio/fixedpoint/status.h"
#include "intaglio/nn/runtime/model.h"

namespace intaglio::tools {

// The names of classes, one per line of a text file. Class i is line i, counted from 0. The object
// keeps the file and the place of every 64th line in memory, however short the lines are.
class Labels {
 public:
  Labels() = default;  // none
  explicit Labels(std::vector<uint8_t> text);

  size_t size() const { return lines_; }
  std::string operator[](size_t i) const;  // safe to print; i < size()

 private:
  std::vector<uint8_t> text_;
  std::vector<size_t> starts_;  // the places of lines 0, 64, 128, ...
  size_t lines_ = 0;
};

// Refuses files over 64 MiB.
Result<Labels> ReadLabels(const std::string& path);

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
