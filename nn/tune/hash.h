// A hash for digests and keys.
#ifndef INTAGLIO_NN_TUNE_HASH_H_
#define INTAGLIO_NN_TUNE_HASH_H_

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace intaglio::nn::tune {

// The FNV-1a hash, taken over eight bytes at a time.
class Hash {
 public:
  void Add(uint64_t word) { value_ = (value_ ^ word) * 0x100000001b3; }
  void Add(const void* data, size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    Add(bytes);
    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, from + i, std::min(sizeof(word), bytes - i));
      Add(word);
      value_ ^= value_ >> 29;  // so that the upper bytes of a word count, too
    }
  }
  void Add(const std::string& text) { Add(text.data(), text.size()); }
  template <class T>
  void Add(std::span<const T> values) {
    Add(values.data(), values.size_bytes());
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

inline std::string ToHex(uint64_t value) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof(text), value, 16).ptr;
  return {text, end};
}

}  // namespace intaglio::nn::tune

#endif  // INTAGLIO_NN_TUNE_HASH_H_
