// Times that were measured before, so that they need not be measured again: a file of text with a
// line for each way to compute a kind of layer on a kind of machine (docs/tuning.md).
#ifndef INTAGLIO_NN_TUNE_TIMINGS_H_
#define INTAGLIO_NN_TUNE_TIMINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "intaglio/fixedpoint/status.h"

namespace intaglio::nn::tune {

struct Timing {
  double ns = 0;
  uint64_t bytes = 0;  // of packed constants
  uint64_t count = 0;  // how often it was measured
};

// Lines are in order, so that files merge as lines do: `sort -u a.txt b.txt`. If two lines have one
// key, the least time counts.
class Timings {
 public:
  // Adds the lines of a text. An error names the first line that is wrong; nothing is added then.
  Status Read(std::string_view text);
  std::string ToText() const;

  // Null if it was never measured.
  const Timing* Find(const std::string& key) const;
  // `key` has no character that ends a line.
  void Add(const std::string& key, const Timing& timing);
  size_t size() const { return timings_.size(); }

 private:
  std::map<std::string, Timing, std::less<>> timings_;
};

// The most bytes that the text of timings may have.
inline constexpr size_t kMaxTimingsBytes = size_t{256} << 20;

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_TIMINGS_H_
