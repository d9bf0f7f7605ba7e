// Makes text that others wrote safe to show on one line of a terminal.
#ifndef INTAGLIO_NN_GRAPH_PRINTABLE_H_
#define INTAGLIO_NN_GRAPH_PRINTABLE_H_

#include <string>
#include <string_view>

namespace intaglio::nn {

// Returns the text with the bytes of some characters written as \xNN: control characters (ASCII's,
// and Unicode's from U+0080 to U+009F), characters that break lines or change the direction of
// writing, and bytes that are not UTF-8. All other text, including backslashes, stays as it is, so
// a second call changes nothing.
std::string Printable(std::string_view text);

// Returns the name for use in messages. A name of more than 100 bytes is cut, and ends in "...":
// any number of layers may name one tensor, and its name may be as long as a file.
std::string ShortName(std::string_view name);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_GRAPH_PRINTABLE_H_
