// Guesses which word somebody meant who mistyped it.
#ifndef INTAGLIO_TOOLS_SUGGEST_H_
#define INTAGLIO_TOOLS_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

namespace intaglio::tools {

// The known word that needs the fewest letters added, dropped, replaced or swapped with their
// neighbours. It is empty if that is more than a third of the word's letters.
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace intaglio::tools

#endif  // INTAGLIO_TOOLS_SUGGEST_H_
