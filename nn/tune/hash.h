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
  // The same for much data, at the pace of memory: four hashes, of every fourth word each.
  void AddMuch(const void* data, size_t bytes) {
    constexpr size_t kLanes = 4;
    const auto* const from = static_cast<const std::byte*>(data);
    const size_t whole = bytes / (kLanes * sizeof(uint64_t)) * (kLanes * sizeof(uint64_t));
    Hash lanes[kLanes];
    for (size_t i = 0; i < whole; i += kLanes * sizeof(uint64_t)) {
      for (size_t k = 0; k < kLanes; ++k) {
        uint64_t word;
        std::memcpy(&word, from + i + k * sizeof(word), sizeof(word));
        lanes[k].Add(word);
        lanes[k].value_ ^= lanes[k].value_ >> 29;
      }
    }
    for (const Hash& lane : lanes) Add(lane.value_);
    if (bytes > whole) Add(from + whole, bytes - whole);
    Add(bytes);
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
