#include "intaglio/nn/graph/ledger.h"

#include <algorithm>
#include <limits>
#include <string>

namespace intaglio::nn {
namespace {

constexpr size_t kMaxBytes = std::numeric_limits<size_t>::max();

size_t MostOf(const Limits& limits, size_t model_bytes) {
  constexpr size_t kBase =
      static_cast<size_t>(std::min<uint64_t>(uint64_t{4} << 30, kMaxBytes / 2));
  constexpr size_t kBytesPerByte = 16;  // ten times what real models need
  if (limits.max_bytes != 0) return limits.max_bytes;
  if (model_bytes > (kMaxBytes - kBase) / kBytesPerByte) return kMaxBytes;
  return kBase + kBytesPerByte * model_bytes;
}

}  // namespace

Ledger::Ledger(const Limits& limits, size_t model_bytes) : most_(MostOf(limits, model_bytes)) {}

Status Ledger::Charge(size_t bytes) {
  size_t taken = taken_;
  do {
    if (bytes > most_ || taken > most_ - bytes) {
      return OutOfMemory(std::to_string(bytes) + " bytes are needed beside " +
                         std::to_string(taken) + " in use, but " + std::to_string(most_) +
                         " are allowed (Limits::max_bytes)");
    }
  } while (!taken_.compare_exchange_weak(taken, taken + bytes));
  return {};
}

int64_t AddSaturated(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

int64_t MultiplySaturated(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace intaglio::nn
