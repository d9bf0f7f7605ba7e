#include "intaglio/nn/graph/printable.h"

#include <cstddef>
#include <cstdint>

namespace intaglio::nn {
namespace {

struct Character {
  size_t bytes = 1;
  bool valid = false;
  uint32_t code = 0;
};

size_t LengthFrom(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

bool IsShortest(uint32_t code, size_t bytes) {
  return bytes < 3 || code >= (bytes == 3 ? 0x800u : 0x10000u);
}

// The first character of a text that is not empty. A byte that begins no character counts as one by
// itself.
Character First(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  const size_t bytes = LengthFrom(first);
  if (bytes == 0 || bytes > text.size()) return {};
  uint32_t code = bytes == 1 ? first : first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (!IsShortest(code, bytes) || surrogate || code > 0x10ffff) return {};
  return {bytes, true, code};
}

bool IsSafe(uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool breaks_lines = code == 0x2028 || code == 0x2029;
  const bool turns = code == 0x61c || code == 0x200e || code == 0x200f ||
                     (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return !control && !breaks_lines && !turns;
}

void AppendEscaped(std::string_view bytes, std::string& to) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    to += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string printable;
  while (!text.empty()) {
    const Character character = First(text);
    const std::string_view bytes = text.substr(0, character.bytes);
    if (character.valid && IsSafe(character.code)) {
      printable += bytes;
    } else {
      AppendEscaped(bytes, printable);
    }
    text.remove_prefix(character.bytes);
  }
  return printable;
}

std::string ShortName(std::string_view name) {
  constexpr size_t kMost = 100;
  if (name.size() <= kMost) return std::string(name);
  size_t end = kMost;
  while (end > 0 && (static_cast<uint8_t>(name[end]) & 0xc0) == 0x80) --end;  // inside a character
  return std::string(name.substr(0, end)) + "...";
}

}  // namespace intaglio::nn
