// Text that others wrote, made safe to show on one line of a terminal.
#ifndef INTAGLIO_NN_PRINTABLE_H_
#define INTAGLIO_NN_PRINTABLE_H_

#include <string>
#include <string_view>

namespace intaglio::nn {

// The text with every byte of these as \xNN: control characters (ASCII's, and Unicode's from U+0080
// to U+009F), characters that break lines or change the direction of writing, and what is not
// UTF-8. All other text stays as it is, backslashes among it, so that a second call changes
// nothing.
std::string Printable(std::string_view text);

// The name as messages have it: one of more than 100 bytes is cut, and ends in "...". Any number of
// layers may name one tensor, whose name may be as long as a file.
std::string ShortName(std::string_view name);

}  // namespace intaglio::nn

#endif  // INTAGLIO_NN_PRINTABLE_H_
