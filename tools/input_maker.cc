#include "intaglio/tools/input_maker.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "intaglio/nn/ops/support/quantization.h"

namespace intaglio::tools {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The first interval contains everything.
constexpr Interval kTries[] = {{}, {0, kInfinity}, {0, 3}, {1, 1}, {0, 0}};

// Sebastiano Vigna's splitmix64: one state, full period, the same everywhere.
uint64_t Next(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void FillFreely(uint64_t& state, Type type, std::vector<uint8_t>& bytes) {
  const size_t size = SizeOf(type);
  for (size_t at = 0; at < bytes.size(); at += size) {
    const uint64_t random = Next(state);
    if (type == Type::kFloat32) {
      const float value = static_cast<float>(random >> 40) / 0x1p23f - 1.0f;
      std::memcpy(&bytes[at], &value, size);
    } else if (type == Type::kBool) {
      bytes[at] = static_cast<uint8_t>(random >> 63);
    } else {
      std::memcpy(&bytes[at], &random, size);
    }
  }
}

// An open end is replaced by one at most 1 from 0 and from the other end.
float RealWithin(uint64_t& state, const Interval& range) {
  const double low = std::isinf(range.low) ? std::min(-1.0, range.high - 1) : range.low;
  const double high = std::isinf(range.high) ? std::max(1.0, range.low + 1) : range.high;
  const double part = static_cast<double>(Next(state) >> 40) / 0x1p24;
  return static_cast<float>(low + part * (high - low));
}

void FillReals(uint64_t& state, const Range& range, std::vector<uint8_t>& bytes) {
  for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
    const float value = RealWithin(state, range.parts[i % range.parts.size()]);
    std::memcpy(&bytes[i * sizeof(value)], &value, sizeof(value));
  }
}

// The stored numbers for the real numbers of an interval; at least one number.
struct StoredRange {
  int64_t low = 0;
  int64_t high = 0;
};

StoredRange StoredRangeOf(const nn::Tensor& tensor, const Interval& range) {
  const nn::Quantization& q = tensor.quantization;
  const double scale = q.quantized() && q.scales[0] > 0 ? q.scales[0] : 1;
  const int32_t zero_point = q.quantized() ? q.zero_points[0] : 0;
  // double has no more bits than this, and a span of 2^62 is enough.
  const double bits = std::min<double>(static_cast<double>(SizeOf(tensor.type)) * 8, 62);
  const bool is_unsigned = tensor.type == Type::kUInt8 || tensor.type == Type::kUInt16;
  const double least = is_unsigned ? 0 : tensor.type == Type::kBool ? 0 : -std::exp2(bits - 1);
  const double most = is_unsigned                  ? std::exp2(bits) - 1
                      : tensor.type == Type::kBool ? 1
                                                   : std::exp2(bits - 1) - 1;
  const auto stored = [&](double real) { return std::clamp(real, least, most); };
  const auto low = static_cast<int64_t>(stored(std::ceil(range.low / scale + zero_point)));
  const auto high = static_cast<int64_t>(stored(std::floor(range.high / scale + zero_point)));
  return {low, std::max(low, high)};
}

void FillIntegers(uint64_t& state, const nn::Tensor& tensor, const Range& range,
                  std::vector<uint8_t>& bytes) {
  std::vector<StoredRange> stored;
  for (const Interval& part : range.parts) stored.push_back(StoredRangeOf(tensor, part));
  const size_t size = SizeOf(tensor.type);
  for (size_t i = 0; i < bytes.size() / size; ++i) {
    const auto& [low, high] = stored[i % stored.size()];
    const auto count = static_cast<uint64_t>(high - low) + 1;
    const int64_t value = low + static_cast<int64_t>(Next(state) % count);
    std::memcpy(&bytes[i * size], &value, size);
  }
}

void FillWithin(uint64_t& state, const nn::Tensor& tensor, const Range& range,
                std::vector<uint8_t>& bytes) {
  if (!range.bounded()) {
    FillFreely(state, tensor.type, bytes);
  } else if (tensor.type == Type::kFloat32) {
    FillReals(state, range, bytes);
  } else {
    FillIntegers(state, tensor, range, bytes);
  }
}

}  // namespace

InputMaker::InputMaker(const nn::Model& model, std::vector<bool> given)
    : given_(std::move(given)), ranges_(RangesOfInputs(model.graph())) {}

void InputMaker::Fill(uint64_t seed, size_t tries, const nn::Model& model, Buffers& buffers) const {
  uint64_t state = seed;
  for (size_t i = 0; i < ranges_.size(); ++i) {
    if (given_[i]) continue;
    Range range{{kTries[tries]}};
    range.Meet(ranges_[i]);
    FillWithin(state, model.input(i), range, buffers.inputs[i]);
  }
}

Status InputMaker::Run(uint64_t seed, nn::Model& model, Buffers& buffers) {
  const bool all_given = std::find(given_.begin(), given_.end(), false) == given_.end();
  if (all_given) return buffers.Run(model);
  Status first;
  for (size_t& tries = tries_[seed]; tries < std::size(kTries); ++tries) {
    if (tries > 0) model.ResetState();  // a failed run may have changed part of the state
    Fill(seed, tries, model, buffers);
    const Status status = buffers.Run(model);
    if (status.ok() || status.code() != StatusCode::kInvalidArgument) return status;
    if (first.ok()) first = status;
  }
  tries_[seed] = 0;
  return {first.code(), first.message() + " (of made-up inputs; give some with --input FILE.npy)"};
}

}  // namespace intaglio::tools
