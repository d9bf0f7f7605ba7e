// What somebody who mistyped a word may have meant.
#ifndef INTAGLIO_TOOLS_SUGGEST_H_
#define INTAGLIO_TOOLS_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace intaglio::tools {

// The known word that takes the fewest letters added, dropped, replaced or swapped with their
// neighbour; empty where that is more than a third of the word's.
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_SUGGEST_H_
