#include "intaglio/tools/suggest.h"

#include <algorithm>
#include <cstddef>

namespace intaglio::tools {
namespace {

// Fills a table row by row. Its entry (i, j) is the distance of a's first i letters from b's first
// j.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> at(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at[i][j] = i + j;
        continue;
      }
      const size_t replaced = at[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      at[i][j] = std::min({replaced, at[i - 1][j] + 1, at[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        at[i][j] = std::min(at[i][j], at[i - 2][j - 2] + 1);
      }
    }
  }
  return at[a.size()][b.size()];
}

}  // namespace

std::string Nearest(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 64;  // known words are much shorter
  if (word.size() > kLongest) return {};
  std::string nearest;
  size_t least = word.size() / 3 + 1;
  for (const std::string& candidate : known) {
    const size_t distance = Distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace intaglio::tools
